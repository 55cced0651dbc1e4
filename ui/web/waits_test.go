package web

import (
	"testing"
	"time"

	"github.com/daemok/daemok/ui/view"
)

func TestWaitsAreCountedOncePodsHaveANode(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	came := func(name string) view.Came { return view.Came{Namespace: "shop", Name: name, At: at} }
	on := func(after time.Duration, names ...string) []view.Node {
		n := view.Node{Name: "n"}
		for _, name := range names {
			n.Pods = append(n.Pods, view.Pod{Namespace: "shop", Name: name, Started: at.Add(after)})
		}
		return []view.Node{n}
	}
	b := view.Node{Pods: []view.Pod{{Namespace: "shop", Name: "b"}}}
	var w waits
	w.follow(&view.Cluster{At: at, Came: []view.Came{came("a"), came("b"), came("gone")}})
	for _, step := range []struct {
		what string
		c    view.Cluster
		at   time.Duration
		want Point
	}{
		{"one has a node", view.Cluster{Nodes: on(40*time.Second, "a", "never-waited"), Came: []view.Came{came("b")}},
			time.Minute, Point{Placed: 1, Half: 40, Most: 40}},
		{"another has one that has not taken it in", view.Cluster{Nodes: []view.Node{b}},
			2 * time.Minute, Point{Placed: 2, Half: 40, Most: 120}},
		{"nothing happens", view.Cluster{}, 6 * time.Minute, Point{Placed: 2, Half: 40, Most: 120}},
		{"the first is long ago", view.Cluster{}, 7 * time.Minute, Point{Placed: 1, Half: 120, Most: 120}},
		{"all are", view.Cluster{}, 8 * time.Minute, Point{}},
	} {
		now := at.Add(step.at)
		step.c.At = now
		w.follow(&step.c)
		var got Point
		if w.fill(&got, now); got != step.want {
			t.Errorf("%s: got %+v, want %+v", step.what, got, step.want)
		}
	}
}
