package shapes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// around is what other tables would say: nothing. It counts the nodes that are looked at again.
type around struct{ changed int }

func (*around) Chosen(labels.Selector) (none []string)                          { return none }
func (*around) AddVolumes(*cluster.Shape, []podspec.VolumeUse)                  {}
func (*around) WaiterChanged(types.NamespacedName)                              {}
func (*around) SpreadByDefault() bool                                           { return false }
func (*around) Over(string, labels.Set) string                                  { return "" }
func (*around) ComesBack(_ owner.ID, now quantity.Resources) quantity.Resources { return now }
func (a *around) Changed(string)                                                { a.changed++ }
func (*around) Spread(r *podspec.Rules, _ string, _ map[string]string, _ owner.ID) podspec.Rules {
	return *r
}

func newTable() (*Table, *around) {
	t, a := New(), &around{}
	t.Namespaces, t.Volumes, t.Workloads, t.Pods, t.PDBs, t.Nodes = a, a, a, a, a, a
	return t, a
}

func pod(app string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": app}}, Spec: corev1.PodSpec{NodeName: "n"}}
	for _, with := range change {
		with(p)
	}
	return p
}

// spread has a rule that reads the label app.
func spread(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
}

// Pods whose labels no rule reads share a shape; once one reads them they do not, and what is gone is forgotten.
func TestPodsShareShapes(t *testing.T) {
	table, a := newTable()
	web, db := table.Describe(nil, pod("web")), table.Describe(nil, pod("db"))
	table.Refresh()
	if web.Shape() != db.Shape() {
		t.Error("pods that differ in a label that no rule reads have two shapes")
	}
	table.Refresh()
	if a.changed != 2 {
		t.Errorf("%d nodes are looked at again, want one for each new pod", a.changed)
	}
	reader := table.Describe(nil, pod("web", spread))
	table.Refresh()
	if web.Shape() == db.Shape() || len(web.Shape().Labels) != 1 {
		t.Errorf("the shapes are %+v and %+v, want them to differ in the label that is read", web.Shape(), db.Shape())
	}
	table.Forget(reader)
	table.Refresh()
	if web.Shape() != db.Shape() {
		t.Error("a label that no rule reads any more makes two shapes")
	}
	table.Forget(web)
	table.Forget(db)
	if n := len(table.shapes.byKey) + len(table.rules.byKey) + len(table.entries.in) + len(table.entries.stale) + len(table.rules.readers); n != 0 {
		t.Errorf("%d shapes and rules are kept of what is gone", n)
	}
}
