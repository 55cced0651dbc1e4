package pack

import "github.com/daemok/daemok/core/bitset"

// Batch is what is to be launched together: pods that wait, by group, and the offerings
// that may have them. Amounts are vectors over the same resources.
type Batch struct {
	Groups    []Group
	Offerings []Offering
	Limits    []int64 // what instances may take in all, see Offering.Takes
	After     int     // pods that are packed after this batch, in batches of their own
}

// Group is pods that are alike.
type Group struct {
	Need      []int64 // of one pod
	Count     int64
	Offerings bitset.Set // that may have them
	Kinds     []int      // what these pods are counted as, for caps; numbers without a meaning of their own
	Caps      []Cap
}

// Cap keeps pods off an instance that has enough of a class of pods: a pod may join while there are
// fewer than Most of it.
type Cap struct {
	Kind int
	Most int64
}

// Offering is an instance type that can be launched as often as limits allow.
type Offering struct {
	Free  []int64 // for pods
	Cost  float64 // more than zero; what counts when offerings are compared
	Takes []Take
	Zone  string
}

// Take is what one instance takes of a limit, by its position.
type Take struct {
	Limit  int
	Amount int64
}

// Instance is one instance with the pods that it is for, in an order in which they may join.
type Instance struct {
	Offering int
	Parts    []Part
	Room     []int64 // what it must have for pods, although its own need less; nil: what they need
}

// Part is n pods of a group.
type Part struct {
	Group int
	N     int64
}
