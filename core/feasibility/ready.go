package feasibility

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/parallel"
)

// Ready is what ForPools finds out of pools and daemons, kept for further questions about the same
// ones: the snapshots of one decision share both. It is made at the first question. Safe for
// concurrent use.
type Ready struct {
	pools   []cluster.Pool
	daemons []cluster.Daemon
	made    *parallel.Once[[]*Pool]
}

// Prepare is for the pools and daemons of the snapshot, which are not written any more.
func Prepare(s *cluster.Snapshot) *Ready {
	return &Ready{pools: s.Pools, daemons: s.Daemons, made: &parallel.Once[[]*Pool]{}}
}

// WithUsage returns the same for pools that differ from those only in what their nodes use of limits.
func (r *Ready) WithUsage(pools []cluster.Pool) *Ready {
	return &Ready{pools: pools, daemons: r.daemons, made: r.made}
}

// Knows reports whether the snapshot has the pools and daemons that were prepared: the
// very same lists, not others with as much in them.
func (r *Ready) Knows(s *cluster.Snapshot) bool {
	return r != nil && identical(r.pools, s.Pools) && identical(r.daemons, s.Daemons)
}

func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ForPools is the function of that name for what was prepared. Answers that the pools keep
// are those of one caller.
func (r *Ready) ForPools() []*Pool {
	made := *r.made.Get(func() *[]*Pool {
		all := ForPools(r.pools, r.daemons)
		return &all
	})
	out := make([]*Pool, len(made))
	for i, p := range made {
		own := *p
		own.Pool = &r.pools[i]
		own.keepAnswers()
		out[i] = &own
	}
	return out
}

// keepAnswers makes room for answers.
func (p *Pool) keepAnswers() {
	p.terms, p.matches, p.columns = map[*cluster.Shape]answer{}, map[string]bitset.Set{}, map[string]*cluster.Column{}
	p.values, p.nearKeys, p.free = map[string][]string{}, map[string]string{}, map[string][]int64{}
}
