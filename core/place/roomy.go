package place

import (
	"fmt"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/quantity"
)

// roomy is the terms without the options that leave less to pods than the pool's
// floor asks for; nil where it asks for nothing, or all leave as much.
func (b *buyer) roomy(terms []fit.Term) []fit.Term {
	if b.cramped == nil {
		return nil
	}
	out := make([]fit.Term, 0, len(terms))
	for _, t := range terms {
		t.Options = t.Options.Clone()
		b.leaveCramped(t.Options)
		if t.Options.Next(0) >= 0 {
			out = append(out, t)
		}
	}
	return out
}

// noteCramped lists the options that leave too little to pods.
func (b *buyer) noteCramped() {
	for i, o := range b.Options {
		if !b.Kinds[o.Kind].Cramped {
			continue
		}
		if b.cramped == nil {
			b.cramped = bitset.New(len(b.Options))
		}
		b.cramped.Add(i)
	}
}

func (b *buyer) isCramped(option int) bool { return b.cramped != nil && b.cramped.Has(option) }

// leaveCramped removes these from the options.
func (b *buyer) leaveCramped(options bitset.Set) {
	for i := range b.cramped {
		options[i] &^= b.cramped[i]
	}
}

// keepingRoom is the ways if a machine for the pod can be had by one of them, with
// as many values open as minValues asks for; else the floor gives way.
func (b *buyer) keepingRoom(ways []way, need []int64) []way {
	for _, w := range ways {
		may := w.options.Clone()
		for i := may.Next(0); i >= 0; i = may.Next(i + 1) {
			if !b.within.Has(i) || !amount.Fits(b.free[b.Options[i].Kind], need) {
				may.Remove(i)
			}
		}
		if may.Next(0) >= 0 && (!b.varied || b.keepsValues(may)) {
			return ways
		}
	}
	return nil
}

// keepsValues reports whether the options have as many values as minValues asks for.
func (b *buyer) keepsValues(options bitset.Set) bool {
	for _, r := range b.Requirements {
		column := b.Column(r.Key)
		if r.MinValues <= 0 || column == nil {
			continue
		}
		values := map[int32]bool{}
		for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
			if of := column.Of[i]; of >= 0 {
				values[of] = true
			}
		}
		if len(values) < r.MinValues {
			return false
		}
	}
	return true
}

// crampedNote says of a machine that leaves pods less than the pool's floor asks
// for that no other can be had.
func (b *buyer) crampedNote(kind int) string {
	if !b.Kinds[kind].Cramped {
		return ""
	}
	return fmt.Sprintf("a %s leaves pods %s of its memory of %s: none that leaves them %s can be had for these pods",
		b.KindAt(kind).Name, roundly(b.Kinds[kind].Free.Memory), roundly(b.KindAt(kind).Memory()), b.Floor.Room)
}

// roundly is an amount of memory in whole mebibytes.
func roundly(memory quantity.Bytes) quantity.Bytes {
	return max(0, memory) / quantity.MiB * quantity.MiB
}
