package supply

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
)

// OnlyReservedCapacities narrows a launch whose first option draws on capacity reservations to the options that
// draw on the same ones. They are counted as taken, and an instance that is paid for already may be far larger
// than one that would be launched for the same pods. Where minValues needs more options, all stay open but those that a
// commitment pays for: which of the others is launched is not known, and most are not paid for.
func (b *poolOptions) OnlyReservedCapacities(options bitset.Set, kinds []int) (bitset.Set, []int) {
	first := b.Offering(b.Options[options.Next(0)])
	if len(first.ReservedCapacities) == 0 {
		return options, kinds
	}
	only := options.Clone()
	for i := only.Next(0); i >= 0; i = only.Next(i + 1) {
		if !b.Offering(b.Options[i]).DrawsAlike(first) {
			only.Remove(i)
		}
	}
	left := b.FirstKinds(only)
	if b.MinValuesShort(only, left) == nil {
		b.keepKinds(only, left)
		return only, left
	}
	if first.Covered() {
		return b.uncovered(options, kinds)
	}
	return options, kinds
}

// uncovered is the options without those that a commitment pays for; where minValues needs these too, all.
func (b *poolOptions) uncovered(options bitset.Set, kinds []int) (bitset.Set, []int) {
	only := options.Clone()
	for i := only.Next(0); i >= 0; i = only.Next(i + 1) {
		if b.Offering(b.Options[i]).Covered() {
			only.Remove(i)
		}
	}
	left := b.FirstKinds(only)
	if only.Next(0) < 0 || b.MinValuesShort(only, left) != nil {
		return options, kinds
	}
	b.keepKinds(only, left)
	return only, left
}

// reserved is the first of the options where instances of each are taken from the same
// reservation, by their label; else -1.
func (b *poolOptions) reserved(options bitset.Set) int {
	first := options.Next(0)
	id, _ := b.Offering(b.Options[first]).Labels.Get(cluster.LabelReservation)
	for i := first; i >= 0; i = options.Next(i + 1) {
		if from, _ := b.Offering(b.Options[i]).Labels.Get(cluster.LabelReservation); from == "" || from != id {
			return -1
		}
	}
	return first
}

// ReservedCapacitiesOf is what an instance launched by the option is taken from; nothing where the number of
// instances is not limited.
func (b *poolOptions) ReservedCapacitiesOf(option int) []cluster.ReservedCapacity {
	return b.Offering(b.Options[option]).ReservedCapacities
}
