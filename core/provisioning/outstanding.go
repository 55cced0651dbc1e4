package provisioning

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
)

// outstanding is the pods that instances are still to be launched for. It is updated with every instance, since summing
// up all groups for each instance would take quadratic time.
type outstanding struct {
	left  []int64          // pods of each group
	all   amounts          // of all groups
	tiers map[int]*amounts // of groups that are launched from pools of this tier and not given up
	gone  int              // how many groups in queues have no pods left, see thin
}

// amounts is what a number of pods need together.
type amounts struct {
	sum  []int64
	pods int64
}

func (a *amounts) add(g *demand.Group, n int64) {
	amount.Take(a.sum, g.Need, -n)
	a.pods += n
}

func (a *amounts) clone() *amounts { return &amounts{slices.Clone(a.sum), a.pods} }

// SumUp makes all pods that the groups have left outstanding. No group counts for a tier yet.
func (pr *Provisioner) SumUp() {
	out := outstanding{left: make([]int64, len(pr.Groups)), tiers: map[int]*amounts{}, all: amounts{sum: make([]int64, pr.Dims.Len())}}
	for i, g := range pr.Groups {
		out.left[i] = g.Left()
		out.all.add(g, g.Left())
	}
	pr.outstanding = out
}

// of returns what is outstanding from pools of the tier.
func (d *outstanding) of(tier int) *amounts {
	a := d.tiers[tier]
	if a == nil {
		a = &amounts{sum: make([]int64, len(d.all.sum))}
		d.tiers[tier] = a
	}
	return a
}

// move makes pools of the tier those that the group is launched from.
func (d *outstanding) move(g *demand.Group, tier int) {
	if g.Counted {
		d.of(g.Home).add(g, -d.left[g.At])
	}
	g.Home, g.Counted = tier, true
	d.of(tier).add(g, d.left[g.At])
}

// take records that an instance is launched for n pods of the group.
func (d *outstanding) take(g *demand.Group, n int64) {
	if d.left[g.At] -= n; d.left[g.At] == 0 {
		d.gone++
	}
	d.all.add(g, -n)
	if g.Counted {
		d.of(g.Home).add(g, -n)
	}
}

// giveUp records that no instance can be launched for the rest of the group, so that none grows for it.
func (d *outstanding) giveUp(g *demand.Group) {
	if g.Counted {
		d.of(g.Home).add(g, -d.left[g.At])
		g.Counted = false
	}
}
