package buffer

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/pages"
)

// watches follow CapacityBuffers, and the kinds that some of them name: nothing else is followed.
type watches struct {
	informers cache.Informers
	live      client.Reader
	watched   func(ctx context.Context, of client.Object) error
	wake      chan struct{}
	followed  map[reflect.Type]bool

	mu   sync.Mutex
	list map[types.NamespacedName]*v1beta1.CapacityBuffer
	old  map[types.NamespacedName]bool // to be resolved again
}

func newWatches(p Parts) *watches {
	return &watches{
		informers: p.Watches, live: p.Live, watched: p.Watched, wake: make(chan struct{}, 1),
		followed: map[reflect.Type]bool{},
		list:     map[types.NamespacedName]*v1beta1.CapacityBuffer{}, old: map[types.NamespacedName]bool{},
	}
}

// absent is why there are no buffers where the kind is not installed.
const absent = "CapacityBuffers are not installed"

// buffers follows CapacityBuffers, and waits until all are seen. why says why there are none; empty: there may be
// some.
func (w *watches) buffers(ctx context.Context) (why string, err error) {
	o := &v1beta1.CapacityBuffer{}
	if w.followed[reflect.TypeOf(o)] {
		return "", w.announce(ctx, o)
	}
	err = w.live.List(ctx, &v1beta1.CapacityBufferList{}, client.Limit(1))
	switch {
	case pages.NotServed(err) || apierrors.IsNotFound(err):
		return absent, nil
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("they may not be listed: allow the controller to list and watch capacitybuffers of %s: %v",
			v1beta1.GroupVersion.Group, err), nil
	case err != nil:
		return "", fmt.Errorf("list CapacityBuffers: %w", err)
	}
	err = w.follow(ctx, o, toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.is(o.(*v1beta1.CapacityBuffer)) },
		UpdateFunc: func(_, o any) { w.is(o.(*v1beta1.CapacityBuffer)) },
		DeleteFunc: func(o any) { w.gone(o) },
	})
	if pages.NotServed(err) { // a reader may hide that the cluster has no such kind: that of shadow mode does
		return absent, nil
	}
	if err == nil {
		err = w.announce(ctx, o)
	}
	return "", err
}

// announce says once that buffers are watched.
func (w *watches) announce(ctx context.Context, o client.Object) error {
	if w.watched == nil {
		return nil
	}
	err := w.watched(ctx, o)
	if err == nil {
		w.watched = nil
	}
	return err
}

// named follows the kind of what a buffer names.
func (w *watches) named(ctx context.Context, b *v1beta1.CapacityBuffer) error {
	kind := client.Object(&corev1.PodTemplate{})
	list := client.ObjectList(&corev1.PodTemplateList{})
	if b.Spec.PodTemplateRef == nil {
		if b.Spec.ScalableRef == nil {
			return nil
		}
		kind = buffer.Workload(b.Spec.ScalableRef)
		switch kind.(type) {
		case *appsv1.Deployment:
			list = &appsv1.DeploymentList{}
		case *appsv1.StatefulSet:
			list = &appsv1.StatefulSetList{}
		case *appsv1.ReplicaSet:
			list = &appsv1.ReplicaSetList{}
		default:
			return nil
		}
	}
	if w.followed[reflect.TypeOf(kind)] {
		return nil
	}
	if err := w.live.List(ctx, list, client.Limit(1)); apierrors.IsForbidden(err) {
		return nil // what is read of it says so
	} else if err != nil {
		return fmt.Errorf("list %T: %w", list, err)
	}
	_, template := kind.(*corev1.PodTemplate)
	touched := func(o any) { w.touched(reflect.TypeOf(kind), o) }
	return w.follow(ctx, kind, toolscache.ResourceEventHandlerFuncs{
		AddFunc: touched,
		UpdateFunc: func(before, now any) {
			// A PodTemplate has no status: whatever is written changes it.
			if template || before.(client.Object).GetGeneration() != now.(client.Object).GetGeneration() {
				touched(now)
			}
		},
		DeleteFunc: touched,
	})
}

