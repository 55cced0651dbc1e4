package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// lister says what a launch leaves open: its offerings in order, within minValues and what EC2 takes.
type lister struct {
	run *run
}

// together returns the options that every part of the load allows, within
// limits, whatever their size.
func (b *candidate) together(l *load) bitset.Set {
	out := b.within.Clone()
	var last *lot
	for _, p := range l.parts {
		if p.way.lot != last {
			out.And(p.way.options)
			last = p.way.lot
		}
	}
	for i := out.Next(0); l.modest > 0 && i >= 0; i = out.Next(i + 1) {
		if !b.asModest(b.Options[i].Kind, l.modest-1) {
			out.Remove(i)
		}
	}
	return out
}

// holding returns the options that may have the whole load.
func (b *candidate) holding(l *load) bitset.Set {
	out := b.together(l)
	known := b.kindMarks()
	holds := make([]bool, len(known))
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		kind := b.Options[i].Kind
		if !known[kind] {
			known[kind], holds[kind] = true, l.fitsIn(b.free[kind]) && b.bears(l, kind)
		}
		if !holds[kind] {
			out.Remove(i)
		}
	}
	return out
}

// listing is what instances with one load leave open, and how that is written
// down.
type listing struct {
	plan.Launch                     // without name and pods
	*choices                        // that are left open
	option      int                 // launched first
	options     bitset.Set          // that are left open
	ways        []constraint.Labels // that it may have, as far as rules about other pods look at them
	due         due
}

// list decides what an instance with the load may be.
func (li *lister) list(b *candidate, l *load) listing {
	options, kinds := b.withoutExpensiveSpot(b.withCredits(l))
	if b.parted {
		options, kinds = b.closed(options, kinds)
	}
	options, kinds = b.onlyReservedCapacities(options, kinds)
	open := b.choicesOf(options, kinds)
	out := listing{choices: open, option: options.Next(0), Launch: plan.Launch{
		Pool:      b.ID,
		Choice:    b.choiceFor(options.Next(0), l.sum),
		RunnersUp: b.runnersUpFor(open, options, l.sum),
		Relaxed:   l.relaxed,
		Requests:  open.daemons,
		Reason:    waitText(int(l.pods())),
	}}
	for _, p := range l.parts {
		out.Requests = out.Requests.Add(li.run.groups[p.group].shape.Requests.Times(p.n))
	}
	out.Requirements, out.Labels = b.requirements(l, open)
	out.Requirements = b.keepable(out.Requirements, l.relaxed, options, kinds)
	out.Notes = li.notes(b, l, open, out.option)
	out.options = options
	if li.run.intake.counted {
		out.ways, out.due = li.outlook(b, out.Labels, options)
	}
	return out
}

// outlook is the labels that an instance may have, and the daemon pods that it
// may bring, as far as rules look at them.
func (li *lister) outlook(b *candidate, labels constraint.Labels, options bitset.Set) ([]constraint.Labels, due) {
	return b.Ways(options, promised(b.Labels.Merge(labels)), li.run.intake.labels),
		li.run.intake.dueAt(func(s *cluster.Shape) (bool, bool) { return b.Brings(s, options) })
}

// launch orders one instance with this load.
func (r *run) launch(b *candidate, l *load, as *listing) {
	out := as.Launch
	out.Name = r.lister.nextName()
	out.Pods = make([]cluster.Pod, 0, l.pods())
	asked := make([]request, 0, len(l.parts))
	for _, p := range l.parts {
		g := r.groups[p.group]
		pods := g.next(p.n)
		r.provisioner.demand.take(g, p.n)
		g.touch()
		for _, w := range pods {
			out.Pods = append(out.Pods, *w.Pod)
		}
		r.place(g.of, g.level, pods, plan.OnLaunch, out.Name, nil)
		asked = append(asked, g.from)
		r.board.PutSomewhere(g.level.rules, p.n)
	}
	slices.SortFunc(out.Pods, byName)
	at := launched{candidate: b, ways: as.ways, due: as.due, options: as.options, asked: asked, free: slices.Clone(as.free),
		reservedCapacities: b.reservedCapacitiesOf(as.option)}
	at.cost, at.unpriced = r.lister.bill(b, b.leastInterrupted(as.options, l.sum), l)
	at.risk = b.riskOf(as.option)
	at.cost += at.risk
	amount.Take(at.free, l.sum, 1)
	at.free[amount.CPU] = max(0, at.free[amount.CPU]) // less than nothing where surplus credits are used
	if b.limits != nil {
		at.limited = b.largest(as.kinds)
		b.limits.use(at.limited)
		b.narrow()
	}
	r.reserved.take(at.reservedCapacities)
	r.launched = append(r.launched, at)
	r.out.Launches = append(r.out.Launches, out)
}

// bill is what an instance with the load costs or, where its price is not known,
// what it has in prices that are the same in every answer.
func (li *lister) bill(b *candidate, option int, l *load) (cost, unpriced float64) {
	if !b.Offering(b.Options[option]).Priced {
		return 0, amount.Value(li.run.values.usual(), b.free[b.Options[option].Kind])
	}
	return b.costFor(option, l.sum), 0
}

// nextName is the name of the instance that is ordered next.
func (li *lister) nextName() string { return fmt.Sprintf("new-%d", len(li.run.launched)+1) }

