package translate

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// RollRequested is why a node goes that is as its pool asks for, and whose users want another.
const RollRequested = "RollRequested"

// MarkRolled shows a node as drifted that its pool's roll is about.
func MarkRolled(o PoolObject, claim *karpv1.NodeClaim, n *cluster.Node) {
	if roll, about := RollOf(o, claim); about && n.Drifted == "" {
		n.Drifted, n.DriftedAt = RollRequested, roll.Since
	}
}

// RollOf returns the pool's roll, and whether it is about a claim: any that is no newer than a roll
// of all, or one whose instance was made from an older spec of a pool whose edits alone replace no
// nodes. Kubernetes reports when objects were made in whole seconds: a claim of the roll's own
// second counts as there, since it may have been.
func RollOf(o PoolObject, claim *karpv1.NodeClaim) (roll mark.Roll, about bool) {
	roll, found, err := mark.ReadRoll(o.Annotations)
	return roll, err == nil && found && !claim.CreationTimestamp.After(roll.Since) && (roll.All || OfOlderSpec(o, claim))
}

// OfOlderSpec reports whether the claim's instance was made from another spec of its pool, or of
// the pool's class, than that of now, where that does not have it drift. What another version of
// the fingerprints says is not known.
func OfOlderSpec(o PoolObject, claim *karpv1.NodeClaim) bool {
	return madeOtherwise(o.Made, claim.Annotations[api.AnnotationProvisionerHash]) || madeOtherwise(o.ClassMade, claim.Annotations[api.AnnotationNodeTemplateHash])
}

// madeOtherwise compares fingerprints, each with its version before it.
func madeOtherwise(now, then string) bool {
	version, _, _ := strings.Cut(now, "/")
	return now != "" && then != now && strings.HasPrefix(then, version+"/")
}

// RollKeeps says why a node that was to go for having drifted stays, by what its
// pool's roll says now; empty: it may go. Of what it has drifted from, only that
// it was to be rolled matters.
func RollKeeps(o PoolObject, drifted string) string {
	roll, found, err := mark.ReadRoll(o.Annotations)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", o.ID, err)
	case roll.Paused:
		return fmt.Sprintf("the roll of %s is paused", o.ID)
	case strings.HasPrefix(drifted, RollRequested) && (!found || !roll.All && o.Made == ""):
		return fmt.Sprintf("the roll of %s was called off", o.ID)
	}
	return ""
}
