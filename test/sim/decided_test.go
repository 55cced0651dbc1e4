package sim_test

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
)

// decided is a whole plan, made without a search for cheaper instances.
func decided(s *cluster.Snapshot) plan.Plan {
	effort := decide.Quick()
	effort.Disruption = decide.DisruptionQuestions
	return decide.Decide(s, decide.Policy{}, effort)
}
