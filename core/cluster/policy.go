package cluster

import (
	"slices"
	"time"
)

// Policy is how a pool wants its nodes disrupted.
type Policy struct {
	Consolidate   Consolidation
	After         time.Duration // how long no pod may have come to a node or gone before it is consolidated; 0 means at once
	Lead          time.Duration // how much earlier an empty node is closed to pods, so that it goes when that is over
	Never         bool          // consolidateAfter: Never
	Empty         Allowance     // of nodes that go because nothing runs on them
	Drifted       Allowance
	Underutilized Allowance
	Renew         time.Duration // the age from which nodes are replaced gracefully, within the budget for drifted ones; 0: none
	BudgetsChange time.Time     // when the schedule of a budget, or a window, next opens or closes; zero: never
	DeleteFirst   bool          // drifted nodes go before the instances in their place come, where limits forbid to have both
	Payback       Payback
}

// Consolidation says which nodes may go to save money, in the words of the
// API's consolidationPolicy.
type Consolidation string

// The policies. The zero value is WhenEmptyOrUnderutilized.
const (
	WhenEmptyOrUnderutilized Consolidation = ""
	WhenEmpty                Consolidation = "WhenEmpty"
	Balanced                 Consolidation = "Balanced" // where what is saved is worth the disturbance
)

// Allowance is how many nodes of a pool may be going away at once now for one
// reason, by the budgets in force.
type Allowance struct {
	Most   int64
	Note   string // which budget says so
	Closed string // why none may go whatever budgets allow, in whole words; then Most is 0 and Note empty
}

// Payback is what moves that save money must save, where the pool's owner says
// so. What is zero is as the whole controller is set up.
type Payback struct {
	Off        bool    // whatever saves anything is worth it
	PodDollars float64 // what it costs to move one pod
	LeastShare float64 // of the price of the nodes that go, which must be saved
}

// Stricter is what must be saved where both must be kept.
func (p Payback) Stricter(q Payback) Payback {
	out := Payback{PodDollars: max(p.PodDollars, q.PodDollars), LeastShare: max(p.LeastShare, q.LeastShare)}
	out.Off = (p.Off || q.Off) && out == Payback{}
	return out
}

// Breaker bounds how many nodes of some pools, all together, may go within a
// time. Nodes that go by choice stop there.
type Breaker struct {
	Name  string   // its name for users
	Pools []PoolID // sorted
	Most  int64
	Gone  int64 // those that have gone within the time, and those that are going
}

// Counts reports whether nodes of the pool count.
func (b *Breaker) Counts(pool PoolID) bool { return slices.Contains(b.Pools, pool) }
