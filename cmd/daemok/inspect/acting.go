package inspect

import (
	"context"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// actingPod is the pod of the controller that acts in a cluster: the holder of
// its lease, whose identity begins with the pod's name. It has no name where
// there is no lease, or it may not be read: then the plan keeps no node for the
// controller's sake.
func actingPod(ctx context.Context, at *Target, store client.Reader) (types.NamespacedName, error) {
	key, lease := at.Lease(), &coordinationv1.Lease{}
	if key.IsNone() {
		return types.NamespacedName{}, nil
	}
	err := store.Get(ctx, client.ObjectKey(key), lease)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return types.NamespacedName{}, nil
	}
	if err != nil {
		return types.NamespacedName{}, fmt.Errorf("read lease %s to see where the controller runs: %w", key, err)
	}
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_")
	}
	return types.NamespacedName{Namespace: at.SystemNamespace(), Name: holder}, nil
}
