package usage_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/usage"
)

// server answers as metrics-server does.
type server struct {
	client.Reader
	fails error
}

func used(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}
}

func (s server) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	switch list := into.(type) {
	case *metrics.NodeMetricsList:
		list.Items = []metrics.NodeMetrics{{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Usage: used("1500m", "2Gi")}}
	case *metrics.PodMetricsList:
		list.Items = []metrics.PodMetrics{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"},
			Containers: []metrics.ContainerMetrics{{Usage: used("100m", "64Mi")}, {Usage: used("50m", "64Mi")}},
		}}
	}
	return s.fails
}

func TestNodesAndPodsUseWhatTheirContainersDo(t *testing.T) {
	m := usage.Meter{Live: server{}, Who: "you"}
	nodes, why, err := m.Nodes(t.Context())
	if got := nodes["a"]; err != nil || why != "" || got.CPU != 1500 || got.Memory != 2*quantity.GiB {
		t.Errorf("got %v %q %v", nodes, why, err)
	}
	pods, why, err := m.Pods(t.Context(), "")
	want := cost.Used{CPU: 150, Memory: 128 * quantity.MiB, Samples: 1}
	if got := pods[cost.PodID{Namespace: "shop", Name: "web-1"}]; err != nil || why != "" || got != want {
		t.Errorf("got %v %q %v, want %v", pods, why, err, want)
	}
}

func TestWhyUsageIsNotKnown(t *testing.T) {
	of := schema.GroupResource{Group: "metrics.k8s.io", Resource: "pods"}
	for want, fails := range map[string]error{
		"no metrics-server":           &meta.NoKindMatchError{},
		"does not answer":             apierrors.NewServiceUnavailable("no endpoints"),
		"the controller may not list": apierrors.NewForbidden(of, "", nil),
	} {
		pods, why, err := usage.Meter{Live: server{fails: fails}, Who: "the controller"}.Pods(t.Context(), "")
		if pods != nil || err != nil || !strings.Contains(why, want) {
			t.Errorf("got %v %q %v, want a reason with %q", pods, why, err, want)
		}
	}
}
