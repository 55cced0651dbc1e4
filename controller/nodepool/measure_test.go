package nodepool

import (
	"slices"
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
	const usage, limit, errors = "karpenter_nodepools_usage", "karpenter_nodepools_limit", "karpenter_nodepools_cost_tracker_errors_total"
	registry := prometheus.NewRegistry()
	r := &Reconciler{Metrics: observe.NewMetrics(registry, "", "", "", "")}
	gpu := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("4")}
	view := translate.PoolObject{ID: cluster.PoolID{Kind: translate.KindNodePool, Name: "default"}, Limits: gpu}
	series := func(names ...string) (n int) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if slices.Contains(names, f.GetName()) {
				n += len(f.GetMetric())
			}
		}
		return n
	}
	r.measure(view, gpu)
	if n := series(usage, limit); n != 2 {
		t.Errorf("%d series of a pool with a GPU and a limit, want one each", n)
	}
	if n := series(errors); n != 1 {
		t.Errorf("%d series of %s of a pool, want one, for rates to be 0", n, errors)
	}
	view.Limits = nil
	r.measure(view, corev1.ResourceList{})
	if n := series(usage, limit); n != 0 {
		t.Errorf("%d series are left when both are gone", n)
	}
	r.forgetMetrics(view.ID)
	if n := series(errors); n != 0 {
		t.Errorf("%d series of %s are left of a deleted pool", n, errors)
	}
}
