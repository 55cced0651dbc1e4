package place

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/supply"
)

// bounds turns what is left of the pool's limits, and of capacity reservations, into constraints,
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
	if n := b.Remaining.Nodes; n != nil && *n < 1 {
		all := *b.Pool.Limits.Nodes
		text := fmt.Sprintf("nodes limit reached: %d of %d used", all-*n, all)
		if b.Pool.HoursBind() {
			text += " (" + b.Pool.SaidBy() + ")"
		}
		out = append(out, feasibility.Constraint{Rule: feasibility.Limit, Key: "nodes", Cleared: bitset.New(len(b.Options)),
			Short: func(int) (int64, int64) { return 1 - *n, 0 },
			Text:  func(int, []*feasibility.Constraint) string { return text }})
	}
	for i, e := range b.Remaining.Left {
		out = append(out, r.bound(b, e, b.Pool.Limits.Amounts[i].Amount))
	}
	return out
}

func (r *Run) bound(b *supply.Candidate, left quantity.Extended, limit int64) feasibility.Constraint {
	need := func(option int) int64 { return b.InstanceType(b.Options[option]).Capacity.Get(left.Name) }
	out := feasibility.Constraint{Rule: feasibility.Limit, Key: left.Name, Cleared: bitset.New(len(b.Options)),
		Short: func(option int) (short, of int64) {
			return quantity.Difference(need(option), left.Amount), need(option)
		}}
	for i := range b.Options {
		if need(i) <= left.Amount {
			out.Cleared.Add(i)
		}
	}
	say := func(amount int64) string { return quantity.FormatAmount(left.Name, amount) }
	out.Text = func(option int, _ []*feasibility.Constraint) string {
		text := fmt.Sprintf("%s limit reached: %s of %s used, %s needs %s more", left.Name,
			say(quantity.Difference(limit, left.Amount)), say(limit), b.InstanceType(b.Options[option]).Name, say(need(option)))
		if open := r.stillOpen(b, left.Name); open > 0 {
			text += "; nodes that are being launched may still become up to " + say(open)
		}
		return text
	}
	return out
}

// stillOpen is how much of a resource the pool's instances that are not
// launched yet may become at most.
func (r *Run) stillOpen(b *supply.Candidate, name string) int64 {
	var sum int64
	for i := range r.snapshot.Instances {
		if m := &r.snapshot.Instances[i]; m.Pool == b.ID && !m.Launched {
			sum = quantity.Sum(sum, m.Capacity.Get(name))
		}
	}
	return sum
}
