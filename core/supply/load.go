package supply

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/topology"
)

// Load is what one new instance is to hold.
type Load struct {
	Option  int // that it was made for; a cheaper one may do
	Parts   []Part
	Sum     []int64
	Room    []int64 // what it must have besides, see pack.Instance; nil for nothing
	Modest  int     // 1 + an option: it takes no more of limits than instances of that; 0: any amount
	Custom  constraint.Requirements
	Relaxed bool
	Bound   int64 // pods of it that must share a host
}

// Part is n pods of one group, by one of its alternatives.
type Part struct {
	Group int
	N     int64
	Way   *Way
	First []int64        // what the first of them takes beyond its own amounts
	Ports []cluster.Port // of each of them
	Rules *topology.Rules
}

// Reset makes it an empty load of an instance that is launched by the option.
func (l *Load) Reset(option int) {
	l.Option, l.Parts, l.Room, l.Modest, l.Custom, l.Relaxed, l.Bound = option, l.Parts[:0], nil, 0, nil, false, 0
	clear(l.Sum)
}

// Copy makes the load equal to another one and shares nothing with it.
func (l *Load) Copy(of *Load) {
	parts, sum := append(l.Parts[:0], of.Parts...), append(l.Sum[:0], of.Sum...)
	*l = *of
	l.Parts, l.Sum = parts, sum
}

// fitsIn reports whether an instance with so much for pods holds the load.
func (l *Load) fitsIn(free []int64) bool {
	return amount.Fits(free, l.Sum) && amount.Fits(free, l.Room)
}

// Clone returns a copy that shares nothing but what is never written.
func (l *Load) Clone() Load {
	out := *l
	out.Parts, out.Sum = slices.Clone(l.Parts), slices.Clone(l.Sum)
	return out
}

// Add adds the pods of the part, of which one needs so much.
func (l *Load) Add(p Part, need []int64) {
	if p.N <= 0 {
		return
	}
	amount.Take(l.Sum, need, -p.N)
	if p.First != nil {
		amount.Take(l.Sum, p.First, -1)
	}
	if len(p.Way.Term.Custom) > 0 {
		l.Custom = l.Custom.AndAll(p.Way.Term.Custom)
	}
	for i := range l.Parts {
		if l.Parts[i].Group == p.Group {
			l.Parts[i].N += p.N
			return
		}
	}
	l.Parts = append(l.Parts, p)
}

// Conflict reports whether two pods with these ports cannot share a host.
func Conflict(a, b []cluster.Port) bool {
	return slices.ContainsFunc(a, func(p cluster.Port) bool { return slices.ContainsFunc(b, p.Conflicts) })
}

// FirstHolding returns the first option in the order of launching that may have
// the whole load, or -1.
func (b *pricing) FirstHolding(l *Load) int {
	if i, ok := b.firstOfFront(l); ok {
		return i
	}
	options := b.Together(l)
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if kind := b.Options[i].Kind; l.fitsIn(b.Free[kind]) && b.Bears(l, kind) {
			return i
		}
	}
	return -1
}

// firstOfFront is FirstHolding for loads of one lot, found in the lot's front. It says that it cannot tell
// where the pool has limits, the load must have more room than its pods take, or daemon pods forbid the option.
func (b *pricing) firstOfFront(l *Load) (option int, ok bool) {
	if b.Remaining != nil || len(l.Parts) == 0 || l.Room != nil {
		return -1, false
	}
	lot := l.Parts[0].Way.Lot
	if slices.ContainsFunc(l.Parts, func(p Part) bool { return p.Way.Lot != lot }) {
		return -1, false
	}
	option = b.first(lot, l.Sum)
	return option, option >= 0 && b.WithinLimits.Has(option) && b.Bears(l, b.Options[option].Kind)
}
