package place

import (
	"fmt"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
)

// keepMinValues cuts the load down until enough values stay open for every
// minValues of the pool. Where even one pod is too many it gives up or, by
// policy, lets the pool be.
func (r *run) keepMinValues(b *buyer, l load) (load, fit.Reason) {
	if r.keeps(b, &l) {
		return l, fit.Reason{}
	}
	one := r.cut(&l, 1)
	if short := b.minValuesOf(one); short != nil {
		if r.options.MinValues == BestEffort {
			l.relaxed = true
			return l, fit.Reason{}
		}
		return load{}, *short
	}
	low, high := int64(1), l.pods()
	for high-low > 1 {
		if mid := low + (high-low)/2; r.keeps(b, r.cut(&l, mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	out := r.cut(&l, low)
	r.settle(b, out)
	return *out, fit.Reason{}
}

func (r *run) keeps(b *buyer, l *load) bool { return !b.varied || b.minValuesOf(l) == nil }

func (l *load) pods() int64 {
	var n int64
	for _, p := range l.parts {
		n += p.n
	}
	return n
}

// cut returns the load with its first n pods only.
func (r *run) cut(l *load, n int64) *load {
	out := &load{option: l.option, sum: make([]int64, r.dims.len())}
	for _, p := range l.parts {
		m := min(n, p.n)
		out.add(r.groups[p.group], p.way, m, p.first)
		n -= m
	}
	return out
}

func (b *buyer) minValuesOf(l *load) *fit.Reason {
	options := b.holding(l)
	return b.minValuesShort(options, b.firstKinds(options))
}

// minValuesShort names the first key of which fewer values stay open than the
// pool asks for, if only the given kinds are listed; nil if there is none.
func (b *buyer) minValuesShort(options bitset.Set, kinds []int) *fit.Reason {
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
			return &fit.Reason{Rule: fit.MinValues, Key: q.Key, Text: text}
		}
	}
	return nil
}

func (b *buyer) values(q constraint.Requirement, options bitset.Set, kinds []int) map[string]bool {
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

// firstKinds returns the cheapest kinds, kindsMax at most. Where minValues asks
// for more variety the dearest are left out for kinds that bring new values.
func (b *buyer) firstKinds(options bitset.Set) []int {
	needed := b.variety(options)
	var out []int
	seen := b.kindMarks()
	spare := kindsMax - len(needed)
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
	return out[:min(len(out), kindsMax)]
}

// kindMarks returns a mark for each kind, all unset; the next call unsets them.
func (b *buyer) kindMarks() []bool {
	if b.marks == nil {
		b.marks = make([]bool, len(b.Kinds))
	}
	clear(b.marks)
	return b.marks
}

// variety returns the cheapest kinds that together bring as many values as
// minValues asks for.
func (b *buyer) variety(options bitset.Set) map[int]bool {
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
