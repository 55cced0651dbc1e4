package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

func moveOf(reason plan.RemovalReason, pools ...string) plan.Move {
	var m plan.Move
	for i, name := range pools {
		m.Removals = append(m.Removals, plan.Removal{Node: fmt.Sprintf("n-%d", i), Claim: fmt.Sprintf("c-%d", i),
			Pool: cluster.PoolID{Kind: "NodePool", Name: name}, Reason: reason, Note: "so"})
	}
	return m
}

// SC-359: moves are counted by what was decided, why, and how it was found.
func TestMovesAreCounted(t *testing.T) {
	changed := fmt.Errorf("%w: a pod came", apply.ErrChanged)
	tests := map[string]struct {
		ended apply.Ended
		want  string
	}{
		"an empty node": {apply.Ended{Move: moveOf(plan.Empty, "a"), Together: 1, Gone: []bool{true}},
			"decisions_total consolidation_type=empty decision=delete reason=empty 1"},
		"a node that pods leave": {apply.Ended{Move: moveOf(plan.Underutilized, "a"), Together: 1, Gone: []bool{true}},
			"decisions_total consolidation_type=single decision=delete reason=underutilized 1"},
		"one of several": {apply.Ended{Move: moveOf(plan.Underutilized, "a"), Together: 3, Gone: []bool{true}},
			"decisions_total consolidation_type=multi decision=delete reason=underutilized 1"},
		"two for a cheaper one": {apply.Ended{Move: moveOf(plan.Underutilized, "a", "b"), Replaces: true, Together: 2, Gone: []bool{true, true}},
			"decisions_total consolidation_type=multi decision=replace reason=underutilized 1"},
		"a drifted node": {apply.Ended{Move: moveOf(plan.Drifted, "a"), Replaces: true, Together: 1, Gone: []bool{true}},
			"decisions_total decision=replace reason=drifted 1"},
		"one that changed": {apply.Ended{Move: moveOf(plan.Underutilized, "a"), Together: 1, Gone: []bool{false}, Err: changed},
			"failed_validations_total consolidation_type=single 1"},
		"one that was not replaced": {apply.Ended{Move: moveOf(plan.Drifted, "a"), Replaces: true, Together: 1, Gone: []bool{false}, Err: apply.ErrNoReplacement},
			"queue_failures_total decision=replace reason=drifted 1"},
		"one that the process did not live to see": {apply.Ended{Move: moveOf(plan.Drifted, "a"), Together: 1, Gone: []bool{false}, Err: context.Canceled}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reported, _, _ := recorder()
			registry := prometheus.NewRegistry()
			reported.Metrics = observe.NewMetrics(registry, "", "", "", "")
			tt.ended.Claims = make([]*karpv1.NodeClaim, len(tt.ended.Removals))
			tt.ended.Policies = make([]karpv1.ConsolidationPolicy, len(tt.ended.Removals))
			reported.Moved(tt.ended)
			var got []string
			for _, kind := range []string{"decisions_total", "failed_validations_total", "queue_failures_total"} {
				lines, err := scraped.Lines(registry, "karpenter_voluntary_disruption_"+kind)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range lines {
					got = append(got, strings.TrimPrefix(line, "karpenter_voluntary_disruption_"))
				}
			}
			if all := strings.Join(got, ", "); all != tt.want {
				t.Errorf("counted %q, want %q", all, tt.want)
			}
		})
	}
}

// Claims that go are counted with what they were and how their pods leave, and so are these pods.
func TestClaimsThatGoAreCounted(t *testing.T) {
	reported, _, _ := recorder()
	registry := prometheus.NewRegistry()
	reported.Metrics = observe.NewMetrics(registry, "", "", "", "")
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{api.LabelCapacityType: "spot"}}}
	c.Spec.TerminationGracePeriod = "1h"
	reported.Metrics.PodsOn = func(node string) int { return map[string]int{"n-0": 3}[node] }
	reported.Moved(apply.Ended{Move: moveOf(plan.Underutilized, "a"), Gone: []bool{true}, Claims: []*karpv1.NodeClaim{c}, Policies: []karpv1.ConsolidationPolicy{"Balanced"}})
	lines, err := scraped.Lines(registry, "karpenter_nodeclaims_disrupted_total", "karpenter_pods_disruption_initiated_total", "karpenter_consolidation_moves_total")
	if err != nil {
		t.Fatal(err)
	}
	const labels = " capacity_type=spot consolidation_policy=Balanced nodepool=a reason=underutilized termination_mode=eventual "
	want := "karpenter_consolidation_moves_total decision=delete nodepool=a policy=Balanced 1, karpenter_nodeclaims_disrupted_total" + labels + "1, karpenter_pods_disruption_initiated_total" + labels + "3"
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("counted %q, want %q", got, want)
	}
	families, err := registry.Gather()
	if err != nil || !slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "karpenter_consolidation_score" }) {
		t.Errorf("karpenter_consolidation_score has no series (%v), want an empty one", err)
	}
}

// Events report replacements, nodes that are disrupted, and what blocks disruption.
func TestMovesAreReported(t *testing.T) {
	reported, events, lines := recorder()
	m := moveOf(plan.Drifted, "a")
	reported.Replacing(m, apply.Launched{Claim: &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c-new"}}})
	reported.Moved(apply.Ended{Move: m, Replaces: true, Together: 1, Gone: []bool{true}, Claims: []*karpv1.NodeClaim{nil}, Policies: []karpv1.ConsolidationPolicy{""}})
	want := "DisruptionLaunching: Launching NodeClaim: Drifted: in place of n-0\n" +
		"DisruptionWaitingReadiness: Waiting on readiness to continue disruption\n" +
		"DisruptionTerminating: Disrupting NodeClaim: Drifted: so"
	if got := events.since(); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	reported.Stuck(m, errors.New("etcd is away"))
	reported.Moved(apply.Ended{Move: m, Gone: []bool{false}, Err: fmt.Errorf("%w: etcd is away", apply.ErrUnread)})
	want = "DisruptionBlocked: Nothing is disrupted while the live state cannot be read: etcd is away\n" +
		"DisruptionBlocked: Cannot disrupt NodeClaim: Drifted: the live state could not be read: etcd is away"
	if got := events.since(); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	reported.Moved(apply.Ended{Move: m, Gone: []bool{false}, Err: apply.ErrChanged})
	if got := events.since(); got != "" || !strings.Contains(lines.String(), "did not disrupt a node: the cluster has changed since the plan") {
		t.Errorf("of what has merely changed it told %q and logged %q", got, lines)
	}
}
