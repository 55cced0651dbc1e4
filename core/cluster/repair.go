package cluster

import "time"

// Repair is which nodes are unhealthy, and when they are repaired: they go at once,
// and others come in their place.
type Repair struct {
	Rules   []RepairRule // sorted by condition, then status; none: no node is repaired
	Most    int64        // none is repaired while more nodes than these are unhealthy
	Percent bool         // Most is in per cent of the nodes, rounded up
}

// RepairRule says after how long with a condition of that status a node is repaired.
type RepairRule struct {
	Condition string // of the node, or Initialized
	Status    string // True, False or Unknown
	After     time.Duration
}

// Initialized is the condition that a node lacks from its registration on until it
// has all that its pool says it starts with.
const Initialized = "Initialized"

// Ailment is a condition that makes a node unhealthy, by a rule of its pool.
type Ailment struct {
	Condition string
	Status    string
	Since     time.Time
}

// Rule finds the rule that an ailment is one by; nil where there is none.
func (r *Repair) Rule(condition, status string) *RepairRule {
	for i := range r.Rules {
		if r.Rules[i].Condition == condition && r.Rules[i].Status == status {
			return &r.Rules[i]
		}
	}
	return nil
}

// Bound is how many of so many nodes may be unhealthy while any is repaired.
func (r *Repair) Bound(nodes int64) int64 {
	if r.Percent {
		return (nodes*r.Most + 99) / 100
	}
	return r.Most
}
