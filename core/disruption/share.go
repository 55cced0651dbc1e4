package disruption

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
)

// Share is how the nodes of one pool count for its disruption budgets.
type Share struct {
	Nodes int64 // those that percentages are of
	Used  int64 // those that are going already or not ready, and so use a budget up
}

// Against says of a pool how many of its nodes may be going at once, and what says so, beside those
// that are. A limit that lets none go whatever the numbers is reported alone.
func (s Share) Against(pool cluster.PoolID, allowed cluster.Allowance) string {
	note := ""
	if allowed.Note != "" {
		note = " (" + allowed.Note + ")"
	}
	switch {
	case allowed.Closed != "":
		return allowed.Closed
	case s.Nodes == 0:
		return fmt.Sprintf("%s has no nodes that could go", pool)
	case allowed.Most == 0:
		return fmt.Sprintf("no node of %s may go now%s", pool, note)
	}
	nodes := "nodes"
	if s.Nodes == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("of the %d %s of %s %d"+byBudget+"%d may be%s", s.Nodes, nodes, pool, s.Used, allowed.Most, note)
}

// Shares counts the nodes of every pool for its budgets. Nodes that are not initialised yet do not
// count, nor do those whose instance is being terminated: nothing of them can be disturbed any
// more. This is the only such count; the last check before a removal is written uses it too.
func Shares(nodes []cluster.Node) map[cluster.PoolID]Share {
	out := map[cluster.PoolID]Share{}
	for i := range nodes {
		n := &nodes[i]
		if n.Claim == "" || !n.Initialized || n.InstanceEnds {
			continue
		}
		share := out[n.Pool]
		share.Nodes++
		if n.Deleting || !n.Ready {
			share.Used++
		}
		out[n.Pool] = share
	}
	return out
}
