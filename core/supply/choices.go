package supply

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Choices is what a launch says of the options that it leaves open. Hundreds of launches from a pool mostly
// leave one of a few sets open, so that it is computed once for each set. It must not be written.
type Choices struct {
	Kinds              []int              // instance types, cheapest first
	Free               []int64            // for pods, whichever instance type it becomes
	Daemons            quantity.Resources // of daemon pods, on every instance type at least
	names, Zones, ways constraint.Set
	RunnersUp          []plan.Choice
	Archs              []string // in the order of the options
	reserved           int      // the first option, where instances of each are taken from the same reservation; else -1
}

// ChoicesOf returns the Choices of these options, which are of these instance types.
func (b *Candidate) ChoicesOf(options bitset.Set, kinds []int) *Choices {
	b.setText = AppendSet(b.setText[:0], options)
	return b.choices.Get(b.setText, func() *Choices { return b.newChoices(options, kinds) })
}

func (b *instances) newChoices(options bitset.Set, kinds []int) *Choices {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = b.InstanceTypeAt(k).Name
	}
	out := &Choices{
		Kinds: kinds, Free: b.leastFree(kinds), Daemons: b.leastDaemons(kinds),
		names: constraint.Values(names...), RunnersUp: b.runnersUp(options),
	}
	a := b.aspects()
	out.reserved = b.reserved(options)
	out.Zones, out.ways, out.Archs = constraint.Values(a.zones.of(options)...), constraint.Values(a.payments.of(options)...), a.archs.of(options)
	return out
}

// facets are the options of each value of one thing, such as of each zone.
type facets []facet

type facet struct {
	value   string
	options bitset.Set
}

// aspects is what options of a pool differ in besides their instance types: zone, capacity type, architecture.
type aspects struct{ zones, payments, archs facets }

// aspects returns those of the pool's options. They must not be written.
func (b *poolOptions) aspects() *aspects {
	return b.ready.kept(b.number).aspects.Get(func() *aspects {
		out := &aspects{}
		for i, o := range b.Options {
			offering := b.Offering(o)
			out.zones = out.zones.with(offering.Zone, i, len(b.Options))
			out.payments = out.payments.with(string(offering.Option), i, len(b.Options))
			if arch, ok := b.Label(o, cluster.LabelArch); ok {
				out.archs = out.archs.with(arch, i, len(b.Options))
			}
		}
		return out
	})
}

// with adds an option with this value to the facets; options is how many there are.
func (f facets) with(value string, option, options int) facets {
	at := slices.IndexFunc(f, func(x facet) bool { return x.value == value })
	if at < 0 {
		at = len(f)
		f = append(f, facet{value, bitset.New(options)})
	}
	f[at].options.Add(option)
	return f
}

// of lists the values that some of the options have, in their order.
func (f facets) of(options bitset.Set) []string {
	var out []string
	left := slices.DeleteFunc(slices.Clone(f), func(x facet) bool { return !x.options.Intersects(options) })
	for i := options.Next(0); i >= 0 && len(left) > 0; i = options.Next(i + 1) {
		if at := slices.IndexFunc(left, func(x facet) bool { return x.options.Has(i) }); at >= 0 {
			out = append(out, left[at].value)
			left = slices.Delete(left, at, at+1)
		}
	}
	return out
}

// leastFree is what instances of any of the instance types have for pods.
func (b *instances) leastFree(kinds []int) []int64 {
	out := slices.Clone(b.Free[kinds[0]])
	for _, k := range kinds[1:] {
		for i, v := range b.Free[k] {
			out[i] = min(out[i], v)
		}
	}
	return out
}

func (b *poolOptions) leastDaemons(kinds []int) quantity.Resources {
	out := b.Kinds[kinds[0]].Daemons
	for _, k := range kinds[1:] {
		out = out.Min(b.Kinds[k].Daemons)
	}
	return out
}

// runnersUp returns the next two instance types, with the reason why each was not chosen.
func (b *poolOptions) runnersUp(options bitset.Set) []plan.Choice {
	var out []plan.Choice
	for _, i := range b.next(options) {
		out = append(out, b.Choice(i, whyNot(b.Offering(b.Options[i]), b.Offering(b.Options[options.Next(0)]), 0)))
	}
	return out
}

// next returns the first option of each of the two instance types after the first one.
func (b *poolOptions) next(options bitset.Set) []int {
	first := options.Next(0)
	seen := []int{b.Options[first].Kind}
	var out []int
	for i := options.Next(first); i >= 0 && len(out) < 2; i = options.Next(i + 1) {
		if kind := b.Options[i].Kind; !slices.ContainsFunc(seen, func(k int) bool { return b.same(k, kind) }) {
			seen = append(seen, kind)
			out = append(out, i)
		}
	}
	return out
}

// whyNot says why an offering was not chosen that costs so much more than the best one, besides the
// difference of their prices.
func whyNot(o, best *cluster.Offering, more quantity.MicroUSDPerHour) string {
	switch {
	case best.Option == cluster.Reserved && o.Option != cluster.Reserved:
		return "not paid for already"
	case best.Covered() && !o.Covered():
		return "not covered by " + best.Cover.By
	case !o.Priced && best.Priced:
		return "its price is not known"
	case o.Price+more <= best.Price && o.Ranked()-o.Price > best.Ranked()-best.Price:
		return "likelier to be interrupted"
	case o.Price+more == best.Price:
		return "the same price, later by name"
	}
	return (o.Price + more - best.Price).String() + " more"
}

// same reports whether two instance types are one in the catalogue.
func (b *poolOptions) same(x, y int) bool { return b.Kinds[x].Of == b.Kinds[y].Of }

// firstParts is FirstKinds for a pool with several parts of some instance type: all parts of one count as one.
func (b *poolOptions) firstParts(options bitset.Set, needed map[int]bool) []int {
	admitted, seen := map[int]bool{}, b.kindMarks()
	for k := range needed {
		admitted[b.Kinds[k].Of] = true
	}
	var out []int
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		k := b.Options[i].Kind
		if seen[k] {
			continue
		}
		seen[k] = true
		if of := b.Kinds[k].Of; admitted[of] || len(admitted) < offering.TypesMax {
			admitted[of] = true
			out = append(out, k)
		}
	}
	return out
}
