package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
)

// setTwins finds pools that offer the same for the same.
func setTwins(candidates []*supply.Candidate) {
	for i, b := range candidates {
		if !b.Steady() {
			continue
		}
		b.Like = b
		for _, other := range candidates[:i] {
			if other.Like == other && b.OffersAs(other) {
				b.Like = other
				break
			}
		}
	}
}

// twins knows which pools offer pods just what an earlier one offers them, as long as pools stay as they are.
type twins struct {
	spare map[*cluster.Shape]bitset.Set // see spareFor
}

// recordPools finds the pools that instances are launched from: all or, in a question,
// those that do not offer to every group just what an earlier one offers it for the
// same. Of equals the first is always launched from, so that nothing is missed.
func (w *worths) recordPools() {
	w.pools = w.pr.candidates
	if w.pr.twins == nil || len(w.pr.groups) == 0 {
		return
	}
	spare := w.pr.twins.spareFor(w.pr.candidates, w.pr.groups[0].Wants)
	if spare.Next(0) < 0 {
		return
	}
	spare = spare.Clone()
	for _, g := range w.pr.groups[1:] {
		spare.And(w.pr.twins.spareFor(w.pr.candidates, g.Wants))
	}
	w.pools = nil
	for i, b := range w.pr.candidates {
		if !spare.Has(i) || !slices.Equal(b.AvailableNow, b.Like.AvailableNow) {
			w.pools = append(w.pools, b)
		}
	}
}

// spareFor returns the pools that offer pods what an earlier one offers them for the
// same, as far as what the pods want of nodes says; not to be written. One whose
// minValues may keep it from selling is no such earlier one.
func (tw *twins) spareFor(candidates []*supply.Candidate, wants *cluster.Shape) bitset.Set {
	out, known := tw.spare[wants]
	if !known {
		out = bitset.New(len(candidates))
		for i, b := range candidates {
			if b.Twin() && b.Weight == b.Like.Weight && !b.Like.Varied && b.OffersLikewise(wants) {
				out.Add(i)
			}
		}
		tw.spare[wants] = out
	}
	return out
}
