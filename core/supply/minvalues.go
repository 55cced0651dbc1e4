package supply

import (
	"fmt"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/offering"
)

// Pods counts the pods of the load.
func (l *Load) Pods() int64 {
	var n int64
	for _, p := range l.Parts {
		n += p.N
	}
	return n
}

// MinValuesOf says which minValues is not met if the load is launched; nil if all are.
func (b *pricing) MinValuesOf(l *Load) *feasibility.Reason {
	options := b.Holding(l)
	options, kinds := b.Closed(options, b.FirstKinds(options))
	return b.MinValuesShort(options, kinds)
}

// MinValuesShort names the first key of which fewer values stay open than the
// pool asks for, if only the given instance types are listed; nil if there is none.
func (b *poolOptions) MinValuesShort(options bitset.Set, kinds []int) *feasibility.Reason {
	if !b.Varied {
		return nil
	}
	for _, q := range b.Requirements {
		if q.MinValues <= 0 || !b.Defines(q.Key) {
			continue
		}
		if have := len(b.values(q, options, kinds)); have < q.MinValues {
			text := fmt.Sprintf("minValues of %s is %d, and only %d values have room", q.Key, q.MinValues, have)
			if have == 1 {
				text = fmt.Sprintf("minValues of %s is %d, and only one value has room", q.Key, q.MinValues)
			}
			return &feasibility.Reason{Rule: feasibility.MinValues, Key: q.Key, Text: text}
		}
	}
	return nil
}

// Keepable lowers minValues to as many values as the open options and instance types have, where fewer may do.
// The pool decides a label that no instance type has: minValues asks for no more values of it than the pool
// allows.
func (b *poolOptions) Keepable(list constraint.Requirements, relaxed bool, options bitset.Set, kinds []int) constraint.Requirements {
	if !b.Varied {
		return list
	}
	most := map[string]int{}
	for _, q := range list {
		if q.MinValues <= 0 {
			continue
		}
		switch finite, ok := q.Set.Finite(); {
		case !b.Defines(q.Key) && ok:
			most[q.Key] = len(finite)
		case b.Defines(q.Key) && relaxed:
			most[q.Key] = len(b.values(q, options, kinds))
		}
	}
	return list.LowerMinValues(most)
}

func (b *poolOptions) values(q constraint.Requirement, options bitset.Set, kinds []int) map[string]bool {
	listed := make(map[int]bool, len(kinds))
	for _, k := range kinds {
		listed[k] = true
	}
	seen := map[string]bool{}
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if value, ok := b.Label(b.Options[i], q.Key); ok && listed[b.Options[i].Kind] {
			seen[value] = true
		}
	}
	return seen
}

// FirstKinds returns the cheapest instance types, offering.TypesMax at most. Where minValues asks
// for more variety the most expensive are left out for instance types that bring new values.
func (b *poolOptions) FirstKinds(options bitset.Set) []int {
	needed := b.variety(options)
	if b.Parted {
		return b.firstParts(options, needed)
	}
	var out []int
	seen := b.kindMarks()
	spare := offering.TypesMax - len(needed)
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		k := b.Options[i].Kind
		if seen[k] {
			continue
		}
		seen[k] = true
		if !needed[k] {
			if spare <= 0 && len(needed) == 0 {
				break
			}
			if spare <= 0 {
				continue
			}
			spare--
		}
		out = append(out, k)
	}
	return out[:min(len(out), offering.TypesMax)]
}

// kindMarks returns a mark for each instance type, all unset; the next call unsets them.
func (b *poolOptions) kindMarks() []bool {
	if b.marks == nil {
		b.marks = make([]bool, len(b.Kinds))
	}
	clear(b.marks)
	return b.marks
}

// variety returns the cheapest instance types that together bring as many values as
// minValues asks for.
func (b *poolOptions) variety(options bitset.Set) map[int]bool {
	needed := map[int]bool{}
	for _, q := range b.Requirements {
		if q.MinValues <= 0 || !b.Defines(q.Key) {
			continue
		}
		seen := map[string]bool{}
		for i := options.Next(0); i >= 0 && len(seen) < q.MinValues; i = options.Next(i + 1) {
			if value, ok := b.Label(b.Options[i], q.Key); ok && !seen[value] {
				seen[value], needed[b.Options[i].Kind] = true, true
			}
		}
	}
	return needed
}
