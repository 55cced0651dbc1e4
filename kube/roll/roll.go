// Package roll requests that nodes of pools are replaced now, and reports progress: `daemok roll`. It
// writes the request to an annotation of each pool, so that it outlives the program; the controller
// acts on it, within the budgets of the pool and whatever else keeps nodes.
//
// It promises to write nothing but that annotation.
package roll

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// Pools lists the pools of these generations that a resource and a name stand for: one
// by its name, or those of a class. Another provider's are left alone.
func Pools(ctx context.Context, store client.Reader, serves translate.Generations, resource, name string) ([]translate.PoolObject, error) {
	var out []translate.PoolObject
	var others []string
	ofClass := resource == "nodeclass"
	for _, g := range serves {
		if !ofClass && g.Resource != resource {
			continue
		}
		err := pages.EachList(ctx, store, g.NewList, func(l client.ObjectList) {
			for _, o := range g.Items(l) {
				p := g.View(o)
				ref := p.Template.Spec.NodeClassRef
				if !translate.IsForeign(ref) && (!ofClass && o.GetName() == name || ofClass && ref.Name == name) {
					out = append(out, p)
				} else if ofClass {
					others = append(others, ref.Name)
				} else {
					others = append(others, o.GetName())
				}
			}
		})
		switch {
		case err != nil:
			return nil, err
		case !ofClass && len(out) == 0:
			return nil, fmt.Errorf("there is no %s %s%s", g.Kind, name, instead("; there are: ", others))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no pool has nodes of class %s%s", name, instead("; classes that pools name: ", others))
	}
	return out, nil
}

// namesMax is how many names an error lists.
const namesMax = 10

// instead lists names that are there after words, the first of many; nothing where there are none.
func instead(words string, names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return ""
	}
	return words + brief.List(names, namesMax)
}

// Start asks for the nodes of pools to be replaced: those that have drifted, or
// all that are there now. What was asked for before is forgotten.
func Start(ctx context.Context, store client.Client, pools []translate.PoolObject, all bool, now time.Time) error {
	return change(ctx, store, pools, func(mark.Roll) string { return mark.Roll{Since: now, All: all}.String() })
}

// Pause keeps nodes of the pools from going for having drifted; those that are
// going go on.
func Pause(ctx context.Context, store client.Client, pools []translate.PoolObject, now time.Time) error {
	return change(ctx, store, pools, func(r mark.Roll) string {
		if r.Since.IsZero() {
			r.Since = now
		}
		r.Paused = true
		return r.String()
	})
}

// Resume lets what was paused go on.
func Resume(ctx context.Context, store client.Client, pools []translate.PoolObject) error {
	return change(ctx, store, pools, func(r mark.Roll) string {
		if r.Paused = false; r.Since.IsZero() {
			return ""
		}
		return r.String()
	})
}

// Abort withdraws what was asked for. Nodes that have drifted are replaced all
// the same, as they are without any roll.
func Abort(ctx context.Context, store client.Client, pools []translate.PoolObject) error {
	return change(ctx, store, pools, func(mark.Roll) string { return "" })
}

// change writes what becomes of each pool's roll; an empty text takes it away.
// One that cannot be read counts as none. The pools are as they were written then.
func change(ctx context.Context, store client.Client, pools []translate.PoolObject, next func(mark.Roll) string) error {
	for i := range pools {
		o := pools[i].Object.DeepCopyObject().(translate.PoolResource)
		before := o.DeepCopyObject().(translate.PoolResource)
		roll, _, err := mark.ReadRoll(o.GetAnnotations())
		if err != nil {
			roll = mark.Roll{}
		}
		annotations := maps.Clone(o.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		delete(annotations, api.AnnotationRoll)
		if text := next(roll); text != "" {
			annotations[api.AnnotationRoll] = text
		}
		o.SetAnnotations(annotations)
		if err := store.Patch(ctx, o, client.MergeFrom(before)); err != nil {
			return fmt.Errorf("write annotation %s of %s: %w", api.AnnotationRoll, pools[i].ID, err)
		}
		pools[i].Object, pools[i].Annotations = o, annotations
	}
	return nil
}
