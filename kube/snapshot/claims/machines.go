package claims

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Basis is what the list of instances without a node depends on beside the claims.
type Basis struct {
	claims uint64
	joins  uint64
	nodes  uint64
}

// instance is an instance as it is shown, and what it is shown by.
type instance struct {
	claim     *karpv1.NodeClaim
	catalogue *cluster.Catalogue
	is        cluster.Instance
}

// Basis says what the list would be made by now, by what is known of nodes.
func (t *Table) Basis(joins, nodes uint64) Basis { return Basis{t.round, joins, nodes} }

// IsListed reports whether the list was made by that, so that no claim has joined or left since.
func (t *Table) IsListed(by Basis) bool { return t.from == by }

// List makes the list again, without the claims that have joined.
func (t *Table) List(by Basis, joined map[string]bool) {
	var out []cluster.Instance
	for name, c := range t.claims {
		if joined[name] || leaves(c) || isToAdopt(c) || c.Status.ProviderID != "" && t.Of(c.Status.ProviderID) != c {
			continue
		}
		catalogue := t.classes.OfferedTo(c)
		shown := t.shown[name]
		if shown.claim != c || shown.catalogue != catalogue {
			var instanceTypes []cluster.InstanceType
			if catalogue != nil {
				instanceTypes = catalogue.InstanceTypes
			}
			shown = instance{c, catalogue, translate.Instance(c, instanceTypes, t.ClusterAutoscaler)}
			t.shown[name] = shown
		}
		one := shown.is
		one.Replacement = one.Replacement || t.isForLeaving(c)
		out = append(out, one)
	}
	slices.SortFunc(out, func(x, y cluster.Instance) int { return cmp.Compare(x.Claim, y.Claim) })
	t.listed, t.from = out, by
}

// Listed is the list made last, by claim. It must not be written.
func (t *Table) Listed() []cluster.Instance { return slices.Clip(t.listed) }

// isToAdopt reports whether the claim takes over an instance whose node is not registered
// as its own yet. It brings nothing that is not there already.
func isToAdopt(c *karpv1.NodeClaim) bool {
	return translate.Adopts(c) && !condition.IsTrue(c, karpv1.ClaimRegistered)
}

// leaves reports whether the claim's node was there and is gone.
func leaves(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp != nil && condition.IsTrue(c, karpv1.ClaimRegistered)
}
