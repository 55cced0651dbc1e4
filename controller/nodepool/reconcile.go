// Package nodepool updates the status of NodePools: whether their requirements make sense, their class
// is ready and instances join. It also records what they own and, while one is being deleted, the
// progress.
//
// It promises that a deleted NodePool exists as long as it has NodeClaims, unless its user requests
// fast deletion. It serves pools of every API version through a Generation. It launches and terminates
// nothing.
package nodepool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// refreshEvery is when a pool is checked again though nothing of it changed: what its class
// offers may have.
const refreshEvery = 10 * time.Minute

// Reconcile observes one pool and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	o := r.Generation.New()
	if err := r.Store.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
		if client.IgnoreNotFound(err) == nil {
			id := r.Generation.ID(name)
			r.forgetMetrics(id)
			r.Health.Forget(id)
			r.counts.forget(name)
			r.reported.forget(name)
		}
		return 0, client.IgnoreNotFound(err)
	}
	o = o.DeepCopyObject().(Object)
	if o.GetDeletionTimestamp() != nil {
		if left, err := r.leave(ctx, o); err != nil || !left {
			return 0, err
		}
	} else if err := r.prepare(ctx, o); err != nil {
		return 0, err
	}
	before := o.DeepCopyObject().(Object)
	view := r.Generation.View(o)
	class, err := r.ClassState(ctx, view.Class)
	if err != nil {
		return 0, fmt.Errorf("read class of %s: %w", view.ID, err)
	}
	view.ClassMade = class.Made
	news := news{}
	r.validate(o, view, class, news)
	untold := r.readiness(o, view, class, news)
	r.health(o, class)
	usage, stale, err := r.usage(ctx, view)
	if err != nil {
		return 0, err
	}
	r.Generation.SetStatus(o, Status{Resources: usage.resources.DeepCopy(), Nodes: usage.nodes, OfOlderSpec: usage.older, LastOrder: usage.lastOrder, ClassGeneration: class.Generation, ClassMade: class.Made})
	r.measure(view, usage.resources)
	condition.Begin(o, r.Now())
	if !equality.Semantic.DeepEqual(before, o) {
		if err := r.Store.Status().Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return 0, fmt.Errorf("write status of %s: %w", view.ID, err)
		}
	}
	r.report(o, news)
	return soonest(stale, untold), nil
}

// soonest is when to check again: at the first of those that are not zero.
func soonest(waits ...time.Duration) time.Duration {
	first := refreshEvery
	for _, wait := range waits {
		if wait > 0 {
			first = min(first, wait)
		}
	}
	return first
}

// prepare writes the hash, and the finalizer that has the pool outlive its claims.
func (r *Reconciler) prepare(ctx context.Context, o Object) error {
	before := o.DeepCopyObject().(Object)
	if r.Generation.Hash != nil {
		annotations := maps.Clone(o.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[api.AnnotationNodePoolHash], annotations[api.AnnotationNodePoolHashVersion] = r.Generation.Hash(o)
		o.SetAnnotations(annotations)
	}
	if isFast(o) {
		controllerutil.RemoveFinalizer(o, api.FinalizerPoolTermination)
	} else {
		controllerutil.AddFinalizer(o, api.FinalizerPoolTermination)
	}
	if equality.Semantic.DeepEqual(before, o) {
		return nil
	}
	if err := r.Store.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write hash and finalizer of %s %s: %w", r.Generation.Kind, o.GetName(), err)
	}
	return nil
}

