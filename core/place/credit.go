package place

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
func (b *candidate) offersSteady() bool {
	for i := b.available.Next(0); i >= 0; i = b.available.Next(i + 1) {
		instanceType := b.InstanceType(b.Options[i])
		if b.free[b.Options[i].Kind] != nil && !bursts(instanceType) && !instanceType.LastResort {
			return true
		}
	}
	return false
}

// recordCredit notes the credits of an instance type that has any.
func (b *candidate) recordCredit(k int) {
	instanceType := b.InstanceTypeAt(k)
	if !bursts(instanceType) || instanceType.Surplus <= 0 {
		return
	}
	if b.credits == nil {
		b.credits = make([]*credit, len(b.free))
	}
	b.credits[k] = &credit{
		whole:   b.free[k],
		lasting: b.free[k][amount.CPU] - int64(instanceType.Capacity.CPU-instanceType.Sustained),
		price:   float64(instanceType.Surplus) / 1000,
	}
}

func (b *candidate) creditOf(kind int) *credit {
	if b.credits == nil {
		return nil
	}
	return b.credits[kind]
}

// surplus is what credits for so much on an instance of the type cost, with those
// that its daemon pods use.
func (b *candidate) surplus(kind int, used []int64) float64 {
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

// grades is what instances of the instance type may be filled with, in a batch.
func (b *candidate) grades(kind int) [][]int64 {
	c := b.creditOf(kind)
	if c == nil {
		return [][]int64{b.free[kind]}
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

// costFor is the cost of an option for what is on the instance: costs counts a
// full one.
func (b *candidate) costFor(option int, sum []int64) float64 {
	kind := b.Options[option].Kind
	return b.price[option] - b.surplus(kind, b.free[kind]) + b.surplus(kind, sum)
}

// withCredits is listed with what surplus credits make of it: an instance type that the
// load is too much for without credits is left open where it is cheapest with
// them, and closed where it would be launched, since its price is lower, before
// one that costs less.
func (b *candidate) withCredits(l *load) (bitset.Set, []int) {
	options, kinds := b.listed(l)
	if b.credits == nil || b.varied {
		return options, kinds
	}
	open := options.Clone()
	if b.limits == nil && len(b.terms.daemons) == 0 {
		b.byCredit(l, open)
	}
	b.inOrder(open, l.sum)
	if slices.Equal(open, options) {
		return options, kinds
	}
	kinds = b.firstKinds(open)
	b.keepKinds(open, kinds)
	return open, kinds
}

// byCredit adds the options before the first that hold the load by credits.
func (b *candidate) byCredit(l *load, options bitset.Set) {
	all, first := b.together(l), options.Next(0)
	for i := all.Next(0); i >= 0 && i < first; i = all.Next(i + 1) {
		kind := b.Options[i].Kind
		if c := b.creditOf(kind); c != nil && amount.Fits(c.whole, l.sum) && b.bears(l, kind) {
			options.Add(i)
		}
	}
}

// inOrder removes what uses credits and costs more, by them, than an option
// behind it.
func (b *candidate) inOrder(options bitset.Set, sum []int64) {
	var list []int
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		list = append(list, i)
	}
	least := math.Inf(1)
	for _, i := range slices.Backward(list) {
		cost := b.costFor(i, sum) + b.riskOf(i)
		if cost >= least && b.surplus(b.Options[i].Kind, sum) > 0 {
			options.Remove(i)
			continue
		}
		least = min(least, cost)
	}
}

// choiceFor is choice of the option for what is to be on the instance.
func (b *candidate) choiceFor(option int, sum []int64) plan.Choice {
	out := b.choice(option, "")
	out.Beside += quantity.MicroUSDPerHour(b.surplus(b.Options[option].Kind, sum))
	return out
}

// runnersUpFor are the runners-up with the credits that the load would use.
func (b *candidate) runnersUpFor(open *choices, options bitset.Set, sum []int64) []plan.Choice {
	first := options.Next(0)
	if b.credits == nil || !slices.ContainsFunc(open.kinds, func(k int) bool { return b.surplus(k, sum) > 0 }) {
		return open.runnersUp
	}
	surplus := func(option int) quantity.MicroUSDPerHour {
		return quantity.MicroUSDPerHour(b.surplus(b.Options[option].Kind, sum))
	}
	out := slices.Clone(open.runnersUp)
	for at, i := range b.next(options) {
		more := surplus(i) - surplus(first)
		out[at].Beside += surplus(i)
		out[at].WhyNot = whyNot(b.Offering(b.Options[i]), b.Offering(b.Options[first]), more)
	}
	return out
}
