package disruption

import "github.com/daemok/daemok/core/cluster"

// leaderless says why the node must not go, since no replica of the controller
// would be left to act; empty: it may, or none is on it. The node of the only
// replica is no reason to keep what goes in any event: no other could ever take
// over.
func (x *safety) leaderless(c *candidate, inAnyEvent bool) string {
	switch {
	case c.Controller == cluster.NoReplica || x.standby(c):
		return ""
	case c.Controller == cluster.OneReplica:
		return "a replica of the controller runs on it, and no other that is ready is on a node that stays"
	case inAnyEvent:
		return ""
	}
	return "the controller runs on it, and has no other replica to take over; with two on different nodes it could go"
}

// standby reports whether a replica of the controller stays when the node goes.
func (x *safety) standby(c *candidate) bool {
	for i := range x.snapshot.Nodes {
		if n := &x.snapshot.Nodes[i]; n.Controller != cluster.NoReplica && !n.Deleting && i != c.at && !x.gone[i] {
			return true
		}
	}
	return false
}
