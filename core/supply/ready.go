package supply

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/parallel"
)

// Ready keeps what follows from the pools, daemons and catalogues of a snapshot alone, whatever pods wait and
// whatever nodes there are, for further calls in one decision. Answers are the same with and without it. It is
// safe for concurrent use.
type Ready struct {
	*feasibility.Ready
	pools  []prepared
	alike  *parallel.Once[[]int] // by pool: the first that has the same options
	quotas []cluster.Quota
}

// prepared is what is kept of one pool and, of the first of pools with the same options, for all of them.
type prepared struct {
	outset  parallel.Once[outset]
	aspects parallel.Once[aspects]
	ofKind  parallel.Once[[][]int] // see optionsOf
	charges parallel.Once[*charges]
	common  parallel.Known[common] // by the resources that pods request, and those that the pool limits
}

// outset is what holds for a pool's options before anything is launched.
type outset struct {
	risky   bool // interruptions of some spot offerings are expected
	limited bool // only so many instances of some options can be launched
}

func outsetOf(p *feasibility.Pool) *outset {
	out := &outset{}
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
	pools := make([]prepared, len(s.Pools))
	return &Ready{Ready: feasibility.Prepare(s), pools: pools, alike: &parallel.Once[[]int]{}, quotas: s.Quotas}
}

// WithUsage returns the Ready of pools that differ from those only in what their nodes use of limits. They share what
// is kept.
func (o *Ready) WithUsage(pools []cluster.Pool) *Ready {
	return &Ready{Ready: o.Ready.WithUsage(pools), pools: o.pools, alike: o.alike, quotas: o.quotas}
}

// Knows reports whether the snapshot has the pools and daemons that were prepared, and as many quotas.
func (o *Ready) Knows(s *cluster.Snapshot) bool {
	return o.Ready.Knows(s) && len(o.quotas) == len(s.Quotas)
}

// kept returns what is kept for the pool; pools with the same options share it.
func (o *Ready) kept(pool int) *prepared {
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
	return &o.pools[alike[pool]]
}

// sameOptions reports whether two pools have the same options at the same prices, and these leave pods as much.
func sameOptions(p, q *feasibility.Pool) bool {
	return p.Catalogue == q.Catalogue && !parted(p) && !parted(q) && p.PerInstance() == q.PerInstance() && slices.Equal(p.Options, q.Options) &&
		slices.EqualFunc(p.Kinds, q.Kinds, func(x, y feasibility.Space) bool {
			return x.Of == y.Of && x.Free.Equal(y.Free) && x.Daemons.Equal(y.Daemons)
		})
}

// parted reports whether the pool has several of some instance type.
func parted(p *feasibility.Pool) bool {
	return p.Catalogue != nil && len(p.Kinds) > len(p.Catalogue.InstanceTypes)
}
