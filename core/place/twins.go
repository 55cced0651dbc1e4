package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
)

// setTwins finds pools that sell the same for the same.
func setTwins(buyers []*buyer) {
	for i, b := range buyers {
		if !b.steady() {
			continue
		}
		b.like = b
		for _, other := range buyers[:i] {
			if other.like == other && b.sellsAs(other) {
				b.like = other
				break
			}
		}
	}
}

// twin reports whether an earlier pool sells the same for the same.
func (b *buyer) twin() bool { return b.like != nil && b.like != b }

// steady reports whether costs of the pool's options depend on nothing but these.
func (b *buyer) steady() bool { return b.whole == nil && b.credits == nil && b.limits == nil }

// sellsAs reports whether two pools sell the same for the same, but for their limits and credits.
func (b *buyer) sellsAs(other *buyer) bool {
	return b.Catalogue == other.Catalogue && b.PerMachine() == other.PerMachine() && !b.parted && !other.parted &&
		slices.Equal(b.Options, other.Options) && slices.EqualFunc(b.free, other.free, func(x, y []int64) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) })
}

// noteSellers finds the pools that machines are bought from: all or, in a question,
// those that do not sell to every row just what an earlier one sells it for the
// same. Of equals the first is always bought from, so that nothing is missed.
func (r *run) noteSellers() {
	r.sellers = r.buyers
	if r.question == nil || len(r.groups) == 0 {
		return
	}
	spare := r.question.desk.spareFor(r.groups[0].wants)
	if spare.Next(0) < 0 {
		return
	}
	spare = spare.Clone()
	for _, g := range r.groups[1:] {
		spare.And(r.question.desk.spareFor(g.wants))
	}
	r.sellers = nil
	for i, b := range r.buyers {
		if !spare.Has(i) || !slices.Equal(b.available, b.like.available) {
			r.sellers = append(r.sellers, b)
		}
	}
}

// spareFor returns the pools that sell pods what an earlier one sells them for the
// same, as far as what the pods want of nodes says; not to be written. One whose
// minValues may keep it from selling is no such earlier one.
func (d *desk) spareFor(wants *cluster.Shape) bitset.Set {
	out, known := d.spare[wants]
	if !known {
		out = bitset.New(len(d.run.buyers))
		for i, b := range d.run.buyers {
			if b.twin() && b.Weight == b.like.Weight && !b.like.varied && b.sellsLikewise(wants) {
				out.Add(i)
			}
		}
		d.spare[wants] = out
	}
	return out
}

// sellsLikewise reports whether pods may have the same of the pool as of its twin,
// whatever they are joined with.
func (b *buyer) sellsLikewise(wants *cluster.Shape) bool {
	mine, _ := b.Terms(wants)
	theirs, _ := b.like.Terms(wants)
	return feasibility.Avoided(b.Taints, wants.Tolerations) == feasibility.Avoided(b.like.Taints, wants.Tolerations) &&
		slices.EqualFunc(mine, theirs, func(x, y feasibility.Term) bool {
			return len(x.Custom) == 0 && len(y.Custom) == 0 && slices.Equal(x.Options, y.Options)
		})
}
