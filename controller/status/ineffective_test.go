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
		live       client.Reader
		want       []string // beginnings
		buffersAct bool
	}{
		"both kinds":                  {storeWith(v1alpha1.AddToScheme, autoscalingv1beta1.AddToScheme), []string{"NodeOverlay//cheaper NotInEffect spec: a NodeOverlay", "CapacityBuffer/shop/spare NotInEffect spec: a CapacityBuffer"}, false},
		"CapacityBuffers that act":    {storeWith(v1alpha1.AddToScheme, autoscalingv1beta1.AddToScheme), []string{"NodeOverlay//cheaper NotInEffect spec: a NodeOverlay"}, true},
		"a kind that is not there":    {notInstalled, []string{"NodeOverlay//cheaper NotInEffect spec: a NodeOverlay"}, false},
		"kinds that nobody registers": {storeWith(), nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var events heard
			r := &Ineffective{
				Reporter: Reporter{Live: tt.live, Events: &events}, NoOverlays: true, NoBuffers: !tt.buffersAct,
			}
			if _, err := r.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(events, tt.want, strings.HasPrefix)
			if !same {
				t.Errorf("told %q, want %q", events, tt.want)
			}
			for _, e := range events {
				if !strings.Contains(e, "docs/status.md") && !strings.Contains(e, "FEATURE_GATES") {
					t.Errorf("%q does not say what to do", e)
				}
			}
		})
	}
}
