package snapshot

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/translate"
)

// Follow has the cluster state take in everything that the cache's informers see.
// claimSeen is called with every change of a claim, after the cluster state. It is called
// once, before anything else uses the cluster state.
func (k *ClusterState) Follow(ctx context.Context, informers cache.Informers, claimSeen func(c *karpv1.NodeClaim, gone bool)) error {
	rows := k.objects()
	for _, g := range k.settings.Generations {
		rows = append(rows, k.poolsOf(g))
	}
	for _, r := range rows {
		if r.may || k.settings.FreezeIn == "" && r.isOf(&corev1.ConfigMap{}) {
			continue
		}
		if seen, gone := r.seen, r.gone; r.isOf(&karpv1.NodeClaim{}) {
			r.seen = func(o client.Object, first bool) { seen(o, first); claimSeen(o.(*karpv1.NodeClaim), false) }
			r.gone = func(o client.Object) { gone(o); claimSeen(o.(*karpv1.NodeClaim), true) }
		}
		if err := r.follow(ctx, k, informers); err != nil {
			return err
		}
	}
	return nil
}

// follow has the cluster state take in what an informer sees of the row.
func (r row) follow(ctx context.Context, k *ClusterState, informers cache.Informers) error {
	informer, err := informers.GetInformer(ctx, r.object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch %T: %w", r.object, err)
	}
	h := r.handler()
	if r.watched != "" {
		h = k.progress.Recording(r.watched, h)
	}
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		return fmt.Errorf("follow %T: %w", r.object, err)
	}
	if registration != nil { // a store in memory shows all at once and has none
		k.mu.Lock()
		defer k.mu.Unlock()
		k.followed = append(k.followed, followed{r.object, registration.HasSynced})
	}
	return nil
}

// followed is a type of objects that are followed, and whether all that there were have been taken in.
type followed struct {
	object client.Object
	synced toolscache.InformerSynced
}

// poolsOf is how the pools of one generation are taken in.
func (k *ClusterState) poolsOf(g translate.Generation) row {
	return row{
		object: g.New(), newList: g.NewList,
		seen: func(o client.Object, _ bool) { k.PoolSeen(g.View(o.(translate.PoolResource))) },
		gone: func(o client.Object) { k.PoolGone(g.ID(o.GetName())) },
	}
}

// WaitForFirst waits until the cluster state has taken in everything that there was
// when its watches began; it reports false when ctx ended first. A filled
// cache is not enough: its followers see it a moment later, and a plan made
// from claims without pods, or pods without claims, would be wrong. Where types are named it waits for
// objects of these alone.
func (k *ClusterState) WaitForFirst(ctx context.Context, only ...client.Object) bool {
	var synced []toolscache.InformerSynced
	k.mu.Lock()
	list := k.followed
	k.mu.Unlock()
	for _, f := range list {
		is := func(o client.Object) bool { return reflect.TypeOf(o) == reflect.TypeOf(f.object) }
		if len(only) == 0 || slices.ContainsFunc(only, is) {
			synced = append(synced, f.synced)
		}
	}
	return toolscache.WaitForCacheSync(ctx.Done(), synced...)
}

// CatchUp waits until the watches have shown what the API server has now of claims, nodes and pods without a node. A
// filled cache may be many seconds old when this process begins to lead, and what a plan
// launched for its sake would be launched again. late is called, every few seconds, with what is missing; an
// error is that of reading, or of ctx.
func (k *ClusterState) CatchUp(ctx context.Context, live client.Reader, late func(what string)) error {
	if err := k.progress.Wait(ctx, live, late); err != nil {
		return err
	}
	k.apply(func() (effect change.Effect) {
		for node := range k.tables.pods.NodesWithPods() {
			if k.tables.nodes.Missed(node, k.now()) {
				effect = change.Planned
			}
		}
		return effect
	})
	return nil
}

// handler takes in what an informer sees.
func (r row) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, first bool) {
			if object, ok := o.(client.Object); ok && r.isOf(object) {
				r.seen(object, first)
			}
		},
		UpdateFunc: func(_, o any) {
			if object, ok := o.(client.Object); ok && r.isOf(object) {
				r.seen(object, false)
			}
		},
		DeleteFunc: func(o any) {
			if tomb, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = tomb.Obj
			}
			if object, ok := o.(client.Object); ok && r.isOf(object) {
				r.gone(object)
			}
		},
	}
}
