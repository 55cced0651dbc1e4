package retire

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// leaderless says why the nodes must not all go, since no replica of the
// controller would be left to act; empty: they may, or it is not on them. The
// node of the only replica is no reason to keep what goes in any event: nobody
// could ever take over.
func (x *Search) leaderless(nodes []*candidate, inAnyEvent bool) string {
	at := slices.IndexFunc(nodes, func(c *candidate) bool { return c.Controller != cluster.NoSeat })
	switch {
	case at < 0 || x.standby(nodes):
		return ""
	case nodes[at].Controller == cluster.OneSeat:
		return "a replica of the controller runs on it, and no other that is ready is on a node that stays"
	case inAnyEvent:
		return ""
	}
	return "the controller runs on it, and has no other replica to take over; with two on different nodes it could go"
}

// standby reports whether a replica of the controller stays when the nodes go.
func (x *Search) standby(nodes []*candidate) bool {
	for i := range x.snapshot.Nodes {
		n := &x.snapshot.Nodes[i]
		goes := n.Deleting || x.gone[i] || slices.ContainsFunc(nodes, func(c *candidate) bool { return c.at == i })
		if n.Controller != cluster.NoSeat && !goes {
			return true
		}
	}
	return false
}

// sparing leaves nodes out until one with the controller stays.
func (x *Search) sparing(nodes []*candidate) []*candidate {
	for {
		why := x.leaderless(nodes, false)
		if why == "" {
			return nodes
		}
		at := slices.IndexFunc(nodes, func(c *candidate) bool { return c.Controller != cluster.NoSeat })
		noteBy(nodes[at:at+1], plan.KeptByRule, why)
		nodes = slices.Delete(slices.Clone(nodes), at, at+1)
	}
}
