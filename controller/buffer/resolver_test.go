package buffer

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/snapshot/buffers"
)

// recorded is what a Resolver says of buffers.
type recorded struct{ lists [][]buffer.Resolved }

func (t *recorded) Are(list []buffer.Resolved) { t.lists = append(t.lists, list) }
func (*recorded) States() []buffers.State      { return nil }

// As long as one buffer could not be read nothing is said of any: a plan that knows of some alone would remove the nodes
// of the others. Once all are known, one that cannot be read again stays as it was.
func TestNothingIsSaidBeforeAllBuffersAreKnown(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	away := true
	gets := func(
		ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption,
	) error {
		if away && key.Name == "second" {
			return errors.New("the API server is away")
		}
		return c.Get(ctx, key, o, opts...)
	}
	template := func(name string) *corev1.PodTemplate {
		return &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(template("first"), template("second")).
		WithInterceptorFuncs(interceptor.Funcs{Get: gets}).Build()
	known := &recorded{}
	r := New(Parts{Live: live, Known: known, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	r.watches.followed[reflect.TypeFor[*v1beta1.CapacityBuffer]()] = true
	r.watches.followed[reflect.TypeFor[*corev1.PodTemplate]()] = true
	for _, name := range []string{"first", "second"} {
		b := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		b.Spec.PodTemplateRef, b.Spec.Replicas = &v1beta1.LocalObjectRef{Name: name}, new(int32(1))
		r.watches.is(b)
	}
	for range 2 {
		if next, err := r.Round(t.Context()); err == nil || next != retryEvery || len(known.lists) > 0 {
			t.Fatalf("a round in which one buffer cannot be read says %v, is tried again in %v, and fails with %v",
				known.lists, next, err)
		}
	}
	away = false
	if _, err := r.Round(t.Context()); err != nil || len(known.lists) != 1 || len(known.lists[0]) != 2 {
		t.Fatalf("a round in which all can be read says %v, and fails with %v", known.lists, err)
	}
	away = true
	r.watches.allStale()
	_, err := r.Round(t.Context())
	if err == nil || len(known.lists) != 2 || len(known.lists[1]) != 2 || known.lists[1][1].Pod == nil {
		t.Fatalf("a round in which one cannot be read again says %v, and fails with %v", known.lists, err)
	}
}
