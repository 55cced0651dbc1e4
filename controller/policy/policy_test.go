package policy

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/storetest"
	"github.com/daemok/daemok/observe"
)

// admitted is a store whose status writes are looked at as an API server does
// that has the objects as their users wrote them: without a status.
type admitted struct {
	client.Client
	t    *testing.T
	gate *admit.Gate
	has  map[string]any // of the status that was written last
}

func (a *admitted) Status() client.SubResourceWriter { return writer{a.Client.Status(), a} }

type writer struct {
	client.SubResourceWriter
	*admitted
}

func fields(t *testing.T, o any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(o)
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w writer) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	w.admit(fields(w.t, o)["status"])
	return w.SubResourceWriter.Update(ctx, o, options...)
}

func (w writer) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
	data, err := p.Data(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.admit(fields(w.t, json.RawMessage(data))["status"]) // there is nothing that it could be laid over
	return w.SubResourceWriter.Patch(ctx, o, p, options...)
}

func (a *admitted) admit(status any) {
	a.t.Helper()
	asked := map[string]any{"apiVersion": "daemok.sh/v1alpha1", "kind": "DisruptionPolicy", "metadata": map[string]any{"name": "night"}, "spec": map[string]any{}}
	old := runtime.DeepCopyJSON(asked)
	asked["status"] = status
	stored, err := a.gate.Update(runtime.DeepCopyJSON(asked), old)
	if err != nil {
		a.t.Errorf("an API server refuses the status: %v", err)
	}
	a.has, _ = stored["status"].(map[string]any)
}

type silence struct{}

func (silence) Publish(observe.Event) {}

// The status of a policy that allows nothing when it is first seen is one that an
// API server takes, and says that it allows nothing.
func TestTheFirstStatusIsAdmitted(t *testing.T) {
	definitions, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := admit.New(definitions)
	if err != nil {
		t.Fatal(err)
	}
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
			server := storetest.New(scheme, time.Now)
			hand := server.Connect(nil)
			store := &admitted{Client: hand, t: t, gate: gate}
			for _, o := range []client.Object{&karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
				&v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: spec}} {
				if err := hand.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			keeper := snapshot.NewKeeper(func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "nothing is offered" }, time.Now)
			teller := &Teller{Live: hand, Store: store, Keeper: keeper, Events: silence{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
				Tripped: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "tripped"}, []string{"policy"})}
			if _, err := teller.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if store.has["allowed"] != float64(0) && store.has["allowed"] != int64(0) || !strings.Contains(string(mustJSON(t, store.has)), `"type":"Ready"`) {
				t.Errorf("the status is %s", mustJSON(t, store.has))
			}
		})
	}
}

func mustJSON(t *testing.T, o any) []byte {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
