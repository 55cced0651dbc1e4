package retire

import (
	"cmp"

	"github.com/daemok/daemok/core/cluster"
)

// payback is what a move of the nodes must save: what their pools ask for and,
// where these say nothing, what the controller is set to. Of several pools the
// strictest counts.
func (x *Search) payback(nodes []*candidate) Payback {
	out := x.options.Payback.of(&nodes[0].pool.Policy)
	for _, c := range nodes[1:] {
		out = out.and(x.options.Payback.of(&c.pool.Policy))
	}
	return out
}

// of is what a pool asks for.
func (p Payback) of(pool *cluster.Policy) Payback {
	if said := pool.Payback; said != (cluster.Payback{}) {
		p.Off = said.Off
		p.PodDollars = cmp.Or(said.PodDollars, p.PodDollars)
		p.LeastShare = cmp.Or(said.LeastShare, p.LeastShare)
	}
	return p.filled()
}

// and is what must be saved where both must be kept.
func (p Payback) and(q Payback) Payback {
	switch {
	case p.Off:
		return q
	case q.Off:
		return p
	}
	p.PodDollars, p.LeastShare = max(p.PodDollars, q.PodDollars), max(p.LeastShare, q.LeastShare)
	return p
}
