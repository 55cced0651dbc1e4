// Package buffer resolves CapacityBuffers: for which pods each keeps capacity, and for how many.
//
// It reads what a buffer names, and nothing else. It promises to leave alone the buffers of other
// provisioning strategies. What admission adds to the pods, and where they have room, others find out.
package buffer

import (
	"context"
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/virtual"
)

// Resolved is a CapacityBuffer with what its pods are made from.
type Resolved struct {
	Object     *v1beta1.CapacityBuffer
	Pod        *corev1.Pod // as its template makes it, without volumes of its own; nil: NotReady says why there is none
	Generation int64       // of the PodTemplate or the workload
	Replicas   int32       // of the workload; 0 where a PodTemplate is named
	NotReady   Refusal
	Scheduled  *int64    // replicas by its hours, in place of those of its spec; nil: its spec says
	Until      time.Time // when these next change; zero: never
	Headroom   *mark.Headroom
}

// Count is for how many pods it keeps capacity now, when each requests so much and so many are its headroom.
func (r *Resolved) Count(requests corev1.ResourceList, headroom int64) int64 {
	spec := r.Object.Spec
	if r.Scheduled != nil {
		spec.Replicas = new(int32(min(*r.Scheduled, math.MaxInt32)))
	}
	if r.Headroom != nil {
		n := int64(0)
		if spec.Replicas != nil {
			n = int64(*spec.Replicas)
		}
		spec.Replicas = new(int32(min(max(n, headroom), math.MaxInt32)))
	}
	return Count(&spec, requests, r.Replicas)
}

// Refusal is why a buffer keeps no capacity: Reason is of its condition ReadyForProvisioning.
type Refusal = virtual.Refusal

func failed(format string, args ...any) Refusal { return refused(fmt.Sprintf(format, args...)) }

// refused is the refusal for a reason; none where that is empty.
func refused(why string) Refusal {
	if why == "" {
		return Refusal{}
	}
	return Refusal{Reason: v1beta1.ReasonResolutionFailed, Message: why}
}

// Name is the namespace and name of the buffer.
func (r *Resolved) Name() types.NamespacedName { return client.ObjectKeyFromObject(r.Object) }

// Ours reports whether the buffer is to be served: of the provisioning strategy that keeps capacity by nodes, and not
// being deleted.
func Ours(b *v1beta1.CapacityBuffer) bool {
	strategy := b.Spec.ProvisioningStrategy
	if b.DeletionTimestamp != nil {
		return false
	}
	return strategy == nil || *strategy == "" || *strategy == v1beta1.StrategyActiveCapacity
}

// Resolve reads what the buffer names, and its hours. An error is one of reading, after which it is to be tried again.
func Resolve(
	ctx context.Context, from client.Reader, b *v1beta1.CapacityBuffer, now time.Time,
) (Resolved, error) {
	out := Resolved{Object: b}
	var err error
	if out.Scheduled, out.Until, err = mark.Replicas(b.Annotations, now); err != nil {
		out.NotReady = failed("%v", err)
		return out, nil
	}
	if out.Headroom, err = mark.HeadroomOf(b.Annotations); err != nil {
		out.NotReady = failed("%v", err)
		return out, nil
	}
	template, err := out.template(ctx, from)
	if err != nil || template == nil {
		return out, err
	}
	pod := podOf(b, template)
	if why, err := virtual.Prioritise(ctx, from, pod); err != nil || why != "" {
		out.NotReady = refused(why)
		return out, err
	}
	out.Pod = pod
	return out, nil
}

// template reads the template of the pods; nil: NotReady says why there is none.
func (r *Resolved) template(ctx context.Context, from client.Reader) (*corev1.PodTemplateSpec, error) {
	spec := &r.Object.Spec
	switch {
	case spec.PodTemplateRef != nil:
		o := &corev1.PodTemplate{}
		found, err := r.get(ctx, from, o, spec.PodTemplateRef.Name, v1beta1.ReasonPodTemplateNotFound)
		if !found {
			return nil, err
		}
		r.Generation = o.Generation
		return &o.Template, nil
	case spec.ScalableRef != nil:
		return r.templateOf(ctx, from, spec.ScalableRef)
	}
	r.NotReady = failed("spec names no pods: set podTemplateRef or scalableRef")
	return nil, nil //nolint:nilnil // NotReady says so
}

func (r *Resolved) templateOf(
	ctx context.Context, from client.Reader, ref *v1beta1.ScalableRef,
) (*corev1.PodTemplateSpec, error) {
	o := Workload(ref)
	if o == nil {
		r.NotReady = failed("spec.scalableRef: kind %s of group %q is not supported: "+
			"name a Deployment, StatefulSet or ReplicaSet of the group apps", ref.Kind, ref.APIGroup)
		return nil, nil //nolint:nilnil // NotReady says so
	}
	found, err := r.get(ctx, from, o, ref.Name, v1beta1.ReasonScalableRefNotFound)
	if !found {
		return nil, err
	}
	r.Generation, r.Replicas = o.GetGeneration(), 1
	wants, template := (*int32)(nil), (*corev1.PodTemplateSpec)(nil)
	switch o := o.(type) {
	case *appsv1.Deployment:
		wants, template = o.Spec.Replicas, &o.Spec.Template
	case *appsv1.StatefulSet:
		wants, template = o.Spec.Replicas, &o.Spec.Template
	case *appsv1.ReplicaSet:
		wants, template = o.Spec.Replicas, &o.Spec.Template
	}
	if wants != nil {
		r.Replicas = *wants
	}
	return template, nil
}

// Workload is an empty object of the kind that is named; nil: the kind is not supported.
func Workload(ref *v1beta1.ScalableRef) client.Object {
	if ref.APIGroup != "" && ref.APIGroup != appsv1.GroupName {
		return nil
	}
	switch ref.Kind {
	case "Deployment":
		return &appsv1.Deployment{}
	case "StatefulSet":
		return &appsv1.StatefulSet{}
	case "ReplicaSet":
		return &appsv1.ReplicaSet{}
	}
	return nil
}

// get reads an object of the namespace of the buffer. What is not there or may not be read makes the buffer not ready.
func (r *Resolved) get(
	ctx context.Context, from client.Reader, o client.Object, name, missing string,
) (found bool, err error) {
	key := client.ObjectKey{Namespace: r.Object.Namespace, Name: name}
	kind := kindOf(o)
	switch err := from.Get(ctx, key, o); {
	case apierrors.IsNotFound(err):
		r.NotReady.Reason = missing
		r.NotReady.Message = fmt.Sprintf("%s %s is not there: create it, or name another one", kind, key)
	case apierrors.IsForbidden(err):
		r.NotReady = failed("%s %s may not be read: allow the controller to get and watch this kind: %v", kind, key, err)
	case err != nil:
		return false, fmt.Errorf("read %s %s of CapacityBuffer %s: %w", kind, key, r.Name(), err)
	default:
		return true, nil
	}
	return false, nil
}

func kindOf(o client.Object) string {
	switch o.(type) {
	case *appsv1.Deployment:
		return "Deployment"
	case *appsv1.StatefulSet:
		return "StatefulSet"
	case *appsv1.ReplicaSet:
		return "ReplicaSet"
	}
	return "PodTemplate"
}

// podOf is the pod that the template makes.
func podOf(b *v1beta1.CapacityBuffer, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := virtual.Pod("CapacityBuffer", b, template)
	pod.Annotations = map[string]string{
		api.AnnotationBufferFakePod: "true",
		api.AnnotationBufferName:    b.Name, api.AnnotationBufferNamespace: b.Namespace,
	}
	return pod
}
