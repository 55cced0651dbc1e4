package place

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/offering"
)

// keepMinValues cuts the load down until enough values stay open for every
// minValues of the pool. Where even the least is too much it gives up or, by
// policy, lets the pool be. The least is one pod, or the whole co-located set that the
// instance is launched for; of others that must share a host all stay or none.
func (li *lister) keepMinValues(b *candidate, l load, e errand) (load, feasibility.Reason) {
	if li.keeps(b, &l) {
		return l, feasibility.Reason{}
	}
	t := li.trimOf(&l, e)
	low, high := t.least, l.pods()
	if short := b.minValuesOf(li.cut(&l, t, low)); short != nil {
		if li.run.options.MinValues == BestEffort {
			l.relaxed = true
			return l, feasibility.Reason{}
		}
		return load{}, *short
	}
	if all := li.allBound(&l, t); all.least > low && li.keeps(b, li.cut(&l, all, all.least)) {
		t, low = all, all.least
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; li.keeps(b, li.cut(&l, t, mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	out := li.cut(&l, t, low)
	li.run.tournament.stabilize(b, out)
	return *out, feasibility.Reason{}
}

// trim is how a load may be cut.
type trim struct {
	stay  []int64 // by part: pods that stay whatever goes
	rest  []int64 // by part: pods of which any number may stay, the first first
	least int64   // pods
}

// trimOf is how the load of an errand may be cut without tearing apart pods that
// must share a host. A co-located set that is torn apart anyway is cut like any pods.
func (li *lister) trimOf(l *load, e errand) trim {
	out := trim{make([]int64, len(l.parts)), make([]int64, len(l.parts)), 1}
	torn := e.g == nil || e.g.component != nil && !e.whole
	for i, p := range l.parts {
		if torn || li.run.groups[p.group].component == nil {
			out.rest[i] = p.n
		}
	}
	if !e.whole {
		return out
	}
	out.least = 0
	for _, m := range e.colocation.parts {
		if at := slices.IndexFunc(l.parts, func(p part) bool { return p.group == m.g.at }); at >= 0 {
			out.stay[at] = min(m.n, l.parts[at].n)
			out.least += out.stay[at]
		}
	}
	return out
}

// allBound is the trim with all pods that must share a host.
func (li *lister) allBound(l *load, t trim) trim {
	out := trim{slices.Clone(t.stay), t.rest, 0}
	for i, p := range l.parts {
		if li.run.groups[p.group].component != nil && t.rest[i] == 0 {
			out.stay[i] = p.n
		}
		out.least += out.stay[i]
	}
	return out
}

func (li *lister) keeps(b *candidate, l *load) bool { return !b.varied || b.minValuesOf(l) == nil }

func (l *load) pods() int64 {
	var n int64
	for _, p := range l.parts {
		n += p.n
	}
	return n
}

// cut returns the load with n pods only: those that stay, and the first others.
func (li *lister) cut(l *load, t trim, n int64) *load {
	out := &load{option: l.option, modest: l.modest, sum: make([]int64, li.run.dims.Len())}
	for _, m := range t.stay {
		n -= m
	}
	for i, p := range l.parts {
		m := min(max(0, n), t.rest[i])
		g := li.run.groups[p.group]
		out.add(g.part(p.way, t.stay[i]+m, p.first), g.need)
		n -= m
	}
	return out
}

func (b *candidate) minValuesOf(l *load) *feasibility.Reason {
	options := b.holding(l)
	kinds := b.firstKinds(options)
	if b.parted {
		options, kinds = b.closed(options, kinds)
	}
	return b.minValuesShort(options, kinds)
}

// minValuesShort names the first key of which fewer values stay open than the
// pool asks for, if only the given instance types are listed; nil if there is none.
func (b *candidate) minValuesShort(options bitset.Set, kinds []int) *feasibility.Reason {
	if !b.varied {
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

// keepable lowers minValues to what the options and instance types that are left open keep, where
// fewer may do. A label that no instance type has is decided by the pool, and minValues
// asks for no more values of it than that left.
func (b *candidate) keepable(list constraint.Requirements, relaxed bool, options bitset.Set, kinds []int) constraint.Requirements {
	if !b.varied {
		return list
	}
	return list.LowerMinValues(func(q constraint.Requirement) int {
		switch finite, ok := q.Set.Finite(); {
		case !b.Defines(q.Key) && ok:
			return len(finite)
		case b.Defines(q.Key) && relaxed:
			return len(b.values(q, options, kinds))
		}
		return q.MinValues
	})
}

func (b *candidate) values(q constraint.Requirement, options bitset.Set, kinds []int) map[string]bool {
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

// firstKinds returns the cheapest instance types, offering.TypesMax at most. Where minValues asks
// for more variety the most expensive are left out for instance types that bring new values.
func (b *candidate) firstKinds(options bitset.Set) []int {
	needed := b.variety(options)
	if b.parted {
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
func (b *candidate) kindMarks() []bool {
	if b.marks == nil {
		b.marks = make([]bool, len(b.Kinds))
	}
	clear(b.marks)
	return b.marks
}

// variety returns the cheapest instance types that together bring as many values as
// minValues asks for.
func (b *candidate) variety(options bitset.Set) map[int]bool {
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
