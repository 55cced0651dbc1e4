package status

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/store"
)

type silence struct{}

func (silence) Publish(observe.Event) {}

// The status of a policy that allows nothing when it is first seen is one that an
// API server takes, and says that it allows nothing.
func TestTheFirstStatusIsAdmitted(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for name, spec := range map[string]v1alpha1.DisruptionPolicySpec{
		"a breaker":                {Breaker: &v1alpha1.Breaker{Nodes: "50%", Within: "10m"}},
		"no pool":                  {NodePools: &v1alpha1.NodePoolSelection{Names: []string{"nowhere"}}},
		"a zone that nobody knows": {Windows: []v1alpha1.Window{{TimeZone: "Europe/Berlim", Start: "00:00", Duration: "1h"}}},
	} {
		t.Run(name, func(t *testing.T) {
			server := store.New(scheme, time.Now)
			hand := server.Connect(nil)
			for _, o := range []client.Object{&karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{Name: "default"}},
				&v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: spec}} {
				if err := hand.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			clusterState := snapshot.New(func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "nothing is offered" }, time.Now)
			recorder := &Policies{Reporter: Reporter{Live: hand, Store: hand, Events: silence{}, Log: slog.New(slog.DiscardHandler), Now: time.Now}, ClusterState: clusterState,
				Tripped: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tripped"}, []string{"policy"})}
			if _, err := recorder.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			p := &v1alpha1.DisruptionPolicy{}
			if err := hand.Get(t.Context(), client.ObjectKey{Name: "night"}, p); err != nil {
				t.Fatal(err)
			}
			if p.Status.Allowed != 0 || condition.Get(p, v1alpha1.PolicyReady) == nil {
				t.Errorf("the status is %+v", p.Status)
			}
		})
	}
}
