package shadow

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watched are informers of a cluster that may lack kinds: of those there are no objects.
type Watched struct{ cache.Informers }

// GetInformer returns an informer that sees nothing where the cluster lacks the kind.
func (w Watched) GetInformer(ctx context.Context, o client.Object,
	options ...cache.InformerGetOption) (cache.Informer, error) {
	out, err := w.Informers.GetInformer(ctx, o, options...)
	if meta.IsNoMatchError(err) {
		return nothing{}, nil
	}
	return out, err
}

// nothing is an informer that sees nothing.
type nothing struct{ cache.Informer }

func (nothing) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return nil, nil //nolint:nilnil // as a store that shows all at once
}

func (n nothing) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler,
	_ time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return n.AddEventHandler(h)
}

func (nothing) HasSynced() bool { return true }

// Live is a reader of such a cluster.
type Live struct{ client.Reader }

// List finds nothing where the cluster lacks the kind.
func (l Live) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := l.Reader.List(ctx, list, options...); !meta.IsNoMatchError(err) {
		return err
	}
	return nil
}
