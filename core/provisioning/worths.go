package provisioning

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/supply"
)

// worths is what resources are worth: the dual prices of the least that instances for the pods left can cost.
type worths struct {
	pr *Provisioner
	*supply.Valuation
	again float64             // when so much worth is left, worths are found again
	Pools []*supply.Candidate // those that instances are launched from, see recordPools
}

// find finds what one unit of each resource is worth if instances are launched for all pods at once and only amounts
// count.
func (w *worths) find() {
	w.Worth = blend(amount.Positive(w.pr.outstanding.all.sum), w.columns())
	if !slices.ContainsFunc(w.Worth, func(w float64) bool { return w > 0 }) {
		w.Worth = w.Usual()
	}
	w.Set()
	w.again = w.pr.toPlace() / 2
}

// variant is the factor by which more of one resource is assumed when worths are found. So a resource that is nearly
// scarce is worth something too, and instances are not filled as if it were free.
const variant = 1.3

// blend returns the mean of what resources are worth when a little more of
// each in turn is asked for. No instance is worth more than its price.
func blend(demand []float64, columns []bound.Column) []float64 {
	sum := make([]float64, len(demand))
	asked := 0.0
	for i := range demand {
		if demand[i] <= 0 {
			continue
		}
		more := slices.Clone(demand)
		more[i] *= variant
		asked++
		for j, w := range bound.Cover(more, columns).Worth {
			sum[j] += w
		}
	}
	for j := range sum {
		sum[j] /= max(1, asked)
	}
	return sum
}

// columns lists what can be launched at known prices for pods that are left, each instance type once per pool, at its
// best price. Options that no pod can use do not count. Each pool is asked by one goroutine, since it keeps its answers.
func (w *worths) columns() []bound.Column {
	byPool := make([][]bound.Column, len(w.pr.Candidates)) // nothing of those that are not asked
	w.each(func(b *supply.Candidate) { byPool[b.At] = b.ColumnsOf(w.useful(b)) })
	var distinct [][]bound.Column
	for _, list := range byPool {
		if !slices.ContainsFunc(distinct, func(other []bound.Column) bool { return slices.EqualFunc(list, other, sameColumn) }) {
			distinct = append(distinct, list)
		}
	}
	return slices.Concat(distinct...)
}

func sameColumn(a, b bound.Column) bool { return a.Price == b.Price && slices.Equal(a.Has, b.Has) }

// each calls the function for every pool; in a question without a packer, only for those with an offering for some pod.
func (w *worths) each(do func(*supply.Candidate)) {
	if w.pr.Twins == nil {
		parallel.Each(len(w.Pools), func(i int) { do(w.Pools[i]) })
		return
	}
	for _, b := range w.Pools {
		if w.pr.Packer != nil || slices.ContainsFunc(w.pr.Groups, func(g *demand.Group) bool { return len(w.pr.Ask(b, g).Ways) > 0 }) {
			do(b)
		}
	}
}

// useful returns the options that can be had for some pod that is left.
func (w *worths) useful(b *supply.Candidate) bitset.Set {
	out := bitset.New(len(b.Options))
	seen := map[*supply.Lot]bool{}
	for _, g := range w.pr.Groups {
		if g.Left() == 0 {
			continue
		}
		for _, way := range w.pr.Ask(b, g).Ways {
			if !seen[way.Lot] {
				seen[way.Lot] = true
				out.Or(way.Options)
			}
		}
	}
	out.And(b.AvailableNow)
	return out
}

// Usual is what resources are worth where no price is known: a core as much as seven GiB of memory, which is true of
// prices within a factor of two.
func (w *worths) Usual() []float64 {
	out := make([]float64, w.pr.Dims.Len())
	out[amount.CPU] = 30
	for i, name := range w.pr.Dims.Resources {
		if name == quantity.NameMemory {
			out[i] = 4000 / float64(quantity.GiB)
		}
	}
	return out
}

// Set sets what options of each pool yield.
func (w *worths) Set() {
	w.each(func(b *supply.Candidate) {
		b.SetYields()
		w.pr.rateAll(b)
	})
}

// Twins knows which pools have the same offerings for pods as an earlier one, as long as pools do not change.
type Twins struct {
	Spare map[*cluster.Shape]bitset.Set // see SpareFor
}

// recordPools finds the pools that instances are launched from: all or, in a question, all but those that have the same
// offerings for every group as an earlier one, at the same cost. Of equal pools the first one is always used, so that
// nothing is missed.
func (w *worths) recordPools() {
	w.Pools = w.pr.Candidates
	if w.pr.Twins == nil || len(w.pr.Groups) == 0 {
		return
	}
	spare := w.pr.Twins.SpareFor(w.pr.Candidates, w.pr.Groups[0].Wants)
	if spare.Next(0) < 0 {
		return
	}
	spare = spare.Clone()
	for _, g := range w.pr.Groups[1:] {
		spare.And(w.pr.Twins.SpareFor(w.pr.Candidates, g.Wants))
	}
	w.Pools = nil
	for i, b := range w.pr.Candidates {
		if !spare.Has(i) || !slices.Equal(b.AvailableNow, b.Like.AvailableNow) {
			w.Pools = append(w.Pools, b)
		}
	}
}

// SpareFor returns the pools with the same offerings as an earlier one, at the same cost, for pods that want this of
// nodes. The set must not be written. An earlier pool does not count if its minValues may forbid a launch.
func (tw *Twins) SpareFor(candidates []*supply.Candidate, wants *cluster.Shape) bitset.Set {
	out, known := tw.Spare[wants]
	if !known {
		out = bitset.New(len(candidates))
		for i, b := range candidates {
			if b.Twin() && b.Weight == b.Like.Weight && !b.Like.Varied && b.OffersLikewise(wants) {
				out.Add(i)
			}
		}
		tw.Spare[wants] = out
	}
	return out
}
