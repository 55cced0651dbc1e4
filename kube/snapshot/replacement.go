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
	if claim.Annotations[api.MarkReplaces] == "" && claim.Annotations[api.MarkTakes] == "" {
		return false
	}
	for name := range strings.SplitSeq(claim.Annotations[api.MarkReplaces]+","+claim.Annotations[api.MarkTakes], ",") {
		old := b.k.claims[name]
		if old == nil || condition.IsTrue(old, karpv1.ClaimInstanceTerminating) {
			continue
		}
		node := b.k.nodes[old.Status.NodeName]
		if old.DeletionTimestamp != nil || node != nil && translate.HasTaint(node, api.TaintDisrupted) {
			return true
		}
	}
	return false
}
