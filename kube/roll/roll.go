// Package roll asks for nodes of pools to be replaced now, and tells how far
// that is. What is asked for stands in an annotation of each pool, so that it
// outlives whoever asks; the controller acts on it, under the budgets of the pool
// and whatever else keeps nodes.
//
// It promises to write nothing but that annotation.
package roll

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
)

// Pools lists the NodePools that a kind and name stand for: one by its name, or
// those of a class. Another provider's are left alone.
func Pools(ctx context.Context, store client.Reader, kind, name string) ([]karpv1.NodePool, error) {
	var out []karpv1.NodePool
	err := snapshot.Each(ctx, store, &karpv1.NodePoolList{}, func(l *karpv1.NodePoolList) {
		for i := range l.Items {
			p := &l.Items[i]
			ref := p.Spec.Template.Spec.NodeClassRef
			if !translate.IsForeign(ref) && (kind == "nodepool" && p.Name == name || kind == "nodeclass" && ref.Name == name) {
				out = append(out, *p)
			}
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(out) > 0:
		return out, nil
	case kind == "nodepool":
		return nil, fmt.Errorf("there is no NodePool %s", name)
	}
	return nil, fmt.Errorf("no NodePool names the class %s", name)
}

// Start asks for the nodes of pools to be replaced: those that have drifted, or
// all that are there now. What was asked for before is forgotten.
func Start(ctx context.Context, store client.Client, pools []karpv1.NodePool, all bool, now time.Time) error {
	return change(ctx, store, pools, func(mark.Roll) string { return mark.Roll{Since: now, All: all}.String() })
}

// Pause keeps nodes of the pools from going for having drifted; those that are
// going go on.
func Pause(ctx context.Context, store client.Client, pools []karpv1.NodePool, now time.Time) error {
	return change(ctx, store, pools, func(r mark.Roll) string {
		if r.Since.IsZero() {
			r.Since = now
		}
		r.Paused = true
		return r.String()
	})
}

// Resume lets what was paused go on.
func Resume(ctx context.Context, store client.Client, pools []karpv1.NodePool) error {
	return change(ctx, store, pools, func(r mark.Roll) string {
		if r.Paused = false; r.Since.IsZero() {
			return ""
		}
		return r.String()
	})
}

// Abort takes back what was asked for. Nodes that have drifted are replaced all
// the same, as they are without any roll.
func Abort(ctx context.Context, store client.Client, pools []karpv1.NodePool) error {
	return change(ctx, store, pools, func(mark.Roll) string { return "" })
}

// change writes what becomes of each pool's roll; an empty text takes it away.
// One that cannot be read counts as none. The pools are as they were written then.
func change(ctx context.Context, store client.Client, pools []karpv1.NodePool, next func(mark.Roll) string) error {
	for i := range pools {
		p := pools[i].DeepCopy()
		before := p.DeepCopy()
		roll, _, err := mark.ReadRoll(p.Annotations)
		if err != nil {
			roll = mark.Roll{}
		}
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		delete(p.Annotations, api.MarkRoll)
		if text := next(roll); text != "" {
			p.Annotations[api.MarkRoll] = text
		}
		if err := store.Patch(ctx, p, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("write annotation %s of NodePool %s: %w", api.MarkRoll, p.Name, err)
		}
		pools[i] = *p
	}
	return nil
}
