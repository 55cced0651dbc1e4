package supply

import (
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
)

// Lot is a set of options that some pods may have. Thousands of shapes mostly need a handful of lots, and what
// can be said of a lot is found out once.
type Lot struct {
	options bitset.Set
	front   []int // see newLot
	kinds   kinds // the last answer of kindsOf
}

// kinds lists the instance types of some options, in the order of their first options.
type kinds struct {
	options bitset.Set
	list    []int
}

// lotOf returns the lot of these options, the same one for equal sets.
func (b *Candidate) lotOf(options bitset.Set) *Lot {
	if l := b.lastLot; l != nil && len(options) > 0 && &l.options[0] == &options[0] {
		return l
	}
	b.setText = AppendSet(b.setText[:0], options)
	l := b.lots[string(b.setText)]
	if l == nil {
		l = b.newLot(options)
		if b.lots == nil {
			b.lots = map[string]*Lot{}
		}
		b.lots[string(b.setText)] = l
	}
	b.lastLot = l
	return l
}

// AppendSet appends a text that is equal for equal sets of options, as the key of a map.
func AppendSet(text []byte, options bitset.Set) []byte {
	text = slices.Grow(text, 8*len(options))
	for _, word := range options {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	return text
}

// newLot finds the front: the available options in the order of launching, without those of which an earlier one
// has at least as much of everything. The option launched first for a pod is always in the front.
func (b *obtainable) newLot(options bitset.Set) *Lot {
	key := AppendSet(AppendSet(nil, options), b.AvailableNow)
	return &Lot{options: options, front: *b.fronts.Get(key, func() *[]int {
		var front []int
		for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
			free := b.Free[b.Options[i].Kind]
			if b.AvailableNow.Has(i) && !slices.ContainsFunc(front, func(o int) bool { return amount.Covers(b.Free[b.Options[o].Kind], free) }) {
				front = append(front, i)
			}
		}
		return &front
	})}
}

// first finds the first available option in the order of launching that holds
// one pod, or -1.
func (b *instances) first(l *Lot, need []int64) int {
	for _, i := range l.front {
		if amount.Fits(b.Free[b.Options[i].Kind], need) {
			return i
		}
	}
	return -1
}
