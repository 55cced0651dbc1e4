package provisioning

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
	"slices"
)

// Twins knows which pools offer pods just what an earlier one offers them, as long as pools stay as they are.
type Twins struct {
	Spare map[*cluster.Shape]bitset.Set // see spareFor
}

// recordPools finds the pools that instances are launched from: all or, in a question,
// those that do not offer to every group just what an earlier one offers it for the
// same. Of equals the first is always launched from, so that nothing is missed.
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

// SpareFor returns the pools that offer pods what an earlier one offers them for the
// same, as far as what the pods want of nodes says; not to be written. One whose
// minValues may keep it from selling is no such earlier one.
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
