package disruption

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Allowed is how many nodes of a pool may go now by choice, for the one of the
// reasons that budgets allow most, and what says that it is no more.
func Allowed(s *cluster.Snapshot, id cluster.PoolID, reasons ...plan.RemovalReason) (n int64, why string) {
	pool, found := s.Pool(id)
	if !found {
		return 0, "there is no such pool"
	}
	if s.Freeze != "" {
		return 0, s.Freeze
	}
	b := budgetsOf(s)
	share := b.shares[id]
	for _, reason := range reasons {
		allowed := Allowance(&pool.Policy, reason)
		if left := max(0, allowed.Most-share.Used); left > n || why == "" {
			n, why = left, b.why(pool, allowed)
		}
	}
	for i := range b.breakers {
		if x := &b.breakers[i]; x.Counts(id) && x.Most-x.Gone < n {
			n, why = max(0, x.Most-x.Gone), stops(x)
		}
	}
	return n, why
}
