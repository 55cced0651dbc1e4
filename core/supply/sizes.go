package supply

import (
	"fmt"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// How large an instance may be, compared with all that pods request. Half of the last instance of an instance type is idle on average,
// and an instance goes only once all of its pods have gone: of few large instances more is idle while the number of
// pods changes. Source: daemok simulate with a day of services-b, which costs 7 % less with a twelfth than with
// instances of any size, and 4 and 6 % more with an eighth and a twenty-fifth than with a twelfth.
const (
	largestShare = 1.0 / 12
	largestPods  = 2 // or so many times the largest pod
)

// smallEnough is never too large: in a small cluster there is little to save.
var smallEnough = quantity.Resources{CPU: 8000, Memory: 64 * quantity.GiB}

// Sizes says which instances are too large for the cluster.
type Sizes struct {
	all  quantity.Resources // that pods request
	most quantity.Resources // the largest amounts that are never too large
}

// SizesOf adds up what pods on nodes and waiting pods request.
func SizesOf(s *cluster.Snapshot) *Sizes {
	out := &Sizes{most: smallEnough}
	for i := range s.Waiting {
		out.see(&s.Waiting[i], true)
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			out.see(&s.Nodes[i].Pods[j], s.Nodes[i].Deleting)
		}
	}
	return out
}

func (z *Sizes) see(p *cluster.Pod, waits bool) {
	need := p.Shape.Requests
	z.all = z.all.Add(need)
	if !waits {
		return
	}
	for range largestPods - 1 {
		need = need.Add(p.Shape.Requests)
	}
	z.most = z.most.Max(need)
}

// TooLarge reports whether an instance has more than its share of cpu and memory, in the mean of both.
func (z *Sizes) TooLarge(has quantity.Resources) bool {
	if has.CPU <= z.most.CPU && has.Memory <= z.most.Memory || z.all.CPU <= 0 || z.all.Memory <= 0 {
		return false
	}
	return float64(has.CPU)/float64(z.all.CPU)+float64(has.Memory)/float64(z.all.Memory) > 2*largestShare
}

// roomy returns the terms without the options that leave less to pods than the pool's floor asks for, and without
// those that are too large for the cluster; nil where the pool has no such options.
func (b *instances) roomy(terms []feasibility.Term) []feasibility.Term {
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
func (b *instances) recordCramped() {
	for k := range b.Kinds {
		if b.Kinds[k].Cramped {
			b.cramped = b.withKind(b.cramped, k)
		}
		if b.tooLarge(k) {
			b.large = b.withKind(b.large, k)
		}
	}
	if b.large != nil && b.large.Count() == len(b.Options) {
		b.large = nil // there are no others
	}
}

// withKind returns the set with the options of the instance type.
func (b *instances) withKind(set bitset.Set, kind int) bitset.Set {
	if set == nil {
		set = bitset.New(len(b.Options))
	}
	for _, i := range b.optionsOf(kind) {
		set.Add(i)
	}
	return set
}

// tooLarge reports whether instances of the instance type are too large for the cluster. Where the pool may have so
// many nodes only, none is.
func (b *instances) tooLarge(kind int) bool {
	return b.sizes != nil && b.Pool.Limits.Nodes == nil && b.sizes.TooLarge(b.InstanceTypeAt(kind).Capacity)
}

// IsCramped reports whether an instance of the option leaves less to pods than the pool's floor asks for.
func (b *instances) IsCramped(option int) bool { return b.cramped != nil && b.cramped.Has(option) }

// leaveCramped removes cramped options and those that are too large for the cluster.
func (b *instances) leaveCramped(options bitset.Set) {
	for i := range b.cramped {
		options[i] &^= b.cramped[i]
	}
	for i := range b.large {
		options[i] &^= b.large[i]
	}
}

// keepingRoom returns the ways if one of them has an instance for the pod, with as many values open as minValues
// asks for; else nil, and the floor is ignored.
func (b *obtainable) keepingRoom(ways []Way, need []int64) []Way {
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
func (b *poolOptions) keepsValues(options bitset.Set) bool {
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

// CrampedNote says that an instance leaves pods less than the pool's floor asks for, because no other can be had;
// empty where it leaves them enough.
func (b *poolOptions) CrampedNote(kind int) string {
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
