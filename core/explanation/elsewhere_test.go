package explanation_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/explanation"
	"github.com/daemok/daemok/core/quantity"
)

// Of every other node the first rule that says no is counted, and the nearest are reported with all
// that would have to be different.
func TestElsewhereReportsEveryNode(t *testing.T) {
	web := &cluster.Shape{Namespace: "default", Requests: quantity.Resources{CPU: 500, Memory: quantity.GiB, Pods: 1},
		Ports: []cluster.Port{{Protocol: "TCP", Number: 80}}}
	small := &cluster.Shape{Namespace: "default", Requests: quantity.Resources{CPU: 100, Pods: 1}}
	spread := &cluster.Shape{Namespace: "default", Requests: quantity.Resources{CPU: 3000, Pods: 1}, Spread: []cluster.Spread{{Key: "kubernetes.io/hostname"}}}
	node := func(name string, cpu int64, change func(*cluster.Node)) cluster.Node {
		n := cluster.Node{Name: name, Ready: true, Initialized: true,
			Allocatable: quantity.Resources{CPU: quantity.MilliCPU(cpu), Memory: 8 * quantity.GiB, Pods: 10}}
		if change != nil {
			change(&n)
		}
		return n
	}
	pod := func(name string, shape *cluster.Shape) cluster.Pod {
		return cluster.Pod{Namespace: "default", Name: name, Shape: shape, Returns: true}
	}
	s := &cluster.Snapshot{Nodes: []cluster.Node{
		node("from", 4000, func(n *cluster.Node) {
			n.Pods = []cluster.Pod{pod("a", web), pod("b", small), pod("c", web), pod("d", spread), {Namespace: "default", Name: "daemon", Shape: small, Daemon: true}}
		}),
		node("full", 550, func(n *cluster.Node) { n.Pods = []cluster.Pod{pod("x", small)} }),
		node("fuller", 250, nil),
		node("going", 4000, func(n *cluster.Node) { n.Deleting = true }),
		node("new", 4000, func(n *cluster.Node) { n.Initialized = false }),
		node("taken", 4000, func(n *cluster.Node) { n.Pods = []cluster.Pod{pod("y", web)} }),
		node("taunted", 4000, func(n *cluster.Node) {
			n.Taints = []constraint.Taint{{Key: "dedicated", Value: "gpu", Effect: constraint.NoSchedule}}
		}),
	}}
	e := explanation.NewElsewhere(s)
	if got := e.Looks(0); got != 21 {
		t.Errorf("%d looks, want three shapes on seven nodes", got)
	}
	want := []string{
		"default/a and 1 like it: of 6 other nodes 0 would have one; in the way: cpu on 2, TCP 80 on 1, not ready on 1, on its way out on 1, taint dedicated on 1" +
			"; nearest: node new: it is not ready; node taunted: tolerate dedicated=gpu:NoSchedule; node taken: host port TCP 80 is taken",
		"default/b: of 6 other nodes 3 would have one by itself (full, fuller, taken); in the way: not ready on 1, on its way out on 1, taint dedicated on 1" +
			"; nearest: node new: it is not ready; node taunted: tolerate dedicated=gpu:NoSchedule; node going: it is being deleted",
		"default/d: of 6 other nodes 1 would have one by itself, topology spread and pod affinity aside (taken); in the way: cpu on 2, not ready on 1, on its way out on 1, taint dedicated on 1" +
			"; nearest: node new: it is not ready; node taunted: tolerate dedicated=gpu:NoSchedule; node full: cpu: need 2550m more",
	}
	list := e.Of(0)
	if len(list) != len(want) {
		t.Fatalf("told of %d shapes, want %d", len(list), len(want))
	}
	for i := range list {
		if got := list[i].String(); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}
