package handback

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/kube/translate"
)

// Cleaned counts the objects that something was taken from, or that went.
type Cleaned struct {
	Claims, Nodes, Pods, Pools, Classes, ConfigMaps int
}

// String is one line for people.
func (c Cleaned) String() string {
	return fmt.Sprintf("removed labels, annotations and taints from %d NodeClaims, %d nodes, %d pods, %d NodePools and %d EC2NodeClasses, and deleted %d ConfigMaps",
		c.Claims, c.Nodes, c.Pods, c.Pools, c.Classes, c.ConfigMaps)
}

// Clean takes away what is Daemok's alone, the freeze of a hand-back last. What users
// have written for Daemok on their pools and classes stays: Karpenter passes over it.
func (h Handback) Clean(ctx context.Context) (done Cleaned, err error) {
	for _, step := range []struct {
		newList func() client.ObjectList
		changed *int
	}{
		{func() client.ObjectList { return &karpv1.NodeClaimList{} }, &done.Claims},
		{func() client.ObjectList { return &corev1.NodeList{} }, &done.Nodes},
		{func() client.ObjectList { return &karpv1.NodePoolList{} }, &done.Pools},
		{func() client.ObjectList { return &awsv1.EC2NodeClassList{} }, &done.Classes},
	} {
		if *step.changed, err = h.cleanAll(ctx, step.newList); err != nil {
			return done, err
		}
	}
	if done.Pods, err = h.cleanPods(ctx); err != nil {
		return done, err
	}
	done.ConfigMaps, err = h.deleteNotes(ctx)
	return done, err
}

// cleanPods takes the deletion costs that Daemok set from all pods and counts these. Pods change all the time: one that
// changed meanwhile is read again.
func (h Handback) cleanPods(ctx context.Context) (changed int, err error) {
	var all []client.ObjectKey
	err = pages.Each(ctx, h.Store, &corev1.PodList{}, func(l *corev1.PodList) {
		for i := range l.Items {
			if key := client.ObjectKeyFromObject(&l.Items[i]); steering.ClearCost(&l.Items[i]) {
				all = append(all, key)
			}
		}
	})
	errs := []error{err}
	for _, key := range all {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error { return h.cleanPod(ctx, key) })
		if err != nil {
			errs = append(errs, fmt.Errorf("clear the deletion cost of pod %s: %w", key, err))
			continue
		}
		changed++
	}
	return changed, errors.Join(errs...)
}

