package daemons

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate/podspec"
)

type around struct{}

func (around) Chosen(labels.Selector) (none []string)                          { return none }
func (around) AddVolumes(*cluster.Shape, []podspec.VolumeUse)                  {}
func (around) WaiterChanged(types.NamespacedName)                              {}
func (around) SpreadByDefault() bool                                           { return false }
func (around) Over(string, labels.Set) string                                  { return "" }
func (around) ComesBack(_ owner.ID, now quantity.Resources) quantity.Resources { return now }
func (around) Changed(string)                                                  {}
func (around) Spread(r *podspec.Rules, _ string, _ map[string]string, _ owner.ID) podspec.Rules {
	return *r
}
func (around) DaemonPod(ds *appsv1.DaemonSet) *corev1.Pod { return podspec.DaemonPod(ds, nil, nil) }

func asking(cpu string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}}
}

// The newest pod says better than the template what the next one asks for, until the template is another.
func TestTheNewestPodCounts(t *testing.T) {
	s := shapes.New()
	s.Namespaces, s.Volumes, s.Workloads, s.Pods, s.PDBs, s.Nodes = around{}, around{}, around{}, around{}, around{}, around{}
	table := New(s, around{})
	asks := func() string {
		s.Refresh()
		list := table.List()
		if len(list) != 1 {
			t.Fatalf("listed are %+v, want one DaemonSet", list)
		}
		return list[0].Shape.Requests.String()
	}
	ds := func(cpu string) *appsv1.DaemonSet {
		out := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
		out.Spec.Template.Spec = asking(cpu)
		return out
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent-1", CreationTimestamp: metav1.NewTime(time.Unix(1, 0)),
		OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}}, Spec: asking("2")}
	table.PodSeen(pod)
	if list := table.List(); len(list) != 0 {
		t.Errorf("listed are %+v before a DaemonSet was seen", list)
	}
	table.Seen(ds("1"))
	if got := asks(); got != "cpu=2 pods=1" {
		t.Errorf("it asks for %s, want what the newest pod does", got)
	}
	table.Seen(ds("3"))
	if got := asks(); got != "cpu=3 pods=1" {
		t.Errorf("it asks for %s, want what the other template does", got)
	}
	table.Gone(ds("3"))
	if list := table.List(); len(list) != 0 || s.Has("default") {
		t.Errorf("listed are %+v after it has gone", list)
	}
}
