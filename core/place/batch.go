package place

import "github.com/daemok/daemok/core/bitset"

// Batch is what is to be launched together: pods that wait, by group, and the offerings
// that may have them. Amounts are vectors over the same resources.
type Batch struct {
	Groups    []BatchGroup
	Offerings []BatchOffering
	Limits    []int64 // what machines may take in all, see BatchOffering.Takes
}

// BatchGroup is pods that are alike.
type BatchGroup struct {
	Need      []int64 // of one pod
	Count     int64
	Offerings bitset.Set // that may have them
	Kinds     []int      // what these pods are counted as, for caps; numbers without a meaning of their own
	Caps      []BatchCap
}

// BatchCap keeps pods off a machine that has enough of a kind: a pod may join
// while there are fewer than Most of it.
type BatchCap struct {
	Kind int
	Most int64
}

// BatchOffering is an instance type that can be launched as often as limits allow.
type BatchOffering struct {
	Free  []int64 // for pods
	Cost  float64 // more than zero; what counts when offers are compared
	Takes []BatchTake
	Zone  string
}

// BatchTake is what one machine takes of a limit, by its position.
type BatchTake struct {
	Limit  int
	Amount int64
}

// BatchMachine is one machine with the pods that it is for, in an order in which
// they may join.
type BatchMachine struct {
	Offering int
	Parts    []BatchPart
	Room     []int64 // what it must have for pods, although its own need less; nil: what they need
}

// BatchPart is n pods of a group.
type BatchPart struct {
	Group int
	N     int64
}

// Packer chooses machines for a batch. What it leaves out, and what turns out to
// break a rule that the batch cannot tell, is placed one machine after another.
type Packer func(Batch) []BatchMachine