// follow has the handler see all objects of the kind, those that are there before it returns.
func (w *watches) follow(ctx context.Context, kind client.Object, h toolscache.ResourceEventHandler) error {
	informer, err := w.informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch %T: %w", kind, err)
	}
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		return fmt.Errorf("follow %T: %w", kind, err)
	}
	w.followed[reflect.TypeOf(kind)] = true
	if registration == nil { // a store in memory shows all at once
		return nil
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return fmt.Errorf("follow %T: %w", kind, ctx.Err())
	}
	return nil
}

// poke has a round come.
func (w *watches) poke() {
	select {
	case w.wake <- struct{}{}:
	default: // one is about to come
	}
}

func (w *watches) is(b *v1beta1.CapacityBuffer) {
	name := client.ObjectKeyFromObject(b)
	w.mu.Lock()
	before := w.list[name]
	w.list[name] = b
	news := before == nil || before.UID != b.UID || before.Generation != b.Generation ||
		b.DeletionTimestamp != nil || slices.ContainsFunc([]string{api.AnnotationHours, api.AnnotationHeadroom},
		func(key string) bool { return before.Annotations[key] != b.Annotations[key] })
	if news {
		w.old[name] = true
	}
	w.mu.Unlock()
	w.poke() // also for a status: one that could not be written onto what was seen before can be now
}

func (w *watches) gone(o any) {
	name, ok := nameOf(o)
	if !ok {
		return
	}
	w.mu.Lock()
	delete(w.list, name)
	w.old[name] = true
	w.mu.Unlock()
	w.poke()
}

// ours lists the buffers that are served, sorted by namespace and name.
func (w *watches) ours() []*v1beta1.CapacityBuffer {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Collect(maps.Values(w.list))
	out = slices.DeleteFunc(out, func(b *v1beta1.CapacityBuffer) bool { return !buffer.Ours(b) })
	slices.SortFunc(out, func(a, b *v1beta1.CapacityBuffer) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// touched has the buffers resolved again that name the object.
func (w *watches) touched(kind reflect.Type, o any) {
	name, ok := nameOf(o)
	if !ok {
		return
	}
	w.mu.Lock()
	any := false
	for at, b := range w.list {
		if at.Namespace == name.Namespace && names(b, kind, name.Name) {
			w.old[at], any = true, true
		}
	}
	w.mu.Unlock()
	if any {
		w.poke()
	}
}

func names(b *v1beta1.CapacityBuffer, kind reflect.Type, name string) bool {
	if ref := b.Spec.PodTemplateRef; ref != nil {
		return kind == reflect.TypeFor[*corev1.PodTemplate]() && ref.Name == name
	}
	ref := b.Spec.ScalableRef
	return ref != nil && ref.Name == name && reflect.TypeOf(buffer.Workload(ref)) == kind
}

func nameOf(o any) (types.NamespacedName, bool) {
	if tomb, is := o.(toolscache.DeletedFinalStateUnknown); is {
		o = tomb.Obj
	}
	object, is := o.(client.Object)
	if !is {
		return types.NamespacedName{}, false
	}
	return client.ObjectKeyFromObject(object), true
}

// seen is a buffer as it was last seen; nil: it is gone. It must not be written.
func (w *watches) seen(name types.NamespacedName) *v1beta1.CapacityBuffer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list[name]
}

// stale has a buffer resolved again.
func (w *watches) stale(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old[name] = true
}

func (w *watches) allStale() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.list {
		w.old[name] = true
	}
}

// takeStale goes through the buffers that are to be resolved again, in no order; nil is one that is gone.
func (w *watches) takeStale() iter.Seq2[types.NamespacedName, *v1beta1.CapacityBuffer] {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[types.NamespacedName]*v1beta1.CapacityBuffer{}
	for name := range w.old {
		out[name] = w.list[name]
	}
	clear(w.old)
	return func(yield func(types.NamespacedName, *v1beta1.CapacityBuffer) bool) {
		for name, b := range out {
			if !yield(name, b) {
				return
			}
		}
	}
}
