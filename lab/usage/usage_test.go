package usage_test

import (
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned"

	"github.com/daemok/daemok/lab/usage"
)

func running(name, node, app string, annotations map[string]string, requests ...string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"app": app}, Annotations: annotations},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, cpu := range requests {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "c" + cpu, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("100Mi")}}})
	}
	return p
}

type pods []*corev1.Pod

func (p pods) Pods() []*corev1.Pod { return p }
func (p pods) PodsOn(node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range p {
		if pod.Spec.NodeName == node {
			out = append(out, pod)
		}
	}
	return out
}

func ready(name string, status corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Capacity:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("4Gi")},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}}}
}

// client is the one that the autoscaling controller uses, over the wire.
func client(t *testing.T) metricsclient.Interface {
	pending := running("new", "n1", "web", nil, "1")
	pending.Status.Phase = corev1.PodPending
	all := pods{
		pending,
		running("web-1", "n1", "web", nil, "500m", "100m"),
		running("web-2", "n1", "web", map[string]string{usage.CPUUsage: "300m", usage.MemoryUsage: "64Mi"}, "1"),
		running("db", "n2", "db", nil, "2"),
	}
	nodes := func() []*corev1.Node {
		return []*corev1.Node{ready("n2", "True"), ready("n1", "True"), ready("n3", "Unknown")}
	}
	server := httptest.NewServer(usage.Handler(all, nodes, time.Now))
	t.Cleanup(server.Close)
	c, err := metricsclient.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPods(t *testing.T) {
	c := client(t).MetricsV1beta1().PodMetricses("shop")
	list, err := c.List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("List = %+v, %v; want the two web pods that run", list, err)
	}
	first := list.Items[0].Containers
	if first[0].Usage.Cpu().String() != "400m" || first[1].Usage.Cpu().String() != "80m" {
		t.Errorf("usage without annotation = %v, want 80 %% of each container's request", first)
	}
	second, err := c.Get(t.Context(), "web-2", metav1.GetOptions{})
	if err != nil || second.Containers[0].Usage.Cpu().String() != "300m" || second.Containers[0].Usage.Memory().String() != "64Mi" {
		t.Errorf("Get(web-2) = %+v, %v; want what its annotations say", second, err)
	}
	if _, err := c.Get(t.Context(), "new", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a pod that does not run = %v, want not found", err)
	}
	if _, err := c.List(t.Context(), metav1.ListOptions{LabelSelector: "a in ("}); !apierrors.IsBadRequest(err) {
		t.Errorf("List with a broken selector = %v, want bad request", err)
	}
}

func TestNodes(t *testing.T) {
	c := client(t).MetricsV1beta1().NodeMetricses()
	list, err := c.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 || list.Items[0].Name != "n1" {
		t.Fatalf("List = %+v, %v; want the two ready nodes by name", list, err)
	}
	if got := list.Items[0].Usage.Cpu().String(); got != "830m" {
		t.Errorf("usage of n1 = %s, want 830m: its own and two pods'", got)
	}
	if got := list.Items[1].Usage.Cpu().String(); got != "1" {
		t.Errorf("usage of n2 = %s, want no more than the node has", got)
	}
	if _, err := c.Get(t.Context(), "n3", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a node that is not ready = %v, want not found", err)
	}
}

// The API server finds the API by discovery.
func TestDiscovery(t *testing.T) {
	d := client(t).Discovery()
	groups, resources, err := d.ServerGroupsAndResources()
	if err != nil || len(groups) != 1 || len(resources) != 1 || len(resources[0].APIResources) != 2 {
		t.Errorf("discovery = %v, %v, %v; want one group of two resources", groups, resources, err)
	}
}
