package status

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/observe"
)

type heard []string

func (h *heard) Publish(e observe.Event) { *h = append(*h, e.Key+" "+e.Reason+" "+e.Message) }

func storeWith(add ...func(*runtime.Scheme) error) client.WithWatch {
	s := runtime.NewScheme()
	for _, a := range add {
		_ = a(s)
	}
	b := fake.NewClientBuilder().WithScheme(s)
	if len(add) > 0 {
		b = b.WithObjects(
			&v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "cheaper"}},
			&autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "spare"}})
	}
	return b.Build()
}

func TestWhatDoesNothingYetSaysSo(t *testing.T) {
	notInstalled := interceptor.NewClient(storeWith(v1alpha1.AddToScheme, autoscalingv1beta1.AddToScheme), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*autoscalingv1beta1.CapacityBufferList); is {
				return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "CapacityBuffer"}}
			}
			return c.List(ctx, list, options...)
		},
	})
	tests := map[string]struct {
		live client.Reader
		want []string // beginnings
	}{
		"both kinds":                  {storeWith(v1alpha1.AddToScheme, autoscalingv1beta1.AddToScheme), []string{"NodeOverlay//cheaper NotInEffect spec: a NodeOverlay", "CapacityBuffer/shop/spare NotInEffect spec: a CapacityBuffer"}},
		"a kind that is not there":    {notInstalled, []string{"NodeOverlay//cheaper NotInEffect spec: a NodeOverlay"}},
		"kinds that nobody registers": {storeWith(), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var events heard
			if _, err := (&Ineffective{Reporter{Live: tt.live, Events: &events}, true}).Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(events, tt.want, strings.HasPrefix)
			if !same {
				t.Errorf("told %q, want %q", events, tt.want)
			}
			for _, e := range events {
				if !strings.Contains(e, "docs/status.md") {
					t.Errorf("%q does not say where to read on", e)
				}
			}
		})
	}
}
