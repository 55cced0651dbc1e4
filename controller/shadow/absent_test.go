package shadow

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

var errAbsent = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}}

// failing answers all with an error.
type failing struct {
	cache.Informers
	client.Reader
	err error
}

func (f failing) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, f.err
}

func (f failing) List(context.Context, client.ObjectList, ...client.ListOption) error { return f.err }

// Kinds that the cluster lacks have no objects; any other error is one.
func TestKindsThatAreAbsentHaveNoObjects(t *testing.T) {
	absent := failing{err: errAbsent}
	informer, err := Watched{absent}.GetInformer(t.Context(), &karpv1.NodePool{})
	if err != nil || !informer.HasSynced() {
		t.Fatalf("watch an absent kind: %v", err)
	}
	if _, err := informer.AddEventHandler(nil); err != nil {
		t.Error(err)
	}
	if err := (Live{absent}).List(t.Context(), &karpv1.NodePoolList{}); err != nil {
		t.Errorf("list an absent kind: %v", err)
	}
	broken := failing{err: errors.New("refused")}
	if _, err := (Watched{broken}).GetInformer(t.Context(), &karpv1.NodePool{}); !errors.Is(err, broken.err) {
		t.Errorf("watch what is refused: %v", err)
	}
	if err := (Live{broken}).List(t.Context(), &karpv1.NodePoolList{}); !errors.Is(err, broken.err) {
		t.Errorf("list what is refused: %v", err)
	}
}
