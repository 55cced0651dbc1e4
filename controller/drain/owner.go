package drain

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replicasOf is how many pods are wanted of which this is one; 1 where nobody
// says.
func (r *Reconciler) replicasOf(ctx context.Context, p *corev1.Pod) (int32, error) {
	owner, err := r.ownerOf(ctx, p)
	if err != nil {
		return 0, err
	}
	var wanted *int32
	switch o := owner.(type) {
	case *appsv1.ReplicaSet:
		wanted = o.Spec.Replicas
	case *appsv1.StatefulSet:
		wanted = o.Spec.Replicas
	case *corev1.ReplicationController:
		wanted = o.Spec.Replicas
	}
	if wanted == nil {
		return 1, nil
	}
	return *wanted, nil
}

// ownerOf reads what the pod belongs to; nil where it is nothing that has
// replicas, or is gone.
func (r *Reconciler) ownerOf(ctx context.Context, p *corev1.Pod) (client.Object, error) {
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
	return r.readOwner(ctx, owner, p.Namespace, of)
}

// readOwner reads an owner into an object; nil where it is gone, or another has
// its name by now.
func (r *Reconciler) readOwner(ctx context.Context, owner client.Object, namespace string, of *metav1.OwnerReference) (client.Object, error) {
	err := client.IgnoreNotFound(r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: of.Name}, owner))
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", of.Kind, namespace, of.Name, err)
	}
	if owner.GetUID() != of.UID { // empty where nothing was found
		return nil, nil
	}
	return owner, nil
}
