package plancmd

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
)

// allowedJSON is how many nodes of a pool may go by choice now, before anything of
// the plan is done.
type allowedJSON struct {
	Pool    string `json:"pool"`
	Allowed int64  `json:"allowed"`
	Because string `json:"because"`
}

// allowedOf lists what budgets, policies and a freeze allow of each pool that has
// nodes.
func allowedOf(s *cluster.Snapshot) []allowedJSON {
	shares := disruption.Shares(s.Nodes)
	out := []allowedJSON{}
	for i := range s.Pools {
		id := s.Pools[i].ID
		if shares[id].Nodes == 0 {
			continue
		}
		n, why := disruption.Allowed(s, id, plan.Empty, plan.Drifted, plan.Underutilized)
		out = append(out, allowedJSON{id.String(), n, why})
	}
	return out
}
