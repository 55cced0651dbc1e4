package disruption

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Due counts the nodes that have a reason to go now and nothing of their own against
// it, by that reason: whatever budgets, pods that wait, places and prices say. A
// node counts for the first of too old, empty, drifted and quiet for long enough
// to go to save money.
func Due(s *cluster.Snapshot) map[plan.RemovalReason]int {
	due := map[plan.RemovalReason]int{plan.Expired: 0, plan.Empty: 0, plan.Drifted: 0, plan.Underutilized: 0}
	pdbs := PDBsOf(s.PDBs)
	for _, c := range candidates(s) {
		reason, ok := c.reason(s)
		if ok && (reason == plan.Expired && !c.ExpiresAt.IsZero() || c.hindrance(s, pdbs, reason) == "") {
			due[reason]++
		}
	}
	return due
}

// reason is the first that the node has to go now.
func (c *candidate) reason(s *cluster.Snapshot) (reason plan.RemovalReason, ok bool) {
	quiet, may := quietDue(c)
	switch may = may && !quiet.After(s.Now); {
	case !c.ExpiresAt.IsZero() && !orderAt(c).After(s.Now):
		return plan.Expired, true
	case may && IsEmpty(c.Node):
		return plan.Empty, true
	case c.outlived(s.Now):
		return plan.Expired, true
	case c.Drifted != "":
		return plan.Drifted, true
	case may && c.pool.Policy.Consolidate != cluster.WhenEmpty:
		return plan.Underutilized, true
	}
	return "", false
}
