package supply

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/offering"
	"slices"
)

// same reports whether two instance types are one in the catalogue.
func (b *Candidate) same(x, y int) bool { return b.Kinds[x].Of == b.Kinds[y].Of }

// firstParts is firstKinds where instance types are parted: all parts of an instance type count as
// one.
func (b *Candidate) firstParts(options bitset.Set, needed map[int]bool) []int {
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

// Closed narrows what a launch leaves open until nothing but that is asked for:
// instance types, zones and capacity types are each listed by themselves, and all of them
// together may also be a part of an instance type that is not meant, with less room. Then
// the zone, and if need be the capacity type, is the one of the first option.
func (b *Candidate) Closed(options bitset.Set, kinds []int) (bitset.Set, []int) {
	for _, f := range []facets{b.aspects().zones, b.aspects().payments} {
		first := options.Next(0)
		if first < 0 || !b.asksForMore(options, kinds) {
			break
		}
		options = options.Clone()
		options.And(f[slices.IndexFunc(f, func(x facet) bool { return x.options.Has(first) })].options)
		kinds = b.FirstKinds(options)
		b.keepKinds(options, kinds)
	}
	return options, kinds
}

// asksForMore reports whether the instance types, zones and capacity types of the options
// include another part of one of the instance types.
func (b *Candidate) asksForMore(options bitset.Set, kinds []int) bool {
	zones, payments := b.aspects().zones.of(options), b.aspects().payments.of(options)
	return slices.ContainsFunc(b.Options, func(o feasibility.Option) bool {
		offering := b.Offering(o)
		return !slices.Contains(kinds, o.Kind) && slices.ContainsFunc(kinds, func(k int) bool { return b.same(k, o.Kind) }) &&
			slices.Contains(zones, offering.Zone) && slices.Contains(payments, string(offering.Option))
	})
}