// validate says whether the pool's rules make sense; what its class does not
// offer is named, and is an error only where nothing else is left.
func (r *Reconciler) validate(o Object, view translate.PoolObject, class ClassState, n news) {
	var notes, nothing []string
	refuse := func(text string) { // the condition names everything, each event only what no other event says
		condition.SetFalse(o, karpv1.NodePoolValidationSucceeded, karpv1.ReasonNodePoolValidationFailed, condition.WithWarnings(text, notes), r.Now())
		n[karpv1.NodePoolValidationSucceeded] = warning{karpv1.ReasonNodePoolValidationFailed, text}
	}
	found := r.Generation.Validate(o)
	wrong := validate.Refusal(found)
	if wrong == "" && r.Generation.Fits != nil && class.Found {
		found = append(found, r.Generation.Fits(o, class.Family)...)
	}
	for _, f := range validate.Warnings(found) {
		n[f.Field] = warning{"SpecWarning", f.String()}
		notes = append(notes, f.String())
	}
	if text := r.ignored(view); text != "" {
		n["spec.replicas"] = warning{"SpecWarning", text}
		notes = append(notes, text)
		condition.Set(o, karpv1.NodePoolNotInEffect, metav1.ConditionTrue, "FeatureGateOff", text, r.Now())
	} else {
		condition.Clear(o, karpv1.NodePoolNotInEffect)
	}
	if wrong != "" {
		refuse(wrong)
		return
	}
	lacks, offered := r.lacks(view)
	for _, l := range lacks {
		text := l.text(offered, translate.ClassID(view.Template.Spec.NodeClassRef))
		if l.all {
			nothing = append(nothing, text)
			continue
		}
		notes = append(notes, text)
		n[l.field] = warning{reasonNotOffered(l.key), text}
	}
	if text := r.contradiction(view); len(nothing) == 0 && text != "" {
		nothing = append(nothing, text)
	}
	if len(nothing) > 0 {
		refuse(strings.Join(nothing, "; "))
		return
	}
	condition.Set(o, karpv1.NodePoolValidationSucceeded, metav1.ConditionTrue, karpv1.NodePoolValidationSucceeded, strings.Join(notes, "; "), r.Now())
}

// ignored says which field of the pool has no effect, by the feature gates; empty: none.
func (r *Reconciler) ignored(view translate.PoolObject) string {
	if view.Replicas == nil || !r.IgnoreReplicas {
		return ""
	}
	return "spec.replicas: has no effect, since the feature gate StaticCapacity is off: the pool gets no nodes, neither for pods nor to reach the " +
		"number, and keeps those that it has; set FEATURE_GATES to StaticCapacity=true, or make a NodePool without replicas to have nodes for pods"
}

func reasonNotOffered(key string) string {
	if key == cluster.LabelInstanceType {
		return "InstanceTypesNotOffered"
	}
	return "NotOffered"
}

// nameOfClassIn is the field of a pool that names its class.
func nameOfClassIn(view translate.PoolObject) string {
	if view.ID.Kind == translate.KindProvisioner {
		return "spec.providerRef"
	}
	return "spec.template.spec.nodeClassRef"
}

// readiness says whether the pool's class can be used. For a new pool that is
// no news while it is open; untold is when it becomes so.
func (r *Reconciler) readiness(o Object, view translate.PoolObject, class ClassState, n news) (untold time.Duration) {
	ref := view.Template.Spec.NodeClassRef
	kind := karpv1.NodePoolClassReady
	switch {
	case !class.Found:
		condition.SetFalse(o, kind, karpv1.ReasonNodeClassNotFound,
			fmt.Sprintf("%s %s does not exist; create it or name another in %s", ref.Kind, ref.Name, nameOfClassIn(view)), r.Now())
	case class.Terminating:
		condition.SetFalse(o, kind, karpv1.ReasonNodeClassTerminating, fmt.Sprintf("%s %s is being deleted", ref.Kind, ref.Name), r.Now())
	case class.Status == metav1.ConditionTrue:
		condition.SetTrue(o, kind, r.Now())
	case class.Status == metav1.ConditionFalse:
		condition.SetFalse(o, kind, class.Reason, class.Message, r.Now())
	default:
		condition.SetFalse(o, kind, karpv1.ReasonNodeClassReadinessUnknown, fmt.Sprintf("%s %s does not say yet whether it is ready", ref.Kind, ref.Name), r.Now())
	}
	c := condition.Get(o, kind)
	if c.Status == metav1.ConditionTrue {
		return 0
	}
	open := c.Reason == karpv1.ReasonNodeClassNotFound || c.Reason == karpv1.ReasonNodeClassReadinessUnknown
	if left := r.quietFor(o, class); open && left > 0 {
		return left
	}
	n[kind] = warning{c.Reason, c.Message}
	return 0
}

