package supply

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/plan"
)

// Together returns the options that every part of the load allows, within
// limits, whatever their size.
func (b *obtainable) Together(l *Load) bitset.Set {
	out := b.WithinLimits.Clone()
	var last *Lot
	for _, p := range l.Parts {
		if p.Way.Lot != last {
			out.And(p.Way.Options)
			last = p.Way.Lot
		}
	}
	if l.Modest > 0 && b.Remaining != nil {
		b.Remaining.keepModest(out, l.Modest-1, costSlack)
	}
	return out
}

// Holding returns the options that may have the whole load.
func (b *pricing) Holding(l *Load) bitset.Set {
	out := b.Together(l)
	b.keepWhere(out, func(kind int) bool { return l.fitsIn(b.Free[kind]) && b.Bears(l, kind) })
	return out
}

// listed returns what the launch leaves open: the options and their instance types,
// cheapest first. Where limits bind the pool none takes more of them than the cheapest, so that little is set aside
// without effect.
func (b *pricing) listed(l *Load) (bitset.Set, []int) {
	if b.Remaining == nil && !b.Varied && len(b.Valuation.Daemons) == 0 && !b.Parted {
		return b.cheapest(l)
	}
	options := b.Holding(l)
	if b.Remaining != nil {
		modest := options.Clone()
		slack := costSlack
		if b.limitCostCounts() {
			slack = 1
		}
		b.Remaining.keepModest(modest, options.Next(0), slack)
		if b.MinValuesShort(modest, b.FirstKinds(modest)) == nil {
			options = modest
		}
	}
	if len(b.Valuation.Daemons) > 0 {
		if stable := b.stable(options); b.MinValuesShort(stable, b.FirstKinds(stable)) == nil {
			options = stable
		}
	}
	kinds := b.FirstKinds(options)
	b.keepKinds(options, kinds)
	return options, kinds
}

// keepKinds removes the options of other instance types.
func (b *poolOptions) keepKinds(options bitset.Set, kinds []int) {
	listed := b.kindMarks()
	for _, k := range kinds {
		listed[k] = true
	}
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if !listed[b.Options[i].Kind] {
			options.Remove(i)
		}
	}
}

// cheapest is listed for a pool without limits and minValues, where no rule looks at daemon pods: the options
// that hold the load, of the first instance types that do.
func (b *pricing) cheapest(l *Load) (bitset.Set, []int) {
	all, out := b.Together(l), bitset.New(len(b.Options))
	sorted := b.kindsOf(all, l)
	kinds := make([]int, 0, min(len(sorted), offering.TypesMax))
	for _, k := range sorted {
		if len(kinds) == offering.TypesMax {
			break
		}
		if l.fitsIn(b.Free[k]) && b.Bears(l, k) {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		for _, i := range b.optionsOf(k) {
			if all.Has(i) {
				out.Add(i)
			}
		}
	}
	return out, kinds
}

// kindsOf lists the instance types of the options that a load may have whatever its size, in the order of their
// first options. Loads with pods of one lot mostly have the same list, so that the lot keeps the last one.
func (b *poolOptions) kindsOf(options bitset.Set, l *Load) []int {
	known := &l.Parts[0].Way.Lot.kinds
	if known.options != nil && slices.Equal(known.options, options) {
		return known.list
	}
	seen := b.kindMarks()
	known.options, known.list = options, nil
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if k := b.Options[i].Kind; !seen[k] {
			seen[k] = true
			known.list = append(known.list, k)
		}
	}
	return known.list
}

// optionsOf lists the options of an instance type.
func (b *poolOptions) optionsOf(kind int) []int {
	return (*b.ready.kept(b.number).ofKind.Get(func() *[][]int {
		out := make([][]int, len(b.Kinds))
		for i, o := range b.Options {
			out[o.Kind] = append(out[o.Kind], i)
		}
		return &out
	}))[kind]
}

// stable keeps the options that bring the same daemon pods as the first one, of those that rules about other
// pods look at. With others left open, it would not be known which pods may be where.
func (b *pricing) stable(options bitset.Set) bitset.Set {
	out := options.Clone()
	first := options.Next(0)
	for i := out.Next(first + 1); i >= 0; i = out.Next(i + 1) {
		for shape := range b.Valuation.Daemons {
			if b.BringsAs(shape, i) != b.BringsAs(shape, first) {
				out.Remove(i)
				break
			}
		}
	}
	return out
}

// Choice is the option as plans have it, with the reason why it was not chosen, if it was not.
func (b *poolOptions) Choice(option int, whyNot string) plan.Choice {
	o := b.Options[option]
	offering := b.Offering(o)
	return plan.Choice{Kind: b.InstanceType(o).Name, Zone: offering.Zone, Option: offering.Option, Price: offering.Price,
		Priced: offering.Priced, Beside: b.PerInstance(), Cover: offering.Cover, WhyNot: whyNot}
}

// RequirementsFor returns the requirements that the launch has, and the labels on custom keys that are decided
// now.
func (b *poolOptions) RequirementsFor(l *Load, open *Choices) (constraint.Requirements, constraint.Labels) {
	out := b.Requirements
	for _, p := range l.Parts {
		for _, r := range p.Way.Term.Requirements {
			if b.Requirements.Has(r.Key) || b.Defines(r.Key) {
				out = out.And(r)
			}
		}
	}
	var labels constraint.Labels
	for _, r := range slices.Clone(out) {
		if b.Defines(r.Key) {
			continue
		}
		value, ok := b.Pool.Labels.Get(r.Key)
		if !ok {
			value, ok = r.Set.Any()
		}
		if ok {
			labels = labels.With(r.Key, value)
			out = out.And(constraint.Requirement{Key: r.Key, Set: constraint.Values(value)})
		}
	}
	return out.AndAll(open.RequirementsFor(b.alsoFrom(l, open))), labels
}

// alsoFrom lists the reservations that would do as well as the one that the launch is planned for, and that one.
// Which of them has room is seen when the instance is launched.
func (b *poolOptions) alsoFrom(l *Load, open *Choices) []string {
	if open.reserved < 0 {
		return nil
	}
	var out []string
	first := b.Options[open.reserved]
	for _, i := range b.optionsOf(first.Kind) {
		offering := b.Offering(b.Options[i])
		wanted := !slices.ContainsFunc(l.Parts, func(p Part) bool { return !p.Way.Term.Options.Has(i) })
		if id := offering.Reservation(); wanted && offering.Available && offering.StandsIn(b.Offering(first)) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// RequirementsFor returns the instance types, zones and capacity types that are left open, and the reservations
// that the instance may be taken from, if any.
func (c *Choices) RequirementsFor(reservations []string) constraint.Requirements {
	out := constraint.NewRequirements(
		constraint.Requirement{Key: cluster.LabelInstanceType, Set: c.names},
		constraint.Requirement{Key: cluster.LabelZone, Set: c.Zones},
		constraint.Requirement{Key: cluster.LabelCapacityType, Set: c.ways})
	if len(reservations) > 0 {
		out = out.And(constraint.Requirement{Key: cluster.LabelReservation, Set: constraint.Values(reservations...)})
	}
	return out
}
