package nodepool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// indexNodeName is the field of pods that the API server lists those of a node by.
const indexNodeName = "spec.nodeName"

// isFast reports whether the pool's user wants all its nodes to go at once when
// it is deleted. What is not understood is no such preference.
func isFast(o Object) bool {
	fast, err := mark.DeleteFast(o.GetAnnotations())
	return err == nil && fast
}

// leave takes the finalizer off a pool that is being deleted once no claim of its own is
// left, or when its claims are not to be waited for: then the garbage collector deletes
// what there is, or it stays. Instances that have not started are terminated. left reports
// whether there is something to wait for.
func (r *Reconciler) leave(ctx context.Context, o Object) (left bool, err error) {
	if !controllerutil.ContainsFinalizer(o, api.FinalizerPoolTermination) {
		return false, nil
	}
	if !isFast(o) && !translate.LeavesClaims(o) {
		claims, err := r.owned(ctx, o)
		if err != nil {
			return false, err
		}
		if len(claims) > 0 {
			return true, r.takeBack(ctx, claims)
		}
	}
	before := o.DeepCopyObject().(Object)
	controllerutil.RemoveFinalizer(o, api.FinalizerPoolTermination)
	err = r.Store.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("remove finalizer of %s %s: %w", r.Generation.Kind, o.GetName(), err)
	}
	return false, nil
}

// owned lists the claims that go with the pool.
func (r *Reconciler) owned(ctx context.Context, o Object) ([]*karpv1.NodeClaim, error) {
	var all karpv1.NodeClaimList
	if err := r.Store.List(ctx, &all, translate.Belonging(r.Generation.ID(o.GetName())), client.UnsafeDisableDeepCopy); err != nil { // only read
		return nil, fmt.Errorf("list claims of %s %s, which is being deleted: %w", r.Generation.Kind, o.GetName(), err)
	}
	var out []*karpv1.NodeClaim
	for i := range all.Items {
		if translate.Owns(o, &all.Items[i]) {
			out = append(out, &all.Items[i])
		}
	}
	return out, nil
}

// takeBack deletes claims whose instances have not started, unless pods are there all the
// same: a pool that is being deleted launches nothing, what never starts would keep it for
// ever, and no pod is disrupted.
func (r *Reconciler) takeBack(ctx context.Context, claims []*karpv1.NodeClaim) error {
	var errs []error
	for _, c := range claims {
		if c.DeletionTimestamp != nil || condition.IsTrue(c, karpv1.ClaimInitialized) {
			continue
		}
		used, err := r.used(ctx, c)
		if err != nil {
			errs = append(errs, err)
		}
		if err != nil || used {
			continue
		}
		err = r.Store.Delete(ctx, c.DeepCopy(), client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) { // the cache is a moment behind: the claim's change leads here again
			errs = append(errs, fmt.Errorf("delete claim %s, whose pool is being deleted: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

// used reports whether pods run on the claim's node that did not come with it.
func (r *Reconciler) used(ctx context.Context, c *karpv1.NodeClaim) (bool, error) {
	if c.Status.NodeName == "" {
		return false, nil // until it registers, a taint keeps pods off
	}
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.MatchingFields{indexNodeName: c.Status.NodeName}); err != nil {
		return false, fmt.Errorf("list pods of node %s, whose pool is being deleted: %w", c.Status.NodeName, err)
	}
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
		return !podspec.IsDaemon(&p) && !podspec.IsMirror(&p) && !podspec.IsTerminal(&p)
	}), nil
}
