package supply

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// credit is how an instance type that bursts may be used beyond what it can do for ever:
// by surplus credits, which are billed by use. What pods ask for counts as what
// they use.
type credit struct {
	whole   []int64 // for pods, with all the cpu there is
	lasting int64   // cpu for pods without credits; below zero where daemon pods alone need some
	price   float64 // micro dollars an hour for a thousandth of a core
}

// bursts reports whether instances of the instance type cannot use all their cpu for ever.
func bursts(instanceType *cluster.InstanceType) bool {
	return instanceType.Sustained != 0 && instanceType.Sustained < instanceType.Capacity.CPU
}

// offersSteady reports whether an instance can be had now that neither bursts nor
// is a last resort.
func (b *obtainable) offersSteady() bool {
	for i := b.AvailableNow.Next(0); i >= 0; i = b.AvailableNow.Next(i + 1) {
		instanceType := b.InstanceType(b.Options[i])
		if b.Free[b.Options[i].Kind] != nil && !bursts(instanceType) && !instanceType.LastResort {
			return true
		}
	}
	return false
}

// recordCredit notes the credits of an instance type that has any.
func (b *instances) recordCredit(k int) {
	instanceType := b.InstanceTypeAt(k)
	if !bursts(instanceType) || instanceType.Surplus <= 0 {
		return
	}
	if b.Credits == nil {
		b.Credits = make([]*credit, len(b.Free))
	}
	b.Credits[k] = &credit{
		whole:   b.Free[k],
		lasting: b.Free[k][amount.CPU] - int64(instanceType.Capacity.CPU-instanceType.Sustained),
		price:   float64(instanceType.Surplus) / 1000,
	}
}

// creditOf is what surplus credits are for instances of the type; nil where it has none.
func (b *instances) creditOf(kind int) *credit {
	if b.Credits == nil {
		return nil
	}
	return b.Credits[kind]
}

// WholeCPU is the cpu that pods on an instance of the type may use with surplus credits, where it has any.
func (b *instances) WholeCPU(kind int) (cpu int64, ok bool) {
	c := b.creditOf(kind)
	if c == nil {
		return 0, false
	}
	return c.whole[amount.CPU], true
}

// Surplus is what credits for so much on an instance of the type cost, with those
// that its daemon pods use.
func (b *instances) Surplus(kind int, used []int64) float64 {
	c := b.creditOf(kind)
	if c == nil {
		return 0
	}
	return float64(float64(max(0, used[amount.CPU]-c.lasting)) * c.price)
}

// quarters are how much of what an instance type has beyond lasting is offered together with
// it: an instance with a few credits may be the cheapest where one with all of
// them is not.
var quarters = [...]int64{4, 2, 1, 0}

// Grades is what instances of the instance type may be filled with, in a batch.
func (b *instances) Grades(kind int) [][]int64 {
	c := b.creditOf(kind)
	if c == nil {
		return [][]int64{b.Free[kind]}
	}
	var out [][]int64
	for _, q := range quarters {
		free := slices.Clone(c.whole)
		if free[amount.CPU] = c.lasting + (c.whole[amount.CPU]-c.lasting)*q/4; free[amount.CPU] > 0 {
			out = append(out, free)
		}
	}
	return out
}

// CostFor is the cost of an option for what is on the instance: costs counts a
// full one.
func (b *pricing) CostFor(option int, sum []int64) float64 {
	kind := b.Options[option].Kind
	return b.Price[option] - b.Surplus(kind, b.Free[kind]) + b.Surplus(kind, sum)
}

// WithCredits is listed with what surplus credits make of it: an instance type that the
// load is too much for without credits is left open where it is cheapest with
// them, and closed where it would be launched, since its price is lower, before
// one that costs less.
func (b *pricing) WithCredits(l *Load) (bitset.Set, []int) {
	options, kinds := b.listed(l)
	if b.Credits == nil || b.Varied {
		return options, kinds
	}
	open := options.Clone()
	if b.Remaining == nil && len(b.Valuation.Daemons) == 0 {
		b.byCredit(l, open)
	}
	b.inOrder(open, l.Sum)
	if slices.Equal(open, options) {
		return options, kinds
	}
	kinds = b.FirstKinds(open)
	b.keepKinds(open, kinds)
	return open, kinds
}

// byCredit adds the options before the first that hold the load by credits.
func (b *pricing) byCredit(l *Load, options bitset.Set) {
	all, first := b.Together(l), options.Next(0)
	for i := all.Next(0); i >= 0 && i < first; i = all.Next(i + 1) {
		kind := b.Options[i].Kind
		if c := b.creditOf(kind); c != nil && amount.Fits(c.whole, l.Sum) && b.Bears(l, kind) {
			options.Add(i)
		}
	}
}

// inOrder removes what uses credits and costs more, by them, than an option
// behind it.
func (b *pricing) inOrder(options bitset.Set, sum []int64) {
	var list []int
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		list = append(list, i)
	}
	least := math.Inf(1)
	for _, i := range slices.Backward(list) {
		cost := b.CostFor(i, sum) + b.RiskOf(i)
		if cost >= least && b.Surplus(b.Options[i].Kind, sum) > 0 {
			options.Remove(i)
			continue
		}
		least = min(least, cost)
	}
}

// ChoiceFor is choice of the option for what is to be on the instance.
func (b *instances) ChoiceFor(option int, sum []int64) plan.Choice {
	out := b.Choice(option, "")
	out.Beside += quantity.MicroUSDPerHour(b.Surplus(b.Options[option].Kind, sum))
	return out
}

// RunnersUpFor are the runners-up with the credits that the load would use.
func (b *instances) RunnersUpFor(open *Choices, options bitset.Set, sum []int64) []plan.Choice {
	first := options.Next(0)
	if b.Credits == nil || !slices.ContainsFunc(open.Kinds, func(k int) bool { return b.Surplus(k, sum) > 0 }) {
		return open.RunnersUp
	}
	surplus := func(option int) quantity.MicroUSDPerHour {
		return quantity.MicroUSDPerHour(b.Surplus(b.Options[option].Kind, sum))
	}
	out := slices.Clone(open.RunnersUp)
	for at, i := range b.next(options) {
		more := surplus(i) - surplus(first)
		out[at].Beside += surplus(i)
		out[at].WhyNot = whyNot(b.Offering(b.Options[i]), b.Offering(b.Options[first]), more)
	}
	return out
}
