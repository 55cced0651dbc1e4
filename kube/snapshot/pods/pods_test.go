package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate/podspec"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// around is what other tables would say: nothing, but that one node is to go.
type around struct{ leaves string }

func (around) Workload(owner.ID) (w owner.Workload, known bool)                 { return w, false }
func (around) Services(string, map[string]string) (none []types.NamespacedName) { return none }
func (around) Selects(types.NamespacedName, map[string]string) bool             { return false }
func (around) Changed(string)                                                   {}
func (around) PodEvent(string, time.Time)                                       {}
func (a around) Leaves(name string) bool                                        { return name == a.leaves }
func (around) IsReady(string) bool                                              { return true }
func (around) MadeFor(string) bool                                              { return false }
func (around) Named(string, string) (none *cluster.PodDisruptionBudget)         { return none }
func (around) Chosen(labels.Selector) (none []string)                           { return none }
func (around) AddVolumes(*cluster.Shape, []podspec.VolumeUse)                   {}
func (around) WaiterChanged(types.NamespacedName)                               {}
func (around) SpreadByDefault() bool                                            { return false }
func (around) Over(string, labels.Set) string                                   { return "" }
func (around) Spread(r *podspec.Rules, _ string, _ map[string]string, _ owner.ID) podspec.Rules {
	return *r
}

func newTable(a around) *Table {
	s := shapes.New()
	t := New(Parts{Shapes: s, Workloads: a, Nodes: a, Claims: a, PDBs: a})
	s.Namespaces, s.Volumes, s.Workloads, s.Pods, s.PDBs, s.Nodes = a, a, a, t, a, t
	return t
}

func pod(name, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)}, Spec: corev1.PodSpec{NodeName: node}}
	for _, with := range change {
		with(p)
	}
	return p
}

func see(t *Table, p *corev1.Pod) change.Effect { return t.Seen(p, Read(p, now, false), now, false) }

// A pod that comes up is shown, and no plan is made for its sake; one that is bound or new is a reason for a plan.
func TestPodsThatComeUpAreNoReasonForAPlan(t *testing.T) {
	table := newTable(around{})
	up := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	for _, tt := range []struct {
		what string
		pod  *corev1.Pod
		want change.Effect
	}{
		{"new", pod("p", ""), change.Planned},
		{"the same", pod("p", ""), change.None},
		{"bound", pod("p", "n"), change.Planned},
		{"ready", pod("p", "n", up), change.Shown},
	} {
		if got := see(table, tt.pod); got != tt.want {
			t.Errorf("%s: the effect is %d, want %d", tt.what, got, tt.want)
		}
	}
}

// The pods of a node are the very same list while nothing changes.
func TestTheListOfANodeIsShared(t *testing.T) {
	table := newTable(around{})
	see(table, pod("b", "n"))
	see(table, pod("a", "n"))
	table.Shapes.Refresh()
	before, _ := table.On("n", false, now)
	again, _ := table.On("n", false, now)
	if len(before) != 2 || before[0].Name != "a" || &before[0] != &again[0] {
		t.Errorf("the pods are %+v and then %+v, want one list by name", before, again)
	}
	table.Gone(types.NamespacedName{Namespace: "default", Name: "a"}, now)
	if after, _ := table.On("n", false, now); len(after) != 1 || len(before) != 2 {
		t.Errorf("the pods are %+v after one has gone", after)
	}
	table.Gone(types.NamespacedName{Namespace: "default", Name: "b"}, now)
	for node := range table.NodesWithPods() {
		t.Errorf("node %s has pods that are gone", node)
	}
}

// What was evicted is forgotten once nothing has come in its place for long.
func TestEvictionsAreForgotten(t *testing.T) {
	table, yes := newTable(around{leaves: "closed"}), true
	owned := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	see(table, pod("web-1", "closed", owned))
	see(table, pod("web-2", "open", owned))
	table.Gone(types.NamespacedName{Namespace: "default", Name: "web-1"}, now)
	table.Gone(types.NamespacedName{Namespace: "default", Name: "web-2"}, now)
	if n := len(table.evictions); n != 1 {
		t.Errorf("%d owners have evicted pods, want the one whose node was to go", n)
	}
	if table.ForgetEvictions(now.Add(24 * time.Hour)); len(table.evictions) != 0 {
		t.Errorf("after a day there is left %v", table.evictions)
	}
}
