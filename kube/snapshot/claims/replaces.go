package claims

import (
	"strings"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// AwaitsPods reports whether the claim's instance came in place of others, or was
// launched for pods of others, that these are yet to leave. However empty its node is, those are on their way to it,
// also in the moment in which one has been evicted and its successor is not made
// yet. That is over when the instances of the others end, or they stay after all.
func (t *Table) AwaitsPods(claim *karpv1.NodeClaim) bool {
	return t.comesFor(claim, func(old *karpv1.NodeClaim) bool {
		node := t.nodes.Node(old.Status.NodeName)
		return old.DeletionTimestamp != nil || node != nil && translate.HasTaint(node, api.TaintDisrupted)
	})
}

// isForLeaving is AwaitsPods of an instance that is being launched, of which claims alone decide.
// The process that launched it knows its pods that are yet to be made; a leader that has just begun does not.
func (t *Table) isForLeaving(claim *karpv1.NodeClaim) bool {
	return t.comesFor(claim, func(old *karpv1.NodeClaim) bool { return old.DeletionTimestamp != nil })
}

// comesFor reports whether a claim that this one was made for goes, and its instance
// has not been terminated yet.
func (t *Table) comesFor(claim *karpv1.NodeClaim, goes func(old *karpv1.NodeClaim) bool) bool {
	if claim.Annotations[api.AnnotationReplaces] == "" && claim.Annotations[api.AnnotationTakes] == "" {
		return false
	}
	for name := range strings.SplitSeq(claim.Annotations[api.AnnotationReplaces]+","+claim.Annotations[api.AnnotationTakes], ",") {
		if old := t.claims[name]; old != nil && !condition.IsTrue(old, karpv1.ClaimInstanceTerminating) && goes(old) {
			return true
		}
	}
	return false
}
