package supply

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/parallel"
)

// Ready keeps what follows from the pools, daemons and catalogues of a snapshot alone, whatever pods wait and
// whatever nodes there are, for further calls in one decision. Answers are the same with and without it. It is
// safe for concurrent use.
type Ready struct {
	*feasibility.Ready
	pools []prepared
	alike parallel.Once[[]int] // by pool: the first that has the same options
}

// prepared is what is kept of one pool.
type prepared struct {
	outset  parallel.Once[outset]
	aspects parallel.Once[aspects]
	kept    kept // of this pool and those with the same options
}

// kept is what is kept of pools with the same options.
type kept struct {
	rooms     parallel.Known[roomsTable] // see RoomsAmong
	frontiers parallel.Known[bitset.Set] // see Frontier
}

// outset is what holds for a pool's options before anything is launched.
type outset struct {
	AvailableNow bitset.Set
	risky        bool // interruptions of some spot offerings are expected
	limited      bool // only so many instances of some options can be launched
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

// Prepare returns the Ready of the snapshot, and of those made from it that share its pools and daemons. It
// computes nothing before it is asked.
func Prepare(s *cluster.Snapshot) *Ready {
	return &Ready{Ready: feasibility.Prepare(s), pools: make([]prepared, len(s.Pools))}
}

// keptOf returns what is kept for the pool; pools with the same options share it.
func (o *Ready) keptOf(pool int) *kept {
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
	return &o.pools[alike[pool]].kept
}

// sameOptions reports whether the options of two pools are the same, by their numbers.
func sameOptions(p, q *feasibility.Pool) bool {
	return p.Catalogue == q.Catalogue && !parted(p) && !parted(q) && slices.Equal(p.Options, q.Options)
}

// parted reports whether the pool has several of some instance type.
func parted(p *feasibility.Pool) bool {
	return p.Catalogue != nil && len(p.Kinds) > len(p.Catalogue.InstanceTypes)
}
