package removal

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// evaluator answers questions about a snapshot, one at a time. What is found out about shapes, targets and pools is kept
// for the next question if it is the same for every question; everything else is put back.
type evaluator struct {
	snapshot    *cluster.Snapshot
	run         *place.Run
	places      []int                         // on the board, by node
	targets     []*scheduling.Target          // by node; nil where it has none
	byName      map[string]*scheduling.Target // of nodes
	nodeTargets int                           // how many of the targets are nodes
	looked      []string                      // labels that rules look at
	moves       int                           // how many moves are carried out here
	podClasses  map[*cluster.Shape]*evaluatorPodClass
	text        map[*cluster.Shape]string // see place.Run.Order
	daemons     map[*cluster.Shape]*topology.Rules
	held        map[string]int // pods that use a volume for one pod at a time
	begins
	known      scheduling.KnownTargets
	bulk       *wholesale
	reachables map[*cluster.Shape]reachable
	twins      provisioning.Twins
	filled     []*scheduling.Target // targets that something was placed on since they were put in order
	open       bitset.Set           // nodes that pods of the last question could go to
}

// begins is what can be launched before a question.
type begins struct {
	reservedCapacities map[string]int64
	limits             []int64 // what is left of them
	pools              []supply.Saved
	fleet              *coverage.Fleet
	frees              bool // the last question did: of commitments more is left once its nodes are gone
}

// evaluatorPodClass is a pod class with what its levels ask for on the board of the evaluator.
type evaluatorPodClass struct {
	*demand.PodClass
	need  []int64 // of the shape that it is looked up by
	rules map[*demand.Level]*topology.Rules
}

// reachable says where one pod of a shape may go, other pods aside.
type reachable struct {
	targets [2]*scheduling.Target // the first two that have room; nil: there are fewer
	cost    float64               // of the cheapest instance for it
}
