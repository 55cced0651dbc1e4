package planner

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

// TestAWorkloadHearsOfPreferencesThatAreNotFollowed: one of its pods does, where instances
// are launched, and the metric counts all.
func TestAWorkloadHearsOfPreferencesThatAreNotFollowed(t *testing.T) {
	reported, events, _ := recorder()
	registry := prometheus.NewRegistry()
	reported.Metrics = observe.NewMetrics(registry, "", "", "", "")
	dropped := []plan.Dropped{{Preferences: []string{"an even spread over zone", "to be near db"}, Pods: []cluster.Pod{
		{Namespace: "default", Name: "web-1", Owner: "Deployment/web"}, {Namespace: "default", Name: "web-2", Owner: "Deployment/web"}, {Namespace: "default", Name: "alone"},
	}}}
	reported.Explain(&cluster.Snapshot{}, plan.Plan{Dropped: dropped})
	if got := events.since(); got != "" {
		t.Errorf("of a plan that buys nothing: told %q", got)
	}
	reported.Explain(&cluster.Snapshot{}, plan.Plan{Dropped: dropped, Launches: []plan.Launch{{}}})
	one := "PreferencesDropped: Instances are launched without preferences of the pod that would cost more than they are worth: an even spread over zone, to be near db"
	if got, want := events.since(), one+"\n"+one; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	lines, err := scraped.Lines(registry, "daemok_plan_preferences_dropped_pods_total")
	if want := "daemok_plan_preferences_dropped_pods_total 3"; err != nil || len(lines) != 1 || lines[0] != want {
		t.Errorf("error %v; scraped %q, want %q", err, lines, want)
	}
}
