package planner

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// scraping has a recorder measure into a registry of its own.
func scraping(t *testing.T) (reported *Recorder, scrape func(names ...string) string) {
	t.Helper()
	reported, _, _ = recorder()
	registry := prometheus.NewPedanticRegistry()
	reported.Metrics = observe.NewMetrics(registry, "", "", "", "")
	return reported, func(names ...string) string {
		t.Helper()
		lines, err := scraped.Lines(registry, names...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, ", ")
	}
}

func inZones(zones ...string) []constraint.Requirements {
	var out []constraint.Requirements
	for _, zone := range zones {
		out = append(out, constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(strings.Fields(zone)...)}))
	}
	return out
}

// Pods count under the zone that they, or their volumes, are tied to.
func TestPodsThatWaitAreCountedByZone(t *testing.T) {
	reported, scrape := scraping(t)
	tied, volume := &cluster.Shape{NodeTerms: inZones("a", "a")}, &cluster.Shape{VolumeTerms: inZones("b")}
	s := &cluster.Snapshot{}
	for _, shape := range []*cluster.Shape{tied, tied, volume, {}, {NodeTerms: inZones("a", "b")}, {NodeTerms: inZones("a b")}} {
		s.Waiting = append(s.Waiting, cluster.Pod{Shape: shape})
	}
	reported.Planned(s, plan.Plan{}, time.Second)
	const name = "karpenter_scheduler_pending_pods_by_effective_zone_count controller=provisioner "
	if got, want := scrape(strings.Fields(name)[0]), name+"3, "+name+"zone=a 2, "+name+"zone=b 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	reported.Planned(&cluster.Snapshot{}, plan.Plan{}, time.Second)
	if got := scrape(strings.Fields(name)[0]); got != "" {
		t.Errorf("once none waits: %s", got)
	}
}

// Pods that nothing can be launched for are ignored, and not counted as lacking a place.
func TestIgnoredPodsAreCountedApart(t *testing.T) {
	reported, scrape := scraping(t)
	reported.Planned(&cluster.Snapshot{}, plan.Plan{Unplaced: []plan.Unplaced{
		{Pods: []cluster.Pod{web, web}, Reasons: []plan.Reason{{Text: "limit"}}},
		{Pods: []cluster.Pod{web}, Shape: &cluster.Shape{Unable: "its volume claim is missing"}, Reasons: []plan.Reason{{Text: "its volume claim is missing"}}},
		{Pods: []cluster.Pod{web}, Reasons: []plan.Reason{{Text: plan.Outside}}},
	}}, time.Second)
	want := "karpenter_scheduler_ignored_pods_count 2, karpenter_scheduler_unschedulable_pods_count controller=provisioner 2"
	if got := scrape("karpenter_scheduler_ignored_pods_count", "karpenter_scheduler_unschedulable_pods_count"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Nodes that should go and are held up are counted by what holds them, while what is found
// holds: plans that checked no node with pods say nothing of that.
func TestNodesThatAreHeldUpAreCounted(t *testing.T) {
	reported, scrape := scraping(t)
	pool := cluster.PoolID{Kind: "NodePool", Name: "web"}
	s := &cluster.Snapshot{}
	for _, name := range []string{"n1", "n2", "n3", "n4", "n5", "n6"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Pool: pool})
	}
	kept := plan.Plan{Asked: true, Kept: []plan.Kept{
		{Node: "n1", Reason: plan.Drifted, By: plan.KeptByRule}, {Node: "n2", Reason: plan.Drifted, By: plan.KeptByRule},
		{Node: "n3", Reason: plan.Expired, By: plan.KeptByFinding}, {Node: "n4", Reason: plan.Underutilized, By: plan.KeptByFinding},
		{Node: "n5", Reason: plan.Drifted, By: plan.KeptByTime}, {Node: "n6", Reason: plan.Empty, By: plan.KeptByBudget},
	}}
	const name = "daemok_disruption_blocked_nodes"
	want := name + " by=budget nodepool=web reason=empty 1, " + name + " by=finding nodepool=web reason=expired 1, " + name + " by=rule nodepool=web reason=drifted 2"
	reported.Explain(s, kept)
	reported.Explain(s, plan.Plan{})
	if got := scrape(name); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	reported.Explain(s, plan.Plan{Asked: true})
	if got := scrape(name); got != "" {
		t.Errorf("once nothing is held up: %s", got)
	}
}
