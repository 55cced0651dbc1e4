package demand

import (
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// State is what core/scheduling and core/provisioning look at together while they find places.
type State struct {
	*Demand
	Candidates []*supply.Candidate // heaviest pool first
	Values     *supply.Valuation
	Board      *topology.Board // where pods are
	Dims       amount.Dims
	Effort     *effort.Count
	Limits     *supply.Limits // nil: nothing is limited
}
