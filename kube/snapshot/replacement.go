package snapshot

import (
	"strings"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// awaitsPods reports whether the claim's machine came in place of others, or was
// ordered for pods of others, that these are yet to leave. However empty its node is, those are on their way to it,
// also in the moment in which one has been evicted and its successor is not made
// yet. That is over when the machines of the others end, or they stay after all.
func (b *builder) awaitsPods(claim *karpv1.NodeClaim) bool {
	return b.comesFor(claim, func(old *karpv1.NodeClaim) bool {
		node := b.k.nodes[old.Status.NodeName]
		return old.DeletionTimestamp != nil || node != nil && translate.HasTaint(node, api.TaintDisrupted)
	})
}

// isForLeaving is awaitsPods of a machine that is on order, of which claims alone decide.
// Who ordered it knows its pods that are yet to be made; a leader that has just begun does not.
func (b *builder) isForLeaving(claim *karpv1.NodeClaim) bool {
	return b.comesFor(claim, func(old *karpv1.NodeClaim) bool { return old.DeletionTimestamp != nil })
}

// comesFor reports whether a claim that this one was ordered for goes, and its machine
// has not been given back yet.
func (b *builder) comesFor(claim *karpv1.NodeClaim, goes func(old *karpv1.NodeClaim) bool) bool {
	if claim.Annotations[api.AnnotationReplaces] == "" && claim.Annotations[api.AnnotationTakes] == "" {
		return false
	}
	for name := range strings.SplitSeq(claim.Annotations[api.AnnotationReplaces]+","+claim.Annotations[api.AnnotationTakes], ",") {
		if old := b.k.claims[name]; old != nil && !condition.IsTrue(old, karpv1.ClaimInstanceTerminating) && goes(old) {
			return true
		}
	}
	return false
}
