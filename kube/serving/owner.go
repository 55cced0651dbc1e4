package serving

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate/podspec"
)

// wanted is how many pods are wanted of which this is one; 1 where that is not known.
func wanted(ctx context.Context, from client.Reader, p *corev1.Pod) (int32, error) {
	owner, err := OwnerOf(ctx, from, p)
	if err != nil {
		return 0, err
	}
	if owner == nil {
		return 1, nil
	}
	of := podspec.WorkloadOf(owner)
	return of.Wants(), nil
}

// OwnerOf reads the controller of the pod; nil where it has none, or one of a kind that is not
// examined, or it is gone.
func OwnerOf(ctx context.Context, from client.Reader, p *corev1.Pod) (client.Object, error) {
	kind := podspec.OwnerKind(p)
	if kind == nil {
		return nil, nil
	}
	return ReadOwner(ctx, from, kind, p.Namespace, metav1.GetControllerOf(p))
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
