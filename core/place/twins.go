package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
)

// setTwins finds pools that offer the same for the same.
func setTwins(candidates []*candidate) {
	for i, b := range candidates {
		if !b.steady() {
			continue
		}
		b.like = b
		for _, other := range candidates[:i] {
			if other.like == other && b.offersAs(other) {
				b.like = other
				break
			}
		}
	}
}

// twin reports whether an earlier pool offers the same for the same.
func (b *candidate) twin() bool { return b.like != nil && b.like != b }

// steady reports whether costs of the pool's options depend on nothing but these.
func (b *candidate) steady() bool { return b.whole == nil && b.credits == nil && b.limits == nil }

// offersAs reports whether two pools offer the same for the same, but for their limits and credits.
func (b *candidate) offersAs(other *candidate) bool {
	return b.Catalogue == other.Catalogue && b.PerInstance() == other.PerInstance() && !b.parted && !other.parted &&
		slices.Equal(b.Options, other.Options) && slices.EqualFunc(b.free, other.free, func(x, y []int64) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) })
}

// recordPools finds the pools that instances are launched from: all or, in a question,
// those that do not offer to every group just what an earlier one offers it for the
// same. Of equals the first is always launched from, so that nothing is missed.
func (w *worths) recordPools() {
	w.pools = w.run.candidates
	if w.run.question == nil || len(w.run.groups) == 0 {
		return
	}
	spare := w.run.question.evaluator.spareFor(w.run.groups[0].wants)
	if spare.Next(0) < 0 {
		return
	}
	spare = spare.Clone()
	for _, g := range w.run.groups[1:] {
		spare.And(w.run.question.evaluator.spareFor(g.wants))
	}
	w.pools = nil
	for i, b := range w.run.candidates {
		if !spare.Has(i) || !slices.Equal(b.available, b.like.available) {
			w.pools = append(w.pools, b)
		}
	}
}

// spareFor returns the pools that offer pods what an earlier one offers them for the
// same, as far as what the pods want of nodes says; not to be written. One whose
// minValues may keep it from selling is no such earlier one.
func (d *evaluator) spareFor(wants *cluster.Shape) bitset.Set {
	out, known := d.spare[wants]
	if !known {
		out = bitset.New(len(d.run.candidates))
		for i, b := range d.run.candidates {
			if b.twin() && b.Weight == b.like.Weight && !b.like.varied && b.offersLikewise(wants) {
				out.Add(i)
			}
		}
		d.spare[wants] = out
	}
	return out
}

// offersLikewise reports whether pods may have the same of the pool as of its twin,
// whatever they are joined with.
func (b *candidate) offersLikewise(wants *cluster.Shape) bool {
	mine, _ := b.Terms(wants)
	theirs, _ := b.like.Terms(wants)
	return feasibility.Avoided(b.Taints, wants.Tolerations) == feasibility.Avoided(b.like.Taints, wants.Tolerations) &&
		slices.EqualFunc(mine, theirs, func(x, y feasibility.Term) bool {
			return len(x.Custom) == 0 && len(y.Custom) == 0 && slices.Equal(x.Options, y.Options)
		})
}
