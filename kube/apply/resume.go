package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Resume takes care of moves that an earlier process began. One whose instances are all being
// launched, or there, is carried on; every other is undone: its nodes are opened to pods, and its
// instances terminated. It is called before anything else is begun, and again where it failed; what
// the Store shows must be as new as the lease.
func (a *Applier) Resume(ctx context.Context, reported Listener) error {
	found, err := a.remains(ctx)
	if err != nil {
		return err
	}
	var useless []string
	for _, old := range slices.Sorted(maps.Keys(found.instances)) {
		instances := found.instances[old]
		switch u, stage := found.move(old); {
		case u != nil:
			a.start(ctx, u, reported, func() error { return a.finish(ctx, u, reported) })
		case stage == stageWaiting:
			useless = append(useless, instances...)
		default:
			a.markStage(ctx, instances, stage)
		}
	}
	if err := a.reopenOthers(ctx, found); err != nil {
		return err
	}
	for _, claim := range useless {
		a.moves.Go(func() { a.giveBack(ctx, claim) })
	}
	return nil
}

// remains is what there is of nodes and claims, and what of moves.
type remains struct {
	nodes     []corev1.Node
	claims    map[string]*karpv1.NodeClaim
	instances map[string][]string // names of claims that wait for their move to go on, by what they replace
}

func (a *Applier) remains(ctx context.Context) (*remains, error) {
	var nodes corev1.NodeList
	if err := a.Store.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil { // only read, as claims are
		return nil, fmt.Errorf("list nodes to see which moves were begun: %w", err)
	}
	var claims karpv1.NodeClaimList
	if err := a.Store.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list claims to see which moves were begun: %w", err)
	}
	out := &remains{nodes.Items, map[string]*karpv1.NodeClaim{}, map[string][]string{}}
	for i := range claims.Items {
		c := &claims.Items[i]
		out.claims[c.Name] = c
		if _, waiting := stageOf(c); waiting && stays(c) {
			old := c.Annotations[api.AnnotationReplaces]
			out.instances[old] = append(out.instances[old], c.Name)
		}
	}
	return out, nil
}

// stays reports whether the claim is neither deleted nor withdrawn.
func stays(c *karpv1.NodeClaim) bool {
	return c != nil && c.DeletionTimestamp == nil && !translate.IsWithdrawn(c)
}

// nodeOf finds the node of a claim's instance; nil where it has none.
func (f *remains) nodeOf(c *karpv1.NodeClaim) *corev1.Node {
	for i := range f.nodes {
		if n := &f.nodes[i]; n.Spec.ProviderID != "" && n.Spec.ProviderID == c.Status.ProviderID {
			return n
		}
	}
	return nil
}

// move puts together what is left of a move. Where it cannot be carried on, the stage reports why:
// it is done, its instances are to be kept since nodes have gone, or it still waits and is to be
// undone.
func (f *remains) move(old string) (*unit, string) {
	instances := f.instances[old]
	u := &unit{claims: slices.Sorted(slices.Values(instances)), ordered: true}
	went, broken := false, false
	for _, name := range strings.Split(old, ",") {
		c := f.claims[name]
		if !stays(c) {
			went = true
			continue
		}
		n := f.nodeOf(c)
		if n == nil || n.DeletionTimestamp != nil || !translate.HasTaint(n, api.TaintDisrupted) {
			broken = true
			continue
		}
		r := plan.Removal{Node: n.Name, Claim: name, Pool: translate.PoolOf(c), Reason: reasonOf(c), Note: "begun by an earlier process"}
		u.Removals = append(u.Removals, r)
		u.leaving = append(u.leaving, &leaver{Removal: r, seen: c, since: TaintedAt(n)})
	}
	wanted, _ := stageOf(f.claims[instances[0]])
	u.together = len(u.leaving)
	switch {
	case len(u.leaving) == 0 && !broken:
		return nil, stageDone
	case !broken && wanted == len(instances):
		return u, ""
	case went:
		return nil, stageKept
	}
	return nil, stageWaiting
}

// reasonOf is why a claim was to go, by its condition.
func reasonOf(c *karpv1.NodeClaim) plan.RemovalReason {
	why := condition.Get(c, karpv1.ClaimDisruptionReason)
	if why == nil {
		return plan.Underutilized
	}
	return plan.RemovalReason(why.Reason)
}

// reopenOthers opens the nodes of moves that are not carried on: those that are closed and not
// being deleted. A node that no claim is about is not ours, nor is its taint.
func (a *Applier) reopenOthers(ctx context.Context, found *remains) error {
	var failed []error
	closed := map[string]bool{} // claims whose reason to go stands
	of := map[string]*karpv1.NodeClaim{}
	for _, c := range found.claims {
		if c.Status.ProviderID != "" {
			of[c.Status.ProviderID] = c
		}
	}
	for i := range found.nodes {
		n := &found.nodes[i]
		c := of[n.Spec.ProviderID]
		goes := n.DeletionTimestamp != nil || c != nil && c.DeletionTimestamp != nil || a.Ledger.isLeaving(n.Name)
		if goes && c != nil {
			closed[c.Name] = true
		}
		if c != nil && !goes && translate.HasTaint(n, api.TaintDisrupted) {
			failed = append(failed, client.IgnoreNotFound(a.taint(ctx, n.Name, Untaint)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found.claims)) {
		c := found.claims[name]
		if !closed[name] && c.DeletionTimestamp == nil && condition.Get(c, karpv1.ClaimDisruptionReason) != nil {
			failed = append(failed, client.IgnoreNotFound(a.say(ctx, name, sayNothing)))
		}
	}
	return errors.Join(failed...)
}