func (h Handback) cleanPod(ctx context.Context, key client.ObjectKey) error {
	pod := &corev1.Pod{}
	if err := h.Store.Get(ctx, key, pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	before := pod.DeepCopy()
	if !steering.ClearCost(pod) {
		return nil
	}
	return client.IgnoreNotFound(h.Store.Patch(ctx, pod, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// cleanAll cleans all objects of a kind and counts those that were changed. One that changed
// meanwhile is an error: the controller that changes it is not to act any more.
func (h Handback) cleanAll(ctx context.Context, newList func() client.ObjectList) (changed int, err error) {
	var all []client.Object
	err = pages.EachList(ctx, h.Store, newList, func(l client.ObjectList) {
		_ = apimeta.EachListItem(l, func(o runtime.Object) error { // fails for what is no list
			all = append(all, o.(client.Object))
			return nil
		})
	})
	errs := []error{err}
	for _, o := range all {
		is, err := h.cleanOne(ctx, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("remove labels, annotations and taints from %T %s: %w", o, o.GetName(), err))
		} else if is {
			changed++
		}
	}
	return changed, errors.Join(errs...)
}

func (h Handback) cleanOne(ctx context.Context, o client.Object) (changed bool, err error) {
	after := o.DeepCopyObject().(client.Object)
	clean(after)
	if equality.Semantic.DeepEqual(o, after) {
		return false, nil
	}
	status := after.DeepCopyObject().(client.Object) // a patch answers with the status as it is
	lock := client.MergeFromWithOptimisticLock{}
	if err := h.Store.Patch(ctx, after, client.MergeFromWithOptions(o, lock)); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	status.SetResourceVersion(after.GetResourceVersion())
	if equality.Semantic.DeepEqual(after, status) {
		return true, nil
	}
	return true, client.IgnoreNotFound(h.Store.Status().Patch(ctx, status, client.MergeFromWithOptions(after, lock)))
}

// clean takes Daemok's own from an object; from that of another provider nothing.
func clean(o client.Object) {
	switch o := o.(type) {
	case *karpv1.NodeClaim:
		cleanClaim(o)
	case *corev1.Node:
		o.Annotations = without(o.Annotations)
		steering.Untaint(o)
	case *karpv1.NodePool:
		cleanPool(o)
	case *awsv1.EC2NodeClass:
		cleanClass(o)
	}
}

func without(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	maps.DeleteFunc(out, func(key, _ string) bool { return isOurs(key) })
	return out
}

// cleanClaim also takes away that it has drifted for a reason that Karpenter does not know.
func cleanClaim(c *karpv1.NodeClaim) {
	if translate.IsForeign(c.Spec.NodeClassRef) {
		return
	}
	c.Annotations = without(c.Annotations)
	if is := condition.Get(c, karpv1.ClaimDrifted); is != nil && slices.Contains([]string{karpv1.ReasonDaemonSetUnplaced, karpv1.ReasonVoluntaryDisruption}, is.Reason) {
		condition.Clear(c, karpv1.ClaimDrifted)
	}
}

func cleanPool(p *karpv1.NodePool) {
	if translate.IsForeign(p.Spec.Template.Spec.NodeClassRef) {
		return
	}
	delete(p.Annotations, api.AnnotationRoll)
	controllerutil.RemoveFinalizer(p, api.FinalizerPoolTermination)
	condition.Clear(p, karpv1.NodePoolDisruptionBlocked)
	condition.Clear(p, karpv1.NodePoolDrained)
}

func cleanClass(c *awsv1.EC2NodeClass) {
	delete(c.Annotations, api.AnnotationPlacementGroup)
	delete(c.Annotations, api.AnnotationDedicatedReservations)
	delete(c.Annotations, api.AnnotationLaunchForms)
	for _, is := range slices.Clone(c.Status.Conditions) {
		if isOurs(is.Type) {
			condition.Clear(c, is.Type)
		}
	}
}

// deleteNotes deletes what the controller keeps for itself and, in the end, the freeze, if
// it is a hand-back's.
func (h Handback) deleteNotes(ctx context.Context) (n int, err error) {
	var list corev1.ConfigMapList
	if err := h.Store.List(ctx, &list, client.InNamespace(h.Namespace)); err != nil {
		return 0, fmt.Errorf("list ConfigMaps of namespace %s: %w", h.Namespace, err)
	}
	isFreeze := func(c corev1.ConfigMap) bool {
		return c.Name == api.ConfigMapFreeze && c.Data[api.FreezeReason] == frozenFor
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.ConfigMap) int {
		switch {
		case isFreeze(a) == isFreeze(b):
			return 0
		case isFreeze(a):
			return 1
		}
		return -1
	})
	for i := range list.Items {
		c := &list.Items[i]
		own := c.Name == api.ConfigMapMemory || c.Name == api.ConfigMapSurges || c.Name == api.ConfigMapStatus
		if !own && !strings.HasPrefix(c.Name, api.ConfigMapRecord+"-") && !isFreeze(*c) {
			continue
		}
		err := h.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
		if apierrors.IsConflict(err) {
			return n, fmt.Errorf("delete ConfigMap %s/%s: it was changed meanwhile, so a controller may still run: scale it to zero and repeat the command", c.Namespace, c.Name)
		}
		if client.IgnoreNotFound(err) != nil {
			return n, fmt.Errorf("delete ConfigMap %s/%s: %w", c.Namespace, c.Name, err)
		}
		n++
	}
	return n, nil
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
