package place

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/supply"
)

// bounds turns what is left of limits, and of capacity reservations, into constraints,
// once nothing more is launched.
func (r *Run) bounds(b *supply.Candidate) []feasibility.Constraint {
	if b.Constraints == nil && b.Remaining != nil {
		b.Constraints = r.newBounds(b)
	}
	if r.Provisioner.Reserved.Left == nil {
		return b.Constraints
	}
	return append(slices.Clip(b.Constraints), r.reservedCapacityTaken(b))
}

// reservedCapacityTaken is the constraint that nothing is left of the reserved capacity of some options.
func (r *Run) reservedCapacityTaken(b *supply.Candidate) feasibility.Constraint {
	out := feasibility.Constraint{Rule: feasibility.Unavailable, Cleared: bitset.New(len(b.Options))}
	for i := range b.Options {
		if r.Provisioner.Reserved.MayStill(b, i, 1) > 0 {
			out.Cleared.Add(i)
		}
	}
	return out
}

func (r *Run) newBounds(b *supply.Candidate) []feasibility.Constraint {
	var out []feasibility.Constraint
	for at, l := range b.Remaining.Binding {
		out = append(out, r.bound(b, at, l))
	}
	return out
}

// bound turns what is left of one limit into a constraint.
func (r *Run) bound(b *supply.Candidate, at int, l *supply.Limit) feasibility.Constraint {
	left := b.Remaining.Left[at]
	out := feasibility.Constraint{Rule: feasibility.Limit, Key: l.Name, Cleared: bitset.New(len(b.Options)),
		Short: func(option int) (short, of int64) {
			if b.Remaining.IsMinimum(at) {
				return 1, 0
			}
			if need := b.Remaining.TakesOf(option, at).Amount; l.Name != cluster.LimitNodes {
				of = need
			}
			return max(1, quantity.Difference(b.Remaining.TakesOf(option, at).Amount, left)), of
		}}
	for i := range b.Options {
		t := b.Remaining.TakesOf(i, at)
		if !t.Counts || t.Priced && b.Remaining.Admits(supply.Take{Limit: at, Amount: t.Amount}) {
			out.Cleared.Add(i)
		}
	}
	out.Text = func(option int, also []*feasibility.Constraint) string {
		if b.Remaining.IsMinimum(at) {
			return minimumText(r, b, also)
		}
		return r.limitText(b, at, l, option)
	}
	return out
}

// limitText says why limits forbid an instance by the option.
func (r *Run) limitText(b *supply.Candidate, at int, l *supply.Limit, option int) string {
	of, instanceType, t := "", b.InstanceType(b.Options[option]).Name, b.Remaining.TakesOf(option, at)
	if l.Quota != nil {
		of = l.Quota.String() + ": "
	}
	say := func(amount int64) string { return cluster.FormatLimit(l.Name, amount) }
	used := quantity.Difference(l.Most, b.Remaining.Left[at])
	text := fmt.Sprintf("%s%s limit reached: %s of %s used", of, l.Name, say(used), say(l.Most))
	switch {
	case l.Quota != nil && l.Quota.Unreadable != "":
		return of + l.Quota.Unreadable
	case l.Unpriced():
		return fmt.Sprintf("%sthe cost is limited, and the price of node or NodeClaim %s is not known", of,
			l.Used.Unpriced)
	case !t.Priced:
		return fmt.Sprintf("%sthe cost is limited, and the price of %s is not known", of, instanceType)
	case l.Name == cluster.LimitNodes && l.Quota == nil && b.Pool.HoursBind():
		return text + " (" + b.Pool.SaidBy() + ")"
	case l.Name == cluster.LimitNodes:
		return text
	}
	text += fmt.Sprintf(", %s needs %s more", instanceType, say(t.Amount))
	if open := r.stillOpen(l); open > 0 {
		text += "; nodes that are being launched may still become up to " + say(open)
	}
	return text
}

// minimumText says why the pool's minimum of on-demand nodes forbids a spot instance, and what helps; also: what keeps
// the pods from on-demand instances.
func minimumText(r *Run, b *supply.Candidate, also []*feasibility.Constraint) string {
	n := r.snapshot.Balance(b.ID)
	for i := range r.Provisioner.Launched {
		if l := &r.Provisioner.Launched[i]; l.Candidate == b && !l.Gone {
			n.Count(b.MayBeSpot(l.Options), 1)
		}
	}
	text := fmt.Sprintf("%s of %s limits spot instances: %d of %d nodes are on demand", cluster.LimitOnDemand,
		b.Pool.OnDemand, n.OnDemand, n.OnDemand+n.Spot)
	lasting := func(o feasibility.Option) bool { return b.Offering(o).Option != cluster.Spot }
	switch {
	case !slices.ContainsFunc(b.Options, lasting):
		return text + "; allow on-demand in the requirements of " + b.ID.String()
	case len(also) > 0:
		return text + "; " + cluster.LowerOnDemand
	}
	return text + "; " + cluster.LowerOnDemand + ", let the pods use on-demand, or use another NodePool"
}

// stillOpen is how much of a limit instances that are not launched yet may take at most.
func (r *Run) stillOpen(l *supply.Limit) int64 {
	var sum int64
	for i := range r.snapshot.Instances {
		m := &r.snapshot.Instances[i]
		if m.Launched || l.Quota == nil && m.Pool != l.Pool.ID || l.Quota != nil && !r.snapshot.MayCount(l.Quota, m) {
			continue
		}
		t := r.snapshot.TakenByInstance(m)
		sum = quantity.Sum(sum, t.Of(l.Name))
	}
	return sum
}
