package snapshot

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// orders are the claims by their machines, and what snapshots show of those whose node
// has not registered.
type orders struct {
	of    map[string][]string // by provider ID: claims, by name
	round uint64              // grows when a claim, or which nodes there are, changes
	shown map[string]order    // by claim: what was shown of it last
	boots map[cluster.PoolID]time.Duration

	madeFor map[string]int // by UID of a pod: how many claims say that they were made for it

	listed []cluster.Machine // as snapshots list them, never written
	from   [2]uint64         // rounds of the orders and of the views that they were listed in
}

// order is a machine as it is shown, and what it is shown by.
type order struct {
	claim     *karpv1.NodeClaim
	catalogue *cluster.Catalogue
	is        cluster.Machine
}

func newOrders() orders {
	return orders{of: map[string][]string{}, shown: map[string]order{}, madeFor: map[string]int{}, round: 1}
}

// seen takes in a claim; before is nil for a new one.
func (o *orders) seen(before, c *karpv1.NodeClaim) {
	o.boots = nil
	o.round++
	if before != nil {
		o.leave(before)
		o.isFor(before, -1)
	}
	o.isFor(c, 1)
	if id := c.Status.ProviderID; id != "" {
		at, _ := slices.BinarySearch(o.of[id], c.Name)
		o.of[id] = slices.Insert(o.of[id], at, c.Name)
	}
}

func (o *orders) gone(c *karpv1.NodeClaim) {
	o.boots = nil
	o.round++
	o.leave(c)
	o.isFor(c, -1)
	delete(o.shown, c.Name)
}

// isFor counts the pods that the claim was made for, so many times more.
func (o *orders) isFor(c *karpv1.NodeClaim, more int) {
	uids, _ := translate.ForPods(c)
	for _, uid := range uids {
		if o.madeFor[uid] += more; o.madeFor[uid] == 0 {
			delete(o.madeFor, uid)
		}
	}
}

func (o *orders) leave(c *karpv1.NodeClaim) {
	id := c.Status.ProviderID
	if at, found := slices.BinarySearch(o.of[id], c.Name); found {
		if o.of[id] = slices.Delete(o.of[id], at, at+1); len(o.of[id]) == 0 {
			delete(o.of, id)
		}
	}
}

// claimFor is the claim of a machine; nil where it has none. One that takes it over has
// it, once its node is registered, before the one that it takes it from.
func (k *ClusterState) claimFor(providerID string) (has *karpv1.NodeClaim) {
	for _, name := range k.orders.of[providerID] {
		c := k.claims[name]
		if !isToAdopt(c) && (has == nil || translate.TakesFrom(c, has)) {
			has = c
		}
	}
	return has
}

// isToAdopt reports whether the claim takes over a machine whose node is not registered
// as its own yet. It brings nothing that is not there already.
func isToAdopt(c *karpv1.NodeClaim) bool {
	return translate.Adopts(c) && !condition.IsTrue(c, karpv1.ClaimRegistered)
}

// machines lists the claims whose node has not registered.
func (b *builder) machines(joined map[string]bool) []cluster.Machine {
	var out []cluster.Machine
	for name, c := range b.k.claims {
		if joined[name] || leaves(c) || isToAdopt(c) || c.Status.ProviderID != "" && b.k.claimFor(c.Status.ProviderID) != c {
			continue
		}
		shown, catalogue := b.k.orders.shown[name], b.k.offered[translate.ClassOf(c)]
		if shown.claim != c || shown.catalogue != catalogue {
			shown = order{c, catalogue, translate.Machine(c, b.instanceTypesOf(translate.ClassOf(c)))}
			b.k.orders.shown[name] = shown
		}
		machine := shown.is
		machine.Replacement = machine.Replacement || b.isForLeaving(c)
		out = append(out, machine)
	}
	slices.SortFunc(out, func(x, y cluster.Machine) int { return cmp.Compare(x.Claim, y.Claim) })
	return out
}

// leaves reports whether the claim's node was there and is gone.
func leaves(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp != nil && condition.IsTrue(c, karpv1.ClaimRegistered)
}
