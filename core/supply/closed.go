package supply

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/feasibility"
)

// Closed narrows what a launch leaves open until the request asks for nothing else. A request lists instance types, zones
// and capacity types separately, so that together they may also name another part of an instance type, with less room, or
// an option that limits forbid. Then only some zones and capacity types stay, at least those of the first option.
func (b *obtainable) Closed(options bitset.Set, kinds []int) (bitset.Set, []int) {
	zones, payments := b.aspects().zones, b.aspects().payments
	var tries [][]facets
	switch {
	case b.Parted:
		tries = [][]facets{{zones}, {zones, payments}}
	case b.Remaining != nil && b.Remaining.uneven:
		tries = [][]facets{{payments}, {zones}, {payments, zones}}
	default:
		return options, kinds
	}
	all := options
	for _, narrowed := range tries {
		first := all.Next(0)
		if first < 0 || !b.asksForMore(options, kinds) {
			break
		}
		options = all.Clone()
		for _, f := range narrowed {
			options.And(f[slices.IndexFunc(f, func(x facet) bool { return x.options.Has(first) })].options)
		}
		kinds = b.FirstKinds(options)
		b.keepKinds(options, kinds)
	}
	return options, kinds
}

// asksForMore reports whether the instance types, zones and capacity types of the options include another part of one of
// the instance types, or an option that limits forbid or of which more than of these is taken of limits.
func (b *obtainable) asksForMore(options bitset.Set, kinds []int) bool {
	zones, payments := b.aspects().zones.of(options), b.aspects().payments.of(options)
	asked := func(o feasibility.Option) bool {
		offering := b.Offering(o)
		return slices.Contains(zones, offering.Zone) && slices.Contains(payments, string(offering.Option))
	}
	otherPart := func(o feasibility.Option) bool {
		return !slices.Contains(kinds, o.Kind) && asked(o) &&
			slices.ContainsFunc(kinds, func(k int) bool { return b.same(k, o.Kind) })
	}
	if b.Parted && slices.ContainsFunc(b.Options, otherPart) {
		return true
	}
	if b.Remaining == nil || !b.Remaining.uneven {
		return false
	}
	listed, most := b.kindMarks(), charge{takes: b.Remaining.Largest(options)}
	for _, k := range kinds {
		listed[k] = true
	}
	for i, o := range b.Options {
		c := b.Remaining.of(i)
		unpriced := c.barred && !b.Offering(o).Available
		if !listed[o.Kind] || options.Has(i) || unpriced || !asked(o) {
			continue
		}
		if !b.Remaining.allows(c) || !b.Remaining.noMore(c, &most, 1) {
			return true
		}
	}
	return false
}
