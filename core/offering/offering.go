// Package offering chooses the offerings that one launch request names: which, in which order, and why
// the others are left out.
//
// It promises the same choice for the same catalogue and the same request, and leaves no choice to the
// code that sends the request. It does not decide what a NodeClaim requires: the plan does.
package offering

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// What one launch request names and asks for at most. EC2's CreateFleet takes 300 combinations of instance type and
// subnet; more types than 60 make a request no likelier to succeed, and a plan leaves no more open.
const (
	TypesMax     = 60
	Max          = 300
	InstancesMax = 1000
)

// Ask is what a NodeClaim asks for.
type Ask struct {
	Requirements constraint.Requirements
	NotOfTypes   []string // keys of Requirements that say nothing of an instance unless its offering has such a label
	Requests     quantity.Resources
	Relaxed      bool // fewer values than minValues asks for will do
}

// Named is an offering that the request names.
type Named struct {
	Type      *cluster.InstanceType
	Offering  *cluster.Offering
	Partition string // of a placement group, that is asked for; empty: none, or any
	Needed    bool   // for minValues: if not all can be named, others are left out
}

// LeftOut is an offering that meets what is asked and that the request does not name.
type LeftOut struct {
	Type     *cluster.InstanceType
	Offering *cluster.Offering
	Why      Reason
}

// Choice is what a request names.
type Choice struct {
	Named   []Named   // best first, all of one capacity type and of no more than Max; none: see WhyNone
	LeftOut []LeftOut // in the order in which it was decided
	WhyNone string    // why nothing can be launched now, and what helps; empty where something can

	// Whole stands for all that the ask may ever be launched as, of which Named is what is to be tried first: it is
	// equal for asks that the same offerings meet and that minValues holds to as many different ones.
	Whole uint64
	// Few are the types of what is named where that is on-demand, though the ask may be spot, and too few for a good
	// chance that one of them is there; else none.
	Few []string
}

// chooser is one choice while it is made.
type chooser struct {
	ask  Ask
	left []LeftOut
}

// keep returns those of the list that are wanted, and notes why the others are left out.
func (c *chooser) keep(list []Named, why Reason, wanted func(*Named) bool) []Named {
	out := make([]Named, 0, len(list))
	for i := range list {
		if wanted(&list[i]) {
			out = append(out, list[i])
			continue
		}
		c.left = append(c.left, LeftOut{list[i].Type, list[i].Offering, why})
	}
	return out
}

// ranked orders offerings by price and what interruptions are likely to cost, unknown prices last.
func ranked(list []Named) []Named {
	slices.SortFunc(list, func(a, b Named) int {
		if a.Offering.Priced != b.Offering.Priced {
			if a.Offering.Priced {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Offering.Ranked(), b.Offering.Ranked()), cmp.Compare(a.Type.Name, b.Type.Name),
			cmp.Compare(a.Offering.Zone, b.Offering.Zone), cmp.Compare(a.Offering.Reservation(), b.Offering.Reservation()))
	})
	return list
}

func filter(list []Named, wanted func(*Named) bool) []Named {
	return slices.DeleteFunc(slices.Clone(list), func(n Named) bool { return !wanted(&n) })
}

// label is what the node will carry under the key.
func (n *Named) label(key string) (value string, present bool) {
	if value, present = n.Offering.Labels.Get(key); present {
		return value, true
	}
	return n.Type.Labels.Get(key)
}

// meets reports whether an instance of the offering has every label asked for, and may be launched for the ask.
func (n *Named) meets(a Ask) bool {
	for _, r := range a.Requirements {
		value, present := n.label(r.Key)
		if !present && slices.Contains(a.NotOfTypes, r.Key) {
			continue
		}
		if present && !r.Set.Allows(value) || !present && !r.Set.AllowsAbsent() {
			return false
		}
	}
	return n.Offering.Asked(a.Requirements)
}

// Dedicated reports whether it is of dedicated tenancy.
func (n *Named) Dedicated() bool { return isDedicated(n.Offering) }

func isDedicated(o *cluster.Offering) bool {
	tenancy, _ := o.Labels.Get(labelTenancy)
	return tenancy == tenancyDedicated
}
