package planner

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Events say on nodes why they stay, in Karpenter's words; that of a budget is on the pool,
// and waiting has none.
func TestNodesHearWhyTheyStay(t *testing.T) {
	pool := cluster.PoolID{Kind: "NodePool", Name: "default"}
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n1", Claim: "c1", Pool: pool}, {Name: "n2", Claim: "c2", Pool: pool}}}
	kept := func(node string, reason plan.RemovalReason, by plan.KeptBy, why string) plan.Kept {
		return plan.Kept{Node: node, Reason: reason, By: by, Why: why}
	}
	tests := map[string]struct {
		kept []plan.Kept
		want string
	}{
		"nothing is saved": {[]plan.Kept{kept("n1", plan.Underutilized, plan.KeptByFinding, "nothing is saved")},
			"Unconsolidatable: nothing is saved\nUnconsolidatable: nothing is saved"},
		"no place for the pods of a drifted node": {[]plan.Kept{kept("n1", plan.Drifted, plan.KeptByFinding, "no place for its pods")},
			"DisruptionBlocked: Cannot disrupt Node: Drifted: no place for its pods\nDisruptionBlocked: Cannot disrupt Node: Drifted: no place for its pods"},
		"a pod that must not be disturbed": {[]plan.Kept{kept("n1", plan.Underutilized, plan.KeptByRule, "pod default/a carries do-not-disrupt")},
			"DisruptionBlocked: Cannot disrupt Node: Underutilized: pod default/a carries do-not-disrupt\n" +
				"DisruptionBlocked: Cannot disrupt Node: Underutilized: pod default/a carries do-not-disrupt"},
		"SC-327 its pool lets no such node go": {[]plan.Kept{kept("n1", plan.Empty, plan.KeptByPool, "NodePool/default lets no node go to save money")},
			"Unconsolidatable: NodePool/default lets no node go to save money\nUnconsolidatable: NodePool/default lets no node go to save money"},
		"a budget, once for the pool": {[]plan.Kept{kept("n1", plan.Empty, plan.KeptByBudget, "budget nodes: 0"), kept("n2", plan.Empty, plan.KeptByBudget, "budget nodes: 0")},
			"DisruptionBlocked: No allowed disruptions for Empty: budget nodes: 0"},
		"too early":             {[]plan.Kept{kept("n1", plan.Underutilized, plan.KeptByTime, "pods came lately")}, ""},
		"a node that went away": {[]plan.Kept{kept("n9", plan.Empty, plan.KeptByRule, "it carries do-not-disrupt")}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reported, events, _ := recorder()
			reported.Explain(s, plan.Plan{Kept: tt.kept})
			if got := events.since(); got != tt.want {
				t.Errorf("told:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}
