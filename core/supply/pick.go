package supply

import (
	"slices"
)

// FirstHolding returns the first option in the order of launching that may have
// the whole load, or -1.
func (b *Candidate) FirstHolding(l *Load) int {
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

// firstOfFront is firstHolding where the front of one lot says it: no limit
// forbids any of it, and no daemon pods are in the way.
func (b *Candidate) firstOfFront(l *Load) (option int, ok bool) {
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
