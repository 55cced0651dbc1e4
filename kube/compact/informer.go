// Package compact keeps Pods small in an informer's store, and returns them whole. A Pod takes a
// seventh of the struct's memory: where 150,000 pods run, they are most of what a controller holds.
// What pods of one template have in common is in memory once.
//
// It promises that all reads and events of the informer show each Pod as it was put in, and that only
// the store knows the compact form.
package compact

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// NewInformer returns the informer of client-go for objects like this one. That of Pods is a *Pods, which keeps them
// compact: events and reads make a Pod of their own for each, so that All is the way to read all.
func NewInformer(lw cache.ListerWatcher, like runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	if _, pods := like.(*corev1.Pod); !pods {
		return cache.NewSharedIndexInformer(lw, like, resync, indexers)
	}
	out := &Pods{SharedIndexInformer: cache.NewSharedIndexInformer(lw, like, resync, wholeIn(indexers))}
	if err := out.SetTransform(nil); err != nil {
		panic(err) // only once it runs
	}
	return out
}

// Pods is an informer of Pods that keeps them compact.
type Pods struct {
	cache.SharedIndexInformer
	packer packer
}

// All goes through the Pods in the store, in no order. Each stands there until the next one: only what it points to may
// be kept, and none of it written.
func (i *Pods) All(yield func(*corev1.Pod) bool) {
	var one corev1.Pod
	for _, o := range i.SharedIndexInformer.GetStore().List() {
		if p, is := o.(*pod); is {
			if p.into(&one); !yield(&one) {
				return
			}
		}
	}
}

// SetTransform has f see each Pod before it is made compact; nil: nothing does.
func (i *Pods) SetTransform(f cache.TransformFunc) error {
	return i.SharedIndexInformer.SetTransform(func(o any) (any, error) {
		if _, already := o.(*pod); already {
			return o, nil
		}
		if f != nil {
			var err error
			if o, err = f(o); err != nil {
				return nil, err
			}
		}
		if p, is := o.(*corev1.Pod); is {
			return i.packer.pack(p), nil
		}
		return o, nil
	})
}

// AddEventHandler has h hear of whole Pods.
func (i *Pods) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(hearing{h})
}

// AddEventHandlerWithResyncPeriod has h hear of whole Pods.
func (i *Pods) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, every time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(hearing{h}, every)
}

// AddEventHandlerWithOptions has h hear of whole Pods.
func (i *Pods) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(hearing{h}, o)
}

// AddIndexers has the functions see whole Pods.
func (i *Pods) AddIndexers(indexers cache.Indexers) error {
	return i.SharedIndexInformer.AddIndexers(wholeIn(indexers))
}

// GetStore gives whole Pods.
func (i *Pods) GetStore() cache.Store { return i.GetIndexer() }

// GetIndexer gives whole Pods.
func (i *Pods) GetIndexer() cache.Indexer { return reading{i.SharedIndexInformer.GetIndexer()} }

// hearing passes a handler whole Pods.
type hearing struct{ cache.ResourceEventHandler }

func (h hearing) OnAdd(o any, first bool) { h.ResourceEventHandler.OnAdd(whole(o), first) }
func (h hearing) OnUpdate(old, o any)     { h.ResourceEventHandler.OnUpdate(whole(old), whole(o)) }
func (h hearing) OnDelete(o any)          { h.ResourceEventHandler.OnDelete(whole(o)) }

// reading gives whole Pods.
type reading struct{ cache.Indexer }

func (r reading) List() []any { return all(r.Indexer.List()) }

func (r reading) Get(o any) (any, bool, error) {
	item, there, err := r.Indexer.Get(o)
	return whole(item), there, err
}

func (r reading) GetByKey(key string) (any, bool, error) {
	item, there, err := r.Indexer.GetByKey(key)
	return whole(item), there, err
}

func (r reading) Index(name string, o any) ([]any, error) {
	list, err := r.Indexer.Index(name, o)
	return all(list), err
}

func (r reading) ByIndex(name, value string) ([]any, error) {
	list, err := r.Indexer.ByIndex(name, value)
	return all(list), err
}

func (r reading) AddIndexers(indexers cache.Indexers) error {
	return r.Indexer.AddIndexers(wholeIn(indexers))
}

// wholeIn has the functions of indexes see whole Pods.
func wholeIn(indexers cache.Indexers) cache.Indexers {
	out := cache.Indexers{}
	for name, values := range indexers {
		out[name] = func(o any) ([]string, error) { return values(whole(o)) }
	}
	return out
}

// whole is the Pod of a compact one, in a tombstone too; other objects stay what they are.
func whole(o any) any {
	switch o := o.(type) {
	case *pod:
		return o.whole()
	case cache.DeletedFinalStateUnknown:
		o.Obj = whole(o.Obj)
		return o
	}
	return o
}

func all(list []any) []any {
	for i := range list {
		list[i] = whole(list[i])
	}
	return list
}
