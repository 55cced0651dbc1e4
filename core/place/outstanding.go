package place

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/supply"
)

// outstanding is what is still to be launched for. It is kept up to date instance by
// instance, since summing up all groups for each would take the square of them.
type outstanding struct {
	left  []int64          // pods of each group
	all   amounts          // of all groups
	tiers map[int]*amounts // of groups that are launched from pools of this tier and not given up
	gone  int              // how many groups in queues have nothing left, see thin
}

// amounts is what a number of pods come to.
type amounts struct {
	sum  []int64
	pods int64
}

func (a *amounts) add(g *group, n int64) {
	amount.Take(a.sum, g.need, -n)
	a.pods += n
}

func (a *amounts) clone() *amounts { return &amounts{slices.Clone(a.sum), a.pods} }

// newOutstanding sums up the groups, none of which has a tier yet.
func (pr *provisioner) newOutstanding() outstanding {
	out := outstanding{left: make([]int64, len(pr.run.groups)), tiers: map[int]*amounts{}, all: amounts{sum: make([]int64, pr.run.dims.Len())}}
	for i, g := range pr.run.groups {
		out.left[i] = g.left()
		out.all.add(g, g.left())
	}
	return out
}

// of returns what is to be launched from pools of the tier.
func (d *outstanding) of(tier int) *amounts {
	a := d.tiers[tier]
	if a == nil {
		a = &amounts{sum: make([]int64, len(d.all.sum))}
		d.tiers[tier] = a
	}
	return a
}

// move makes pools of the tier those that the group is launched from.
func (d *outstanding) move(g *group, tier int) {
	if g.counted {
		d.of(g.home).add(g, -d.left[g.at])
	}
	g.home, g.counted = tier, true
	d.of(tier).add(g, d.left[g.at])
}

// take notes that n pods of the group were launched for.
func (d *outstanding) take(g *group, n int64) {
	if d.left[g.at] -= n; d.left[g.at] == 0 {
		d.gone++
	}
	d.all.add(g, -n)
	if g.counted {
		d.of(g.home).add(g, -n)
	}
}

// giveUp notes that no instance can be had for the rest of the group: none
// grows for it.
func (d *outstanding) giveUp(g *group) {
	if g.counted {
		d.of(g.home).add(g, -d.left[g.at])
		g.counted = false
	}
}

// part is n of the group's pods on an instance, the first of which takes so much beyond its own amounts.
func (g *group) part(w *supply.Way, n int64, first []int64) supply.Part {
	return supply.Part{Group: g.at, N: n, Way: w, First: first, Ports: g.podClass.ports, Rules: g.level.rules}
}
