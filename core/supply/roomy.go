package supply

import (
	"fmt"
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// roomy is the terms without the options that leave less to pods than the pool's
// floor asks for, and without those that are too large for the cluster; nil where all are.
func (b *Candidate) roomy(terms []feasibility.Term) []feasibility.Term {
	if b.cramped == nil && b.large == nil {
		return nil
	}
	out := make([]feasibility.Term, 0, len(terms))
	for _, t := range terms {
		t.Options = t.Options.Clone()
		b.leaveCramped(t.Options)
		if t.Options.Next(0) >= 0 {
			out = append(out, t)
		}
	}
	return out
}

// recordCramped lists the options that leave too little to pods, and those that are too large for the cluster.
func (b *Candidate) recordCramped() {
	add := func(to *bitset.Set, option int) {
		if *to == nil {
			*to = bitset.New(len(b.Options))
		}
		to.Add(option)
	}
	for i, o := range b.Options {
		if b.Kinds[o.Kind].Cramped {
			add(&b.cramped, i)
		}
		if b.tooLarge(o.Kind) {
			add(&b.large, i)
		}
	}
	if b.large != nil && b.large.Count() == len(b.Options) {
		b.large = nil // there are no others
	}
}

// tooLarge reports whether instances of the instance type are too large for the cluster. Where the pool may have so
// many nodes only, none is.
func (b *Candidate) tooLarge(kind int) bool {
	return b.sizes != nil && b.Pool.Limits.Nodes == nil && b.sizes.TooLarge(b.InstanceTypeAt(kind).Capacity)
}

func (b *Candidate) IsCramped(option int) bool { return b.cramped != nil && b.cramped.Has(option) }

// leaveCramped removes both from the options.
func (b *Candidate) leaveCramped(options bitset.Set) {
	for i := range b.cramped {
		options[i] &^= b.cramped[i]
	}
	for i := range b.large {
		options[i] &^= b.large[i]
	}
}

// keepingRoom is the ways if an instance for the pod can be had by one of them, with
// as many values open as minValues asks for; else the floor gives way.
func (b *Candidate) keepingRoom(ways []Way, need []int64) []Way {
	for _, w := range ways {
		may := w.Options.Clone()
		for i := may.Next(0); i >= 0; i = may.Next(i + 1) {
			if !b.WithinLimits.Has(i) || !amount.Fits(b.Free[b.Options[i].Kind], need) {
				may.Remove(i)
			}
		}
		if may.Next(0) >= 0 && (!b.Varied || b.keepsValues(may)) {
			return ways
		}
	}
	return nil
}

// keepsValues reports whether the options have as many values as minValues asks for.
func (b *Candidate) keepsValues(options bitset.Set) bool {
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

// CrampedNote says of an instance that leaves pods less than the pool's floor asks
// for that no other can be had.
func (b *Candidate) CrampedNote(kind int) string {
	if !b.Kinds[kind].Cramped {
		return ""
	}
	return fmt.Sprintf("a %s leaves pods %s of its memory of %s: none that leaves them %s can be had for these pods",
		b.InstanceTypeAt(kind).Name, roundly(b.Kinds[kind].Free.Memory), roundly(b.InstanceTypeAt(kind).Memory()), b.Floor.Room)
}

// roundly is an amount of memory in whole mebibytes.
func roundly(memory quantity.Bytes) quantity.Bytes {
	return max(0, memory) / quantity.MiB * quantity.MiB
}
