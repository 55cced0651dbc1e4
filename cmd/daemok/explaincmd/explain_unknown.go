package explaincmd

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/observe/record"
)

// whyUnknown says why nothing is on record about an object, by what the cluster has of it. What may not be read is left out.
func whyUnknown(ctx context.Context, store client.Reader, about record.Object) string {
	key, o := client.ObjectKey{Name: about.Name}, client.Object(nil)
	switch about.Kind {
	case record.Pod:
		key.Namespace, key.Name, _ = strings.Cut(about.Name, "/")
		o = &corev1.Pod{}
	case record.Node:
		o = &corev1.Node{}
	case record.Claim:
		o = &karpv1.NodeClaim{}
	case record.Pool:
		o = &karpv1.NodePool{}
	case record.Provisioner:
		o = &v1alpha5.Provisioner{}
	default:
		return ""
	}
	switch err := store.Get(ctx, key, o); {
	case apierrors.IsNotFound(err) && about.Kind == record.Pod:
		return fmt.Sprintf("; namespace %s has no such pod: -n names another", key.Namespace)
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return fmt.Sprintf("; the cluster has no such %s", about.Kind)
	case err != nil:
		return ""
	}
	return ofNone(o)
}

// ofNone says why nothing was decided about an object that is there.
func ofNone(o client.Object) string {
	const soon = "; if that stays so, daemok doctor says what is wrong with the controller"
	switch o := o.(type) {
	case *corev1.Pod:
		if o.Spec.NodeName != "" {
			return fmt.Sprintf("; it is on node %s, and only pods that wait or are to move are decided about: daemok explain node %s", o.Spec.NodeName, o.Spec.NodeName)
		}
		return "; it waits, and no plan has been made for it" + soon
	case *corev1.Node:
		if o.Labels[api.LabelNodePool] == "" && o.Labels[api.LabelProvisioner] == "" {
			return "; it is of no NodePool, so Daemok decides nothing about it"
		}
	}
	return "; it is there, and nothing has been decided about it yet" + soon
}
