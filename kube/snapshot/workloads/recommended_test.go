package workloads

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/snapshot/owner"
)

// recommends is a VerticalPodAutoscaler of the Deployment web.
func recommends(name, cpu string, change ...func(*vpav1.Target)) *vpav1.VerticalPodAutoscaler {
	v := &vpav1.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	v.Spec.TargetRef = &vpav1.Target{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	for _, f := range change {
		f(v.Spec.TargetRef)
	}
	v.Status.Recommendation = &vpav1.Recommendation{ContainerRecommendations: []vpav1.ContainerRecommendation{
		{ContainerName: "main", Target: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	return v
}

// ofDeployment is a ReplicaSet of the Deployment web, whose pods ask for a core.
func ofDeployment(name string, replicas int32) *appsv1.ReplicaSet {
	r := replicaSet(replicas, "web")
	r.Name = name
	above := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Controller: new(true)}
	r.OwnerReferences = []metav1.OwnerReference{above}
	asks := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	main := corev1.Container{Name: "main", Resources: corev1.ResourceRequirements{Requests: asks}}
	r.Spec.Template.Spec.Containers = []corev1.Container{main}
	return r
}

// A recommendation for a Deployment is one for the pods of its ReplicaSets, whichever is seen first, until it is gone.
func TestARecommendationIsForThePodsOfItsTarget(t *testing.T) {
	id := func(name string) owner.ID { return owner.ID{Namespace: "default", Kind: "ReplicaSet", Name: name} }
	cpu := func(table *Table, name string) string {
		w, _ := table.Workload(id(name))
		return w.Recommended.CPU.String()
	}
	table := New()
	table.Seen(ofDeployment("web-1", 1))
	changes := table.RecommendationSeen(recommends("web", "3"))
	if len(changes) != 1 || changes[0].ID != id("web-1") || !changes[0].AsksOtherwise() || cpu(table, "web-1") != "3" {
		t.Errorf("changes are %+v, and pods of a ReplicaSet seen before get %s of cpu, want 3", changes, cpu(table, "web-1"))
	}
	if c := table.Seen(ofDeployment("web-2", 1)); c.Now.Recommended.CPU.String() != "3" {
		t.Errorf("of a ReplicaSet seen later, pods get %s of cpu, want 3", c.Now.Recommended.CPU)
	}
	if same := table.RecommendationSeen(recommends("web", "3")); len(same) != 0 {
		t.Errorf("the same recommendation changes %+v", same)
	}
	if table.RecommendationSeen(recommends("more", "4")); cpu(table, "web-1") != "4" {
		t.Errorf("of two recommendations pods get %s of cpu, want the larger, 4", cpu(table, "web-1"))
	}
	table.Seen(ofDeployment("web-1", 0))
	if cpu(table, "web-1") != "0" {
		t.Errorf("a ReplicaSet that wants no pods has them get %s of cpu, want 0", cpu(table, "web-1"))
	}
	table.RecommendationGone(recommends("more", "4"))
	if last := table.RecommendationGone(recommends("web", "3")); len(last) != 1 || cpu(table, "web-2") != "0" {
		t.Errorf("once both are gone, the change is %+v, and pods get %s of cpu, want 0", last, cpu(table, "web-2"))
	}
}

// A recommendation may be for the controller of the pods itself. One for a workload of another kind, group or name
// is for none of them.
func TestARecommendationIsForNoOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*vpav1.Target)
		counts bool
	}{
		"the ReplicaSet itself":              {func(t *vpav1.Target) { t.Kind, t.Name = "ReplicaSet", "web-1" }, true},
		"another version of the group":       {func(t *vpav1.Target) { t.APIVersion = "apps/v1beta2" }, true},
		"a Deployment of another name":       {func(t *vpav1.Target) { t.Name = "db" }, false},
		"a kind of the name in other groups": {func(t *vpav1.Target) { t.APIVersion = "example.com/v1" }, false},
		"a StatefulSet of the name":          {func(t *vpav1.Target) { t.Kind = "StatefulSet" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			table := New()
			table.Seen(ofDeployment("web-1", 1))
			if got := len(table.RecommendationSeen(recommends("web", "3", tt.change))) == 1; got != tt.counts {
				t.Errorf("it counts: %v, want %v", got, tt.counts)
			}
		})
	}
}
