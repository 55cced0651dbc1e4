package retire

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// unneeded is why an order is withdrawn.
const unneeded = "no pod waits for it any more"

// Unneeded returns the orders to withdraw, by claim: those that a plan made for
// pods which have found a place elsewhere since, or are gone, and that nobody
// has bought yet. Needed machines stay. Nothing runs on what is not there, so
// no budget counts.
func Unneeded(s *cluster.Snapshot, needed func(claim string) bool) []plan.Withdrawal {
	var out []plan.Withdrawal
	for i := range s.Machines {
		m := &s.Machines[i]
		if !m.Planned || m.Replacement || m.Launched || m.Deleting || needed(m.Claim) {
			continue
		}
		out = append(out, plan.Withdrawal{Claim: m.Claim, Pool: m.Pool, Note: unneeded})
	}
	return out
}
