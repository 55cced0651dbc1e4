package disruption

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Why a launch is withdrawn.
const (
	unneeded  = "no pod waits for it any more"
	elsewhere = "the pods that wait for it have places elsewhere"
	noPods    = "no pod waits for a node, and the claim does not say for which it was made"
)

// Unneeded returns the launches to withdraw, by claim: those that a plan made for pods which have found a place
// elsewhere since, or are gone, and whose instance does not exist yet. Needed instances stay, and so does what cannot
// be judged: instances of which it is not known what they may become, and, while any pod waits, those of which it is
// not known for which pods they were launched. Nothing runs on what is not there, so no budget counts. Beside what the
// plan launches, a pool keeps its minimum of on-demand nodes.
func Unneeded(s *cluster.Snapshot, needed map[string]bool, launches []plan.Launch) []plan.Withdrawal {
	var out []plan.Withdrawal
	balances := balancesOf(s)
	balances.launch(launches)
	static := map[cluster.PoolID]bool{} // pods decide nothing about their instances
	for i := range s.Pools {
		static[s.Pools[i].ID] = s.Pools[i].Static()
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		if !m.Planned || m.Replacement || m.Launched || m.Deleting || needed[m.Claim] || static[m.Pool] {
			continue
		}
		if m.TypesUnknown || m.PurposeUnknown && len(s.Waiting) > 0 || !balances.mayWithdraw(m) {
			continue
		}
		out = append(out, plan.Withdrawal{Claim: m.Claim, Pool: m.Pool, Note: whyUnneeded(m)})
	}
	return out
}

func whyUnneeded(m *cluster.Instance) string {
	switch {
	case m.PurposeUnknown:
		return noPods
	case len(m.LaunchedFor) > 0:
		return elsewhere
	}
	return unneeded
}
