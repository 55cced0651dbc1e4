package share_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/share"
)

// world is pods that wait.
type world struct{ cluster.Snapshot }

// add has n pods wait, of a shape each, that keep apart from others of their app and must
// be near those of another, where it is named.
func (w *world) add(namespace, app string, n int, priority int32, near string) {
	for i := range n {
		own := cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(app)})}
		shape := &cluster.Shape{Namespace: namespace, Labels: constraint.Labels{{Key: "app", Value: app}, {Key: "n", Value: fmt.Sprint(i)}}, Priority: priority,
			Neighbours: []cluster.Neighbours{{Apart: true, Key: cluster.LabelHostname, Selector: own, Namespaces: []string{namespace}}}}
		if near != "" {
			other := cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(near)})}
			shape.Neighbours = append(shape.Neighbours, cluster.Neighbours{Key: cluster.LabelZone, Selector: other, Namespaces: []string{namespace}})
		}
		name := fmt.Sprintf("%s-%03d", app, i)
		w.Waiting = append(w.Waiting, cluster.Pod{Namespace: namespace, Name: name, UID: namespace + "/" + name, Shape: shape})
	}
	w.Sort()
}

// plans counts, for each plan until all pods are done, how many pods of each
// app are planned.
func (w *world) plans(effort int64) (out []string) {
	done := map[string]bool{}
	for len(out) < 100 {
		part := share.Next(&w.Snapshot, done, effort)
		counts := map[string]int{}
		for _, p := range part.Snapshot.Waiting {
			done[p.UID] = false
			app, _ := p.Shape.Labels.Get("app")
			counts[app]++
		}
		var words []string
		for app, n := range counts {
			words = append(words, fmt.Sprintf("%s %d", app, n))
		}
		slices.Sort(words)
		out = append(out, strings.Join(words, ", "))
		if part.Rest == 0 {
			return out
		}
	}
	return out
}

func TestPodsArePlannedInTurns(t *testing.T) {
	tests := map[string]struct {
		pods func(*world)
		want string
	}{
		"few pods at once": {func(w *world) { w.add("a", "web", 4, 0, ""); w.add("b", "db", 4, 0, "") }, "db 4, web 4"},
		"a small tenant in the first plan": {func(w *world) { w.add("a", "greedy", 25, 0, ""); w.add("z", "small", 2, 0, "") },
			"greedy 8, small 2; greedy 10; greedy 7"},
		"two large tenants share": {func(w *world) { w.add("a", "one", 10, 0, ""); w.add("b", "two", 10, 0, "") },
			"one 5, two 5; one 5, two 5"},
		"a higher priority first": {func(w *world) { w.add("a", "high", 12, 9, ""); w.add("z", "low", 2, 0, "") },
			"high 10; high 2, low 2"},
		"what must be near each other together": {func(w *world) {
			w.add("a", "base", 6, 0, "")
			w.add("a", "near", 6, 0, "base")
			w.add("z", "small", 1, 0, "")
		},
			"small 1; base 6, near 6"},
		"what is too much for a plan in one of its own": {func(w *world) { w.add("a", "base", 6, 0, ""); w.add("a", "near", 6, 0, "base") },
			"base 6, near 6"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var w world
			tt.pods(&w)
			if got := strings.Join(w.plans(100), "; "); got != tt.want {
				t.Errorf("plans are of %s; want %s", got, tt.want)
			}
		})
	}
}

// Pods with an instance being launched are in every plan, and cost none of its effort: their room
// is taken.
func TestPodsWithAnOrderAreInEveryPlan(t *testing.T) {
	var w world
	w.add("a", "greedy", 15, 0, "")
	w.Instances = []cluster.Instance{{Claim: "c", LaunchedFor: w.Waiting[:3]}}
	if got, want := strings.Join(w.plans(100), "; "), "greedy 13; greedy 5"; got != want {
		t.Errorf("plans are of %s; want %s", got, want)
	}
}

// Pods that an earlier plan placed on nodes that are there are in every plan: else the
// last one would take those nodes for empty.
func TestPodsThatHaveAPlaceAreInEveryPlan(t *testing.T) {
	var w world
	w.add("a", "greedy", 15, 0, "")
	first := share.Next(&w.Snapshot, nil, 100).Snapshot.Waiting
	done := map[string]bool{}
	for i, p := range first {
		done[p.UID] = i == 0 // the first has a place on a node
	}
	second := share.Next(&w.Snapshot, done, 100).Snapshot.Waiting
	for i, p := range first {
		if has := slices.ContainsFunc(second, func(o cluster.Pod) bool { return o.UID == p.UID }); has != (i == 0) {
			t.Errorf("pod %d of the first plan is in the second: %v", i, has)
		}
	}
}
