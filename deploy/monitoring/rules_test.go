package monitoring

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// Every story is recorded series, from a minute to the next, and what fires in the end.
func TestAlertsFire(t *testing.T) {
	const leads = "daemok_leader 1x2000\n"
	tests := map[string]struct {
		series string
		after  time.Duration
		want   []string // alerts, with the labels that say what they are about
	}{
		"all is well": {leads + `daemok_pods_waiting_longest_seconds{reason="limit"} 0x30
daemok_pods_waiting_longest_seconds{reason="outside"} 4000x30
daemok_interruption_queue_readable 1x30
daemok_disruption_breaker_tripped{policy="p"} 0x30
daemok_orphans_held 0x30
daemok_clock_ahead_seconds -3x30
karpenter_cluster_state_unsynced_time_seconds 0x30
karpenter_cloudprovider_errors_total{method="Create",error="InsufficientCapacityError"} 0+1x30
karpenter_cloudprovider_errors_total{method="List",error=""} 0+1x30
operator_status_condition_count{kind="NodePool",name="web",type="Ready",status="True",reason="Ready"} 1x30
operator_status_condition_count{kind="Node",name="n",type="Ready",status="False",reason="KubeletNotReady"} 1x30`, 20 * time.Minute, nil},
		"a pod waits":                   {leads + `daemok_pods_waiting_longest_seconds{reason="limit"} 0+60x30`, 8 * time.Minute, []string{"DaemokPodsWaiting reason=limit"}},
		"a pod waits, and not for long": {leads + `daemok_pods_waiting_longest_seconds{reason="limit"} 0+60x30`, 4 * time.Minute, nil},
		"a pool is not ready": {leads + `operator_status_condition_count{kind="NodePool",name="web",type="Ready",status="False",reason="ClassNotReady"} 1x30`,
			11 * time.Minute, []string{"DaemokPoolNotReady name=web"}},
		"a pool is new": {leads + `operator_status_condition_count{kind="NodePool",name="web",type="Ready",status="Unknown",reason="ClassNotReady"} 1x30`, 5 * time.Minute, nil},
		"a class is not ready": {leads + `operator_status_condition_count{kind="AWSNodeTemplate",name="old",type="Ready",status="Unknown",reason="SubnetsNotFound"} 1x30`,
			11 * time.Minute, []string{"DaemokClassNotReady name=old"}},
		"launches fail":                  {leads + `karpenter_cloudprovider_errors_total{method="Create",error="CreateError"} 0+1x30`, 15 * time.Minute, []string{"DaemokLaunchesFail error=CreateError"}},
		"one launch failed, an hour ago": {leads + `karpenter_cloudprovider_errors_total{method="Create",error="CreateError"} 0 1x90`, 80 * time.Minute, nil},
		"the breaker has tripped":        {leads + `daemok_disruption_breaker_tripped{policy="p"} 1x30`, time.Minute, []string{"DaemokBreakerTripped policy=p"}},
		"the queue cannot be read":       {leads + `daemok_interruption_queue_readable 0x30`, 6 * time.Minute, []string{"DaemokInterruptionQueueUnreadable"}},
		"nobody leads":                   {"daemok_leader{instance=\"a\"} 0x30\ndaemok_leader{instance=\"b\"} 0x30", 3 * time.Minute, []string{"DaemokNobodyLeads"}},
		"nobody is there":                {"up 1x30", 3 * time.Minute, []string{"DaemokNobodyLeads"}},
		"one of two leads":               {"daemok_leader{instance=\"a\"} 0x30\ndaemok_leader{instance=\"b\"} 1x30", 10 * time.Minute, nil},
		"the leader does not know the cluster": {"daemok_leader{instance=\"a\"} 1x30\n" + `karpenter_cluster_state_unsynced_time_seconds{instance="a"} 0+60x30`,
			12 * time.Minute, []string{"DaemokStateIncomplete"}},
		"one on standby has not looked": {"daemok_leader{instance=\"a\"} 1x30\ndaemok_leader{instance=\"b\"} 0x30\n" + `karpenter_cluster_state_unsynced_time_seconds{instance="b"} 0+60x30`,
			12 * time.Minute, nil},
		"a reservation is idle":            {leads + `daemok_capacity_reservations_idle_instances{capacity_reservation_id="cr-1"} 2x500`, 365 * time.Minute, []string{"DaemokReservationIdle capacity_reservation_id=cr-1"}},
		"a reservation was used meanwhile": {leads + `daemok_capacity_reservations_idle_instances{capacity_reservation_id="cr-1"} 2x200 0x5 2x300`, 365 * time.Minute, nil},
		"definitions are older":            {leads + `daemok_definition_unknown_fields{definition="nodepools.karpenter.sh"} 2x60`, 20 * time.Minute, []string{"DaemokDefinitionsOutdated definition=nodepools.karpenter.sh"}},
		"definitions are of this version":  {leads + `daemok_definition_unknown_fields{definition="nodepools.karpenter.sh"} 0x60`, 20 * time.Minute, nil},
		"nodes of another version stay":    {leads + `daemok_nodeclass_changed_launch_template_nodes{nodeclass="web"} 7x90`, 65 * time.Minute, []string{"DaemokLaunchTemplateChanged nodeclass=web"}},
		"orphans are held":                 {leads + `daemok_orphans_held 12x30`, 6 * time.Minute, []string{"DaemokOrphansHeld"}},
		"another release leads too":        {leads + `daemok_other_controllers 1x60`, 16 * time.Minute, []string{"DaemokSecondController"}},
		"another release led for a moment": {leads + `daemok_other_controllers 1x5 0x60`, 16 * time.Minute, nil},
		"the clock is behind":              {leads + `daemok_clock_ahead_seconds -300x30`, 6 * time.Minute, []string{"DaemokClockDiffers"}},
		"disruption is blocked all day": {leads + blocked("3x1600") + disrupted("5x1600"), 1460 * time.Minute,
			[]string{"DaemokDisruptionBlocked nodepool=web"}},
		"disruption is blocked by one thing, then another": {leads + blocked("3x700 _x900") + strings.ReplaceAll(blocked("stale _x699 3x900"), "rule", "budget"), 1460 * time.Minute,
			[]string{"DaemokDisruptionBlocked nodepool=web"}},
		"disruption has been blocked for an hour":         {leads + blocked("0x1400 3x200"), 1460 * time.Minute, nil},
		"one node after another goes, as budgets allow":   {leads + blocked("3x1600") + disrupted("5x800 6x800"), 1460 * time.Minute, nil},
		"disruption was blocked, and is so no more":       {leads + blocked("3x1450 0x100"), 1460 * time.Minute, nil},
		"nodes of another pool go":                        {leads + blocked("3x1600") + strings.ReplaceAll(disrupted("0+1x1600"), "web", "db"), 1460 * time.Minute, []string{"DaemokDisruptionBlocked nodepool=web"}},
		"a controller begins while disruption is blocked": {leads + blocked("stale _x1439 3x100"), 1460 * time.Minute, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := firing(t, tt.series, tt.after)
			if !slices.Equal(got, tt.want) {
				t.Errorf("firing %q, want %q", got, tt.want)
			}
		})
	}
}

