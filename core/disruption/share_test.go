package disruption_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
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
		want disruption.Share
	}{
		"a node at work, which uses nothing":         {ours(func(*cluster.Node) {}), disruption.Share{Nodes: 1}},
		"a node that is going":                       {ours(func(n *cluster.Node) { n.Deleting = true }), disruption.Share{Nodes: 1, Used: 1}},
		"a node that is not ready":                   {ours(func(n *cluster.Node) { n.Ready = false }), disruption.Share{Nodes: 1, Used: 1}},
		"a node that is both once":                   {ours(func(n *cluster.Node) { n.Deleting, n.Ready = true, false }), disruption.Share{Nodes: 1, Used: 1}},
		"no node that has not started yet":           {ours(func(n *cluster.Node) { n.Initialized = false }), disruption.Share{}},
		"no node whose machine is being given back":  {ours(func(n *cluster.Node) { n.Deleting, n.InstanceEnds = true, true }), disruption.Share{}},
		"no node that is not ours, whatever it says": {ours(func(n *cluster.Node) { n.Claim = "" }), disruption.Share{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := disruption.Shares([]cluster.Node{tt.node})[pool]; got != tt.want {
				t.Errorf("the node counts as %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSharesReportWhatAllowsNoMore(t *testing.T) {
	pool := cluster.PoolID{Kind: "NodePool", Name: "web"}
	ten := cluster.Allowance{Most: 1, Note: "budget nodes: 10%"}
	tests := map[string]struct {
		share   disruption.Share
		allowed cluster.Allowance
		want    string
	}{
		"by numbers":                        {disruption.Share{Nodes: 3, Used: 1}, ten, "of the 3 nodes of NodePool/web 1 are going or not ready, and no more than 1 may be (budget nodes: 10%)"},
		"of a single node":                  {disruption.Share{Nodes: 1, Used: 1}, ten, "of the 1 node of NodePool/web 1 are going or not ready, and no more than 1 may be (budget nodes: 10%)"},
		"where no budget is named":          {disruption.Share{Nodes: 3, Used: 1}, cluster.Allowance{Most: 1}, "of the 3 nodes of NodePool/web 1 are going or not ready, and no more than 1 may be"},
		"where a budget lets none go":       {disruption.Share{Nodes: 3, Used: 1}, cluster.Allowance{Note: "budget nodes: 0"}, "no node of NodePool/web may go now (budget nodes: 0)"},
		"of a pool without nodes":           {disruption.Share{}, cluster.Allowance{Note: "budget nodes: 10%"}, "NodePool/web has no nodes that could go"},
		"by one word where that keeps all":  {disruption.Share{Nodes: 1}, cluster.Allowance{Closed: "the roll of NodePool/web is paused"}, "the roll of NodePool/web is paused"},
		"by that word where there are none": {disruption.Share{}, cluster.Allowance{Closed: "no window is open"}, "no window is open"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.share.Against(pool, tt.allowed); got != tt.want {
				t.Errorf("%+v against %+v says\n%s, want\n%s", tt.share, tt.allowed, got, tt.want)
			}
		})
	}
}