func byName(a, b cluster.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func waitText(pods int) string {
	if pods == 1 {
		return "1 pod waits"
	}
	return fmt.Sprintf("%d pods wait", pods)
}

// listed returns what the launch leaves open: the options and their instance types,
// cheapest first. Where the pool has limits no instance type is larger, in what is
// limited, than the cheapest, so that little is set aside without effect.
func (b *candidate) listed(l *load) (bitset.Set, []int) {
	if b.limits == nil && !b.varied && len(b.terms.daemons) == 0 && !b.parted {
		return b.cheapest(l)
	}
	options := b.holding(l)
	if b.limits != nil {
		if modest := b.modest(options); b.minValuesShort(modest, b.firstKinds(modest)) == nil {
			options = modest
		}
	}
	if len(b.terms.daemons) > 0 {
		if stable := b.stable(options); b.minValuesShort(stable, b.firstKinds(stable)) == nil {
			options = stable
		}
	}
	kinds := b.firstKinds(options)
	b.keepKinds(options, kinds)
	return options, kinds
}

// keepKinds removes the options of other instance types.
func (b *candidate) keepKinds(options bitset.Set, kinds []int) {
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

// cheapest is listed for a pool with neither limits nor minValues, where no rule
// looks at daemon pods: what holds the load, of the first instance types that do.
func (b *candidate) cheapest(l *load) (bitset.Set, []int) {
	all, out := b.together(l), bitset.New(len(b.Options))
	sorted := b.kindsOf(all, l)
	kinds := make([]int, 0, min(len(sorted), offering.TypesMax))
	for _, k := range sorted {
		if len(kinds) == offering.TypesMax {
			break
		}
		if l.fitsIn(b.free[k]) && b.bears(l, k) {
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

// instanceTypesOf lists the instance types of the options that a load may have whatever its
// size, by their first options. Loads of pods of one lot may mostly have the
// same.
func (b *candidate) kindsOf(options bitset.Set, l *load) []int {
	known := &l.parts[0].way.lot.kinds
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
func (b *candidate) optionsOf(kind int) []int {
	if b.ofKind == nil {
		b.ofKind = make([][]int, len(b.Kinds))
		for i, o := range b.Options {
			b.ofKind[o.Kind] = append(b.ofKind[o.Kind], i)
		}
	}
	return b.ofKind[kind]
}

func (b *candidate) modest(options bitset.Set) bitset.Set {
	out := options.Clone()
	first := b.InstanceType(b.Options[options.Next(0)]).Capacity
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		if !b.limits.noLarger(b.InstanceType(b.Options[i]).Capacity, first) {
			out.Remove(i)
		}
	}
	return out
}

// stable keeps the options with which the same daemon pods come as with the
// first, of those that rules about other pods look at: with others left open
// it would not be known which may be where.
func (b *candidate) stable(options bitset.Set) bitset.Set {
	out := options.Clone()
	first := options.Next(0)
	for i := out.Next(first + 1); i >= 0; i = out.Next(i + 1) {
		for shape := range b.terms.daemons {
			if b.BringsAs(shape, i) != b.BringsAs(shape, first) {
				out.Remove(i)
				break
			}
		}
	}
	return out
}

func (b *candidate) largest(kinds []int) quantity.Resources {
	var out quantity.Resources
	for _, k := range kinds {
		out = out.Max(b.InstanceTypeAt(k).Capacity)
	}
	return out
}

func (b *candidate) choice(option int, whyNot string) plan.Choice {
	o := b.Options[option]
	offering := b.Offering(o)
	return plan.Choice{Kind: b.InstanceType(o).Name, Zone: offering.Zone, Option: offering.Option, Price: offering.Price,
		Priced: offering.Priced, Beside: b.PerInstance(), WhyNot: whyNot}
}

// requirements writes down what the instance must be, and the labels on custom
// keys that are decided now.
func (b *candidate) requirements(l *load, open *choices) (constraint.Requirements, constraint.Labels) {
	out := b.Requirements
	for _, p := range l.parts {
		for _, r := range p.way.term.Requirements {
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
	return out.AndAll(open.requirements(b.alsoFrom(l, open))), labels
}

// alsoFrom lists the reservations that would do as well as the one that the launch is
// planned for, that one included: which of them has room when it is launched is seen then.
func (b *candidate) alsoFrom(l *load, open *choices) []string {
	if open.reserved < 0 {
		return nil
	}
	var out []string
	first := b.Options[open.reserved]
	for _, i := range b.optionsOf(first.Kind) {
		offering := b.Offering(b.Options[i])
		wanted := !slices.ContainsFunc(l.parts, func(p part) bool { return !p.way.term.Options.Has(i) })
		if id := offering.Reservation(); wanted && offering.Available && offering.StandsIn(b.Offering(first)) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// requirements are the instance types, zones and capacity types that are left open, and the
// reservations where it is taken from one of them.
func (c *choices) requirements(reservations []string) constraint.Requirements {
	out := constraint.NewRequirements(
		constraint.Requirement{Key: cluster.LabelInstanceType, Set: c.names},
		constraint.Requirement{Key: cluster.LabelZone, Set: c.zones},
		constraint.Requirement{Key: cluster.LabelCapacityType, Set: c.ways})
	if len(reservations) > 0 {
		out = out.And(constraint.Requirement{Key: cluster.LabelReservation, Set: constraint.Values(reservations...)})
	}
	return out
}
