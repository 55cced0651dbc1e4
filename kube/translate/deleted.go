package translate

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// LeavesClaims reports whether the pool is deleted in such a way that its claims
// stay (kubectl delete --cascade=orphan).
func LeavesClaims(pool client.Object) bool {
	return slices.Contains(pool.GetFinalizers(), metav1.FinalizerOrphanDependents)
}

// Owns reports whether the claim goes with the pool.
func Owns(pool client.Object, claim *karpv1.NodeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == pool.GetUID() })
}

// DeletedAt is since when all nodes of a pool are to go, since it is being deleted;
// zero: they are not.
func DeletedAt(pool client.Object) time.Time {
	if at := pool.GetDeletionTimestamp(); at != nil && !LeavesClaims(pool) {
		return at.UTC()
	}
	return time.Time{}
}

// MarkDeleted shows a node as drifted, whatever else is known of it, that goes
// with its pool because that is being deleted.
func MarkDeleted(o PoolObject, claim *karpv1.NodeClaim, n *cluster.Node) {
	if o.DeletedAt.IsZero() || !Owns(o.Object, claim) {
		return
	}
	if n.Drifted == "" {
		n.DriftedAt = o.DeletedAt
	}
	n.Drifted = cluster.PoolDeleted
}
