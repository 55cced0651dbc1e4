package supply

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/parallel"
)

// Ready is what Place works out of the pools, the daemons and the catalogues of a snapshot
// alone, kept for further calls in one decision. Whatever pods wait and whatever nodes
// there are: answers are the same with and without it. Safe for concurrent use.
type Ready struct {
	*feasibility.Ready
	pools []prepared
	alike parallel.Once[[]int] // by pool: the first that has the same options
}

// prepared is what is kept of one pool.
type prepared struct {
	outset  parallel.Once[outset]
	aspects parallel.Once[aspects]
	rooms   parallel.Known[roomsTable] // see roomsAmong
}

// outset is what is true of a pool's options before anything is placed.
type outset struct {
	AvailableNow bitset.Set
	risky        bool // interruptions of some spot offerings are expected
	limited      bool // there are so many of some only
}

func outsetOf(p *feasibility.Pool) *outset {
	out := &outset{AvailableNow: p.Available()}
	for _, o := range p.Options {
		offering := p.Offering(o)
		out.risky = out.risky || offering.Ranked() > offering.Price
		out.limited = out.limited || len(offering.ReservedCapacities) > 0
	}
	return out
}

// Prepare makes one for the snapshot and those made from it that share its pools and
// daemons. It costs nothing until it is asked for.
func Prepare(s *cluster.Snapshot) *Ready {
	return &Ready{Ready: feasibility.Prepare(s), pools: make([]prepared, len(s.Pools))}
}

// roomsOf returns what is kept of rooms for the pool: the same for pools that have the same
// options.
func (o *Ready) roomsOf(pool int) *parallel.Known[roomsTable] {
	alike := *o.alike.Get(func() *[]int {
		pools := o.ForPools()
		out, firsts := make([]int, len(pools)), []int(nil)
		for i, p := range pools {
			at := slices.IndexFunc(firsts, func(first int) bool { return sameOptions(p, pools[first]) })
			if at < 0 {
				at, firsts = len(firsts), append(firsts, i)
			}
			out[i] = firsts[at]
		}
		return &out
	})
	return &o.pools[alike[pool]].rooms
}

// sameOptions reports whether the options of two pools are the same, by their numbers.
func sameOptions(p, q *feasibility.Pool) bool {
	return p.Catalogue == q.Catalogue && !parted(p) && !parted(q) && slices.Equal(p.Options, q.Options)
}

// parted reports whether the pool has several of some instance type.
func parted(p *feasibility.Pool) bool {
	return p.Catalogue != nil && len(p.Kinds) > len(p.Catalogue.InstanceTypes)
}
