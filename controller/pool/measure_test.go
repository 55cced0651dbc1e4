package pool

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// TestGaugesOfWhatIsGoneGo: a pool that has given its last GPU back owns none,
// and a limit that was taken away is none.
func TestGaugesOfWhatIsGoneGo(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := &Reconciler{Metrics: observe.NewMetrics(registry, "", "", "", "")}
	gpu := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")}
	view := translate.PoolObject{ID: cluster.PoolID{Kind: translate.KindNodePool, Name: "default"}, Limits: gpu}
	series := func() (n int) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if name := f.GetName(); name == "karpenter_nodepools_usage" || name == "karpenter_nodepools_limit" {
				n += len(f.GetMetric())
			}
		}
		return n
	}
	r.measure(view, gpu)
	if n := series(); n != 2 {
		t.Errorf("%d series of a pool with a GPU and a limit, want one each", n)
	}
	view.Limits = nil
	r.measure(view, corev1.ResourceList{})
	if n := series(); n != 0 {
		t.Errorf("%d series are left when both are gone", n)
	}
}
