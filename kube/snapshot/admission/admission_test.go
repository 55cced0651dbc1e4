package admission

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The pod of a DaemonSet asks for what limits of its own namespace say, and for what its runtime takes.
func TestPodsGetWhatAdmissionAdds(t *testing.T) {
	table := New()
	limits := func(namespace, cpu string) *corev1.LimitRange {
		return &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}}
	}
	runtime := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}}
	table.LimitRangeSeen(limits("default", "100m"))
	table.LimitRangeSeen(limits("other", "900m"))
	table.RuntimeClassSeen(runtime)
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
	ds.Spec.Template.Spec.RuntimeClassName = &runtime.Name
	pod := table.DaemonPod(ds)
	if asks, over := pod.Spec.Containers[0].Resources.Requests.Cpu(), pod.Spec.Overhead.Cpu(); asks.String() != "100m" || over.String() != "250m" {
		t.Errorf("the pod asks for %s and %s more, want 100m and 250m", asks, over)
	}
	table.LimitRangeGone(limits("default", "100m"))
	table.RuntimeClassGone(runtime)
	if pod := table.DaemonPod(ds); pod != nil && (!pod.Spec.Containers[0].Resources.Requests.Cpu().IsZero() || table.HasRuntimeClass("sandbox")) {
		t.Errorf("the pod is %+v after both are gone", pod.Spec)
	}
}
