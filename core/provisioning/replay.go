package provisioning

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/supply"
)

// taking is pods of a group that an instance is launched for.
type taking struct {
	Group *demand.Group
	Pods  []demand.WaitingPod
}

// Launched is an instance that is ordered, as a place for other pods to count.
type Launched struct {
	Candidate          *supply.Candidate
	Ways               []constraint.Labels // that it may have; see listing
	Due                supply.Due
	Cost               float64                    // what counts when instances are compared; 0 where the price is not known
	Risk               float64                    // of that: what interruptions are likely to cost
	Unpriced           float64                    // see Result
	Free               []int64                    // left for pods, whichever instance type it becomes
	Place              int                        // on the board
	Options            bitset.Set                 // that it may become
	Limited            quantity.Resources         // what the pool's limits set aside for it
	ReservedCapacities []cluster.ReservedCapacity // what it is taken from
	Taken              []taking                   // pods that it was launched for
	Gone               bool                       // see withdraw
}

// promised adds the labels that every node of ours gets.
func promised(labels constraint.Labels) constraint.Labels {
	var more constraint.Labels
	for _, key := range feasibility.Promised() {
		more = more.With(key, "true")
	}
	return labels.Merge(more)
}
