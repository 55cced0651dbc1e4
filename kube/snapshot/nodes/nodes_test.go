package nodes

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

func node(name string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, c := range change {
		c(n)
	}
	return n
}

func disrupted(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
}

func TestAHeartbeatIsNoChange(t *testing.T) {
	table := New()
	beat := func(n *corev1.Node) { n.ResourceVersion = "2" }
	if !table.Seen(node("n")) || table.Seen(node("n", beat)) || !table.Seen(node("n", disrupted)) {
		t.Error("want a change where a node is new and where it says something else, and none for a heartbeat")
	}
}

// A node that was to go is known to have gone; one that was to stay is not.
func TestNodesThatWereToGoAreKnownToHaveGone(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	table := New()
	table.Seen(node("goes", disrupted))
	table.Seen(node("stays"))
	table.Gone("goes", now)
	table.Gone("stays", now)
	if !table.Leaves("goes") || table.Leaves("stays") || len(table.Went()) != 1 {
		t.Errorf("gone are %v, want the one that was to go", table.Went())
	}
	if table.Missed("late", now); !table.Leaves("late") {
		t.Error("a node that pods are on and that is not there has not gone")
	}
	if table.Seen(node("goes")); table.Leaves("goes") {
		t.Error("a node that is back leaves")
	}
}

// What is shown of a node is worked out again where it may have changed, and not otherwise.
func TestAViewIsKept(t *testing.T) {
	table, looks := New(), 0
	table.Seen(node("b"))
	table.Seen(node("a"))
	look := func() {
		for _, v := range table.Views() {
			v.Look(Basis{Node: v.Node, Round: table.Rounds().All}, func() cluster.Node { looks++; return cluster.Node{Name: v.Node.Name} })
		}
	}
	for _, tt := range []struct {
		what   string
		change func()
		want   int
	}{
		{"both are new", func() {}, 2},
		{"nothing changes", func() {}, 0},
		{"the pods of one change", func() { table.Changed("a") }, 1},
		{"one is another object", func() { table.Seen(node("b", disrupted)) }, 1},
		{"prices change", table.AllChanged, 2},
	} {
		looks = 0
		tt.change()
		if look(); looks != tt.want {
			t.Errorf("%s: %d nodes are looked at, want %d", tt.what, looks, tt.want)
		}
	}
	if v := table.Views(); v[0].Node.Name != "a" || v[1].Node.Name != "b" {
		t.Error("the nodes are not sorted by name")
	}
}
