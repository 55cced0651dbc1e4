package observe_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/test/scraped"
)

// Users who watched Provisioners with Karpenter 0.27 find its names, with what is counted of
// Provisioners today.
func TestMetricsOfProvisionersHaveTheirOlderNames(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := observe.NewMetrics(registry, "", "", "", "")
	for pool, n := range map[string]float64{"provisioner/old": 1, "new": 10} {
		m.PoolLimit.WithLabelValues("cpu", pool).Set(8 * n)
		m.PoolUsage.WithLabelValues("cpu", pool).Set(2 * n)
		m.PoolUsage.WithLabelValues("nodes", pool).Set(n)
		m.ClaimsCreated.WithLabelValues("provisioned", pool, "false").Add(n)
		m.ClaimsCreated.WithLabelValues("drifted", pool, "true").Add(n)
		m.NodeEndSeconds.WithLabelValues(pool).Observe(30)
		m.Disrupted(observe.Disruption{Reason: "underutilized", Pool: pool, Option: "spot"})
		m.Disrupted(observe.Disruption{Reason: "underutilized", Pool: pool, Option: "on-demand"})
		m.Disrupted(observe.Disruption{Reason: "spot_interrupted", Pool: pool, Option: "spot"})
	}
	m.PlanSeconds.Observe(2)
	m.SearchSeconds.Observe(3)
	m.PodStartSeconds.Observe(40)
	m.Decisions.WithLabelValues("delete", "underutilized", "single").Inc()
	m.Decisions.WithLabelValues("delete", "underutilized", "multi").Inc()
	m.FailedRemovals.WithLabelValues("replace", "drifted", "").Inc()
	m.FailedRemovals.WithLabelValues("delete", "drifted", "").Inc()
	m.MessagesReceived.WithLabelValues("spot_interrupted").Inc()
	m.MessagesReceived.WithLabelValues("instance_stopped").Inc()
	m.MessagesReceived.WithLabelValues("instance_terminated").Inc()
	m.MessagesReceived.WithLabelValues("no_op").Inc()
	m.MessagesDone.Inc()
	m.MessageSeconds.Observe(1)

	var names []string
	for _, d := range observe.Renamed(alias.Legacy()) {
		names = append(names, d.Name)
	}
	got, err := scraped.Lines(&alias.Gatherer{From: registry, Rules: alias.Legacy()}, names...)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"karpenter_allocation_controller_scheduling_duration_seconds 1 in 2s",
		"karpenter_deprovisioning_actions_performed action=delete deprovisioner=consolidation 2",
		"karpenter_deprovisioning_evaluation_duration_seconds 1 in 3s",
		"karpenter_deprovisioning_replacement_machine_launch_failure_counter deprovisioner=drift 1",
		"karpenter_interruption_actions_performed action=CordonAndDrain 2",
		"karpenter_interruption_deleted_messages 1",
		"karpenter_interruption_message_latency_time_seconds 1 in 1s",
		"karpenter_interruption_received_messages actionable=false message_type=NoOpKind 1",
		"karpenter_interruption_received_messages actionable=true message_type=SpotInterruptionKind 1",
		"karpenter_interruption_received_messages actionable=true message_type=StateChangeKind 2",
		"karpenter_nodes_created provisioner=old reason=drift 1",
		"karpenter_nodes_created provisioner=old reason=provisioning 1",
		"karpenter_nodes_terminated provisioner=old reason=consolidation 2",
		"karpenter_nodes_terminated provisioner=old reason=spot_interrupted 1",
		"karpenter_nodes_termination_time_seconds provisioner=old 1 in 30s",
		"karpenter_pods_startup_time_seconds 1 in 40s",
		"karpenter_provisioner_limit provisioner=old resource_type=cpu 8",
		"karpenter_provisioner_scheduling_duration_seconds 1 in 2s",
		"karpenter_provisioner_scheduling_simulation_duration_seconds 1 in 2s",
		"karpenter_provisioner_usage provisioner=old resource_type=cpu 2",
		"karpenter_provisioner_usage provisioner=old resource_type=nodes 1",
		"karpenter_provisioner_usage_pct provisioner=old resource_type=cpu 25",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Older names are used once, and labels are copied between metrics and labels that there are.
func TestOlderNamesAreFree(t *testing.T) {
	taken := map[string]observe.Definition{}
	for _, d := range slices.Concat(served(), observe.Libraries()) {
		taken[d.Name] = d
	}
	for _, d := range observe.Renamed(alias.Legacy()) {
		if _, there := taken[d.Name]; there {
			t.Errorf("%s is another metric's name", d.Name)
		}
	}
	for _, c := range alias.LegacyLabels() {
		labels := taken[c.Metric].LabelNames()
		if !slices.Contains(labels, c.From) || slices.Contains(labels, c.To) {
			t.Errorf("%s has labels %q: %s cannot become %s", c.Metric, labels, c.From, c.To)
		}
	}
}