// blocked is a series that begins at 0, stale if need be: one that begins later and is loaded first
// sets the storage's earliest time, and series are loaded in no order.
func blocked(values string) string {
	return `daemok_disruption_blocked_nodes{nodepool="web",reason="drifted",by="rule"} ` + values + "\n"
}

func disrupted(values string) string {
	return `karpenter_voluntary_disruption_decisions_by_nodepool_total{nodepool="web",reason="drifted",decision="replace"} ` + values + "\n"
}

// about are the labels that distinguish alerts of the same sort.
var about = []string{"name", "error", "policy", "capacity_reservation_id", "nodepool", "nodeclass", "definition", "reason"}

// firing has Prometheus evaluate the committed rules, and returns what fires after so long.
func firing(t *testing.T, series string, after time.Duration) []string {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(strings.TrimSpace(series), "\n", "\n  "))
	t.Cleanup(func() { _ = storage.Close() })
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000_000)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(engine, storage), NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Context: t.Context(), AppendableV2: storage, Queryable: storage, Parser: parser.NewParser(parser.Options{}),
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, "alerts.yaml")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []string
	for _, g := range groups {
		every := time.Minute
		if after > time.Hour {
			every = 5 * time.Minute
		}
		for at := time.Duration(0); at <= after; at += every {
			g.Eval(t.Context(), time.Unix(0, 0).Add(at))
		}
		for _, r := range g.Rules() {
			if r.LastError() != nil {
				t.Errorf("%s: %v", r.Name(), r.LastError())
			}
			alerting, ok := r.(*rules.AlertingRule)
			if !ok {
				continue
			}
			for _, a := range alerting.ActiveAlerts() {
				if a.State == rules.StateFiring {
					out = append(out, called(r.Name(), a.Labels))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func called(alert string, l labels.Labels) string {
	for _, name := range about {
		if value := l.Get(name); value != "" {
			return alert + " " + name + "=" + value
		}
	}
	return alert
}