func (r *Reconciler) health(o Object, class ClassState) {
	id := r.Generation.ID(o.GetName())
	r.Health.Recall(id, o.GetGeneration(), class.Generation, verdictOf(o))
	switch r.Health.Of(id, o.GetGeneration(), class.Generation) {
	case Healthy:
		condition.SetTrue(o, karpv1.NodePoolRegistrationHealthy, r.Now())
	case Unhealthy:
		condition.SetFalse(o, karpv1.NodePoolRegistrationHealthy, karpv1.ReasonRegistrationFailed,
			"at least two of the last four instances did not join the cluster; check the node role's mapping, the security groups and the user data", r.Now())
	default:
		condition.SetUnknown(o, karpv1.NodePoolRegistrationHealthy, "",
			"no instance has joined the cluster, or failed to, since the pool or its class last changed", r.Now())
	}
}

// verdictOf reads the verdict of an earlier process from the condition, where
// it is about the pool as it is now.
func verdictOf(o Object) Verdict {
	c := condition.Get(o, karpv1.NodePoolRegistrationHealthy)
	switch {
	case c == nil || c.ObservedGeneration != o.GetGeneration():
		return Unknown
	case c.Status == metav1.ConditionTrue:
		return Healthy
	case c.Status == metav1.ConditionFalse:
		return Unhealthy
	}
	return Unknown
}

// measure sets the pool's gauges; those of resources that it no longer owns or
// limits go.
func (r *Reconciler) measure(view translate.PoolObject, resources corev1.ResourceList) {
	r.forgetMetrics(view.ID)
	r.Metrics.CostErrors.WithLabelValues(translate.Called(view.ID))
	for name, amount := range resources {
		r.Metrics.PoolUsage.WithLabelValues(string(name), translate.Called(view.ID)).Set(amount.AsApproximateFloat64())
	}
	for name, amount := range view.Limits {
		r.Metrics.PoolLimit.WithLabelValues(string(name), translate.Called(view.ID)).Set(amount.AsApproximateFloat64())
	}
}

// forgetMetrics ends the series of a pool.
func (r *Reconciler) forgetMetrics(id cluster.PoolID) {
	labels := map[string]string{"nodepool": translate.Called(id)}
	r.Metrics.PoolUsage.DeletePartialMatch(labels)
	r.Metrics.PoolLimit.DeletePartialMatch(labels)
	r.Metrics.CostErrors.DeletePartialMatch(labels)
}

// quietMax is how long a new pool, or one whose class is new, may be without
// a word on its class before anyone is warned: that is how every pool begins.
const quietMax = 10 * time.Second

// quietFor is how much of that time is left.
func (r *Reconciler) quietFor(o Object, class ClassState) time.Duration {
	began := o.GetCreationTimestamp().Time
	if class.CreatedAt.After(began) {
		began = class.CreatedAt
	}
	return began.Add(quietMax).Sub(r.Now())
}

// report publishes a warning for each thing that was not reported before.
func (r *Reconciler) report(o Object, now news) {
	fresh := r.reported.replace(o.GetName(), now)
	for _, topic := range slices.Sorted(maps.Keys(fresh)) {
		r.Events.Publish(observe.Event{
			About: o, Key: r.Generation.Kind + "/" + o.GetName(), Warning: true,
			Reason: fresh[topic].reason, Message: fresh[topic].text,
		})
	}
}
