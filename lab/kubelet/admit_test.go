package kubelet_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/daemok/daemok/lab/kubelet"
)

func asking(name, cpu string) *corev1.Pod {
	p := pod(name, "n1")
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return p
}

// A kubelet refuses a pod that was bound to its node against its limits, and takes a pod
// again when one that ended left room.
func TestPodsBeyondTheNodeAreRefused(t *testing.T) {
	client := fake.NewClientset(asking("first", "800m"))
	inBubble(t, kubelet.Options{Client: client}, func(h *kubelet.Hub) {
		h.Join(kubelet.Node{Name: "n1", IP: "10.0.0.1", Client: client.CoreV1(), Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("2")}})
		pass(time.Second)
		bind := func(p *corev1.Pod) *corev1.Pod {
			t.Helper()
			if _, err := client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			got, err := client.CoreV1().Pods("default").Get(t.Context(), p.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := bind(asking("big", "300m")); got.Status.Phase != corev1.PodFailed || got.Status.Reason != "OutOfcpu" {
			t.Errorf("big = %s, %s; want it refused for cpu", got.Status.Phase, got.Status.Reason)
		}
		if got := bind(asking("small", "200m")); got.Status.Phase != corev1.PodRunning {
			t.Errorf("small = %s, %s; want it to fit exactly", got.Status.Phase, got.Status.Message)
		}
		if got := bind(asking("third", "0")); got.Status.Reason != "OutOfpods" || !strings.Contains(got.Status.Message, "capacity: 2") {
			t.Errorf("third = %s, %s; want it refused for pods", got.Status.Reason, got.Status.Message)
		}
		markDeleted(t, client, "first", 0)
		pass(time.Second)
		if got := bind(asking("later", "800m")); got.Status.Phase != corev1.PodRunning {
			t.Errorf("later = %s, %s; want the room that first left", got.Status.Phase, got.Status.Message)
		}
	})
}
