package manifest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bufferv1alpha1 "github.com/daemok/daemok/kube/api/autoscaling/v1alpha1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/buffer"
)

// bufferOf is the CapacityBuffer that an object is, of whichever version.
func bufferOf(o client.Object) (b *v1beta1.CapacityBuffer, is bool) {
	switch x := o.(type) {
	case *v1beta1.CapacityBuffer:
		return x, true
	case *bufferv1alpha1.CapacityBuffer:
		return x.Stored(), true
	}
	return nil, false
}

// buffers takes in CapacityBuffers, after all that their pods may be made from, and resolves those of the cluster again
// that name an object of the manifests.
func (a *applier) buffers(objects []Object) error {
	from := overlaid{objects: objects, applier: a}
	given := map[client.ObjectKey]bool{}
	for _, o := range objects {
		b, is := bufferOf(o.Object)
		if !is {
			continue
		}
		given[client.ObjectKeyFromObject(b)] = true
		if err := a.buffer(o, b, from); err != nil {
			return fmt.Errorf("%s: %w", o.At(), err)
		}
	}
	for _, s := range a.Buffers.States() {
		if s.Object == nil || given[s.Name()] || !from.has(s.Object) {
			continue
		}
		r, err := buffer.Resolve(context.Background(), from, s.Object, a.Now)
		if err != nil {
			return err
		}
		a.Buffers.Seen(r)
	}
	return nil
}

func (a *applier) buffer(o Object, b *v1beta1.CapacityBuffer, from overlaid) error {
	if !buffer.Ours(b) {
		a.change(o, "is of another provisioning strategy: no plan depends on it")
		return nil
	}
	if b.CreationTimestamp.IsZero() {
		b.CreationTimestamp.Time = a.Now.Truncate(time.Second)
	}
	r, err := buffer.Resolve(context.Background(), from, b, a.Now)
	if err != nil {
		return err
	}
	if r.Pod == nil {
		return errors.New(r.NotReady.Message + a.hint("what the buffer names"))
	}
	a.Buffers.Seen(r)
	for _, s := range a.Buffers.States() {
		switch {
		case s.Object != b:
		case s.NotReady.Message != "":
			return errors.New(s.NotReady.Message)
		default:
			a.change(o, "capacity is kept for %s", counted(int(s.Pods)))
		}
	}
	return nil
}

// overlaid reads what buffers name from manifests first, and then from the cluster.
type overlaid struct {
	*applier
	objects []Object
}

// has reports whether the manifests have what the buffer names.
func (r overlaid) has(b *v1beta1.CapacityBuffer) bool {
	if ref := b.Spec.PodTemplateRef; ref != nil {
		return r.find(&corev1.PodTemplate{}, client.ObjectKey{Namespace: b.Namespace, Name: ref.Name}) != nil
	}
	ref := b.Spec.ScalableRef
	if ref == nil {
		return false
	}
	o := buffer.Workload(ref)
	return o != nil && r.find(o, client.ObjectKey{Namespace: b.Namespace, Name: ref.Name}) != nil
}

func (r overlaid) find(like client.Object, key client.ObjectKey) client.Object {
	for _, o := range r.objects {
		if reflect.TypeOf(o.Object) == reflect.TypeOf(like) && client.ObjectKeyFromObject(o.Object) == key {
			return o.Object
		}
	}
	return nil
}

// Get implements client.Reader.
func (r overlaid) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if found := r.find(o, key); found != nil {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	if r.Reader == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "object"}, key.String())
	}
	return r.Reader.Get(ctx, key, o, options...)
}

// List implements client.Reader, for PriorityClasses alone.
func (r overlaid) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if err := r.readPriorities(); err != nil {
		return err
	}
	list.(*schedulingv1.PriorityClassList).Items = r.priorities
	return nil
}
