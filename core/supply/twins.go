package supply

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"slices"
)

// Twin reports whether an earlier pool offers the same for the same.
func (b *Candidate) Twin() bool { return b.Like != nil && b.Like != b }

// Steady reports whether costs of the pool's options depend on nothing but these.
func (b *Candidate) Steady() bool { return b.Whole == nil && b.Credits == nil && b.Remaining == nil }

// OffersAs reports whether two pools offer the same for the same, but for their limits and credits.
func (b *Candidate) OffersAs(other *Candidate) bool {
	return b.Catalogue == other.Catalogue && b.PerInstance() == other.PerInstance() && !b.Parted && !other.Parted &&
		slices.Equal(b.Options, other.Options) && slices.EqualFunc(b.Free, other.Free, func(x, y []int64) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) })
}

// OffersLikewise reports whether pods may have the same of the pool as of its twin,
// whatever they are joined with.
func (b *Candidate) OffersLikewise(wants *cluster.Shape) bool {
	mine, _ := b.Terms(wants)
	theirs, _ := b.Like.Terms(wants)
	return feasibility.Avoided(b.Taints, wants.Tolerations) == feasibility.Avoided(b.Like.Taints, wants.Tolerations) &&
		slices.EqualFunc(mine, theirs, func(x, y feasibility.Term) bool {
			return len(x.Custom) == 0 && len(y.Custom) == 0 && slices.Equal(x.Options, y.Options)
		})
}
