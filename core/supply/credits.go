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

// credit says how a burstable instance type may use more cpu than it can sustain: with surplus credits, which
// are billed by use. Pods count as using what they request.
type credit struct {
	whole   []int64 // for pods, with all the cpu there is
	lasting int64   // cpu for pods without credits; below zero where daemon pods alone need some
	price   float64 // micro dollars an hour for a thousandth of a core
}

// bursts reports whether instances of the instance type cannot use all their cpu all the time.
func bursts(instanceType *cluster.InstanceType) bool {
	return instanceType.Sustained != 0 && instanceType.Sustained < instanceType.Capacity.CPU
}

// creditOf returns the credits of the instance type; nil where it has none.
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

// Surplus is what surplus credits cost when pods on an instance of the type use so much, including those for
// its daemon pods.
func (b *instances) Surplus(kind int, used []int64) float64 {
	c := b.creditOf(kind)
	if c == nil {
		return 0
	}
	return float64(float64(max(0, used[amount.CPU]-c.lasting)) * c.price)
}

// quarters says how much cpu beyond the lasting one a batch may use, in quarters: an instance with a few
// credits may be the cheapest where one with all of them is not.
var quarters = [...]int64{4, 2, 1, 0}

// Grades returns the amounts that instances of the type may be filled to in a batch: with surplus credits, one for
// each of quarters.
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

// CostFor is the price of an option with the credits that pods on the instance use. Price counts those of a
// full instance.
func (b *pricing) CostFor(option int, sum []int64) float64 {
	kind := b.Options[option].Kind
	return b.Price[option] - b.Surplus(kind, b.Free[kind]) + b.Surplus(kind, sum)
}

// WithCredits is listed, with surplus credits counted. An instance type that holds the load only with credits
// is left open where it is the cheapest with them. One is left out where its credits make it more expensive
// than a later one: it would be launched first, because its price is lower.
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

// byCredit adds the options before the first one that hold the load with credits.
func (b *pricing) byCredit(l *Load, options bitset.Set) {
	all, first := b.Together(l), options.Next(0)
	for i := all.Next(0); i >= 0 && i < first; i = all.Next(i + 1) {
		kind := b.Options[i].Kind
		if c := b.creditOf(kind); c != nil && amount.Fits(c.whole, l.Sum) && b.Bears(l, kind) {
			options.Add(i)
		}
	}
}

// inOrder removes options that use credits and, with these, cost at least as much as a later option.
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

// ChoiceFor is Choice with the credits that pods on the instance use.
func (b *instances) ChoiceFor(option int, sum []int64) plan.Choice {
	out := b.Choice(option, "")
	out.Beside += quantity.MicroUSDPerHour(b.Surplus(b.Options[option].Kind, sum))
	return out
}

// RunnersUpFor returns the runners-up with the credits that the load would use.
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
