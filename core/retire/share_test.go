package retire_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/retire"
)

// SC-286: what counts for budgets.
func TestSharesCount(t *testing.T) {
	pool := cluster.PoolID{Kind: "NodePool", Name: "default"}
	ours := func(change func(*cluster.Node)) cluster.Node {
		n := cluster.Node{Name: "n", Claim: "c", Pool: pool, Ready: true, Initialized: true}
		change(&n)
		return n
	}
	tests := map[string]struct {
		node cluster.Node
		want retire.Share
	}{
		"a node at work, which uses nothing":         {ours(func(*cluster.Node) {}), retire.Share{Nodes: 1}},
		"a node that is going":                       {ours(func(n *cluster.Node) { n.Deleting = true }), retire.Share{Nodes: 1, Used: 1}},
		"a node that is not ready":                   {ours(func(n *cluster.Node) { n.Ready = false }), retire.Share{Nodes: 1, Used: 1}},
		"a node that is both once":                   {ours(func(n *cluster.Node) { n.Deleting, n.Ready = true, false }), retire.Share{Nodes: 1, Used: 1}},
		"no node that has not started yet":           {ours(func(n *cluster.Node) { n.Initialized = false }), retire.Share{}},
		"no node whose machine is being given back":  {ours(func(n *cluster.Node) { n.Deleting, n.MachineEnds = true, true }), retire.Share{}},
		"no node that is not ours, whatever it says": {ours(func(n *cluster.Node) { n.Claim = "" }), retire.Share{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := retire.Shares([]cluster.Node{tt.node})[pool]; got != tt.want {
				t.Errorf("the node counts as %+v, want %+v", got, tt.want)
			}
		})
	}
}
