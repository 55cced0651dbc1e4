package serving

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate"
)

// wanted is how many pods are wanted of which this is one; 1 where nobody says.
func wanted(ctx context.Context, from client.Reader, p *corev1.Pod) (int32, error) {
	owner, err := OwnerOf(ctx, from, p)
	if err != nil {
		return 0, err
	}
	var n *int32
	switch o := owner.(type) {
	case *appsv1.ReplicaSet:
		n = o.Spec.Replicas
	case *appsv1.StatefulSet:
		n = o.Spec.Replicas
	case *corev1.ReplicationController:
		n = o.Spec.Replicas
	}
	if n == nil {
		return 1, nil
	}
	return *n, nil
}

// OwnerOf reads what the pod belongs to; nil where it is nothing that has
// replicas, or is gone.
func OwnerOf(ctx context.Context, from client.Reader, p *corev1.Pod) (client.Object, error) {
	of := metav1.GetControllerOf(p)
	if of == nil {
		return nil, nil
	}
	var owner client.Object
	switch of.Kind {
	case "ReplicaSet":
		owner = &appsv1.ReplicaSet{}
	case "StatefulSet":
		owner = &appsv1.StatefulSet{}
	case "ReplicationController":
		owner = &corev1.ReplicationController{}
	default:
		return nil, nil
	}
	return ReadOwner(ctx, from, owner, p.Namespace, of)
}

// ReadOwner reads an owner into an object; nil where it is gone, or another has
// its name by now.
func ReadOwner(ctx context.Context, from client.Reader, owner client.Object, namespace string, of *metav1.OwnerReference) (client.Object, error) {
	err := client.IgnoreNotFound(from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: of.Name}, owner))
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", of.Kind, namespace, of.Name, err)
	}
	if owner.GetUID() != of.UID { // empty where nothing was found
		return nil, nil
	}
	return owner, nil
}

// Returns reports whether what the pod belongs to creates it again when it has gone:
// all do but StatefulSets that are gone or being deleted, or want fewer pods.
func Returns(ctx context.Context, from client.Reader, p *corev1.Pod) (bool, error) {
	if of := metav1.GetControllerOf(p); of == nil || of.APIVersion != "apps/v1" || of.Kind != "StatefulSet" {
		return true, nil
	}
	owner, err := OwnerOf(ctx, from, p)
	if err != nil {
		return false, err
	}
	set, ok := owner.(*appsv1.StatefulSet)
	if !ok {
		return p.DeletionTimestamp == nil, nil
	}
	return translate.IsMember(p.Name, set.Name, translate.FirstOrdinal(set), translate.Wants(&set.ObjectMeta, set.Spec.Replicas)), nil
}
