package device

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/effort"
)

// Allocation is what bundles have of an inventory, one after another. It does not change: With makes another one.
type Allocation struct{ end search }

// Unallocated is the allocation of nothing from the inventory.
func (inv *Inventory) Unallocated() *Allocation {
	n := len(inv.Devices)
	a := &Allocation{search{inv: inv, taken: make([]int32, n), holders: make([]int32, n), left: make([][]int64, n)}}
	for _, c := range inv.Counters {
		a.end.counters = append(a.end.counters, c.Amount)
	}
	for i := range inv.Devices {
		if d := &inv.Devices[i]; d.Shared {
			for _, c := range d.Capacity {
				a.end.left[i] = append(a.end.left[i], c.Amount-c.Used)
			}
		}
	}
	return a
}

// With allocates further bundles. Where they find nothing in what is left, all bundles are allocated anew, if that can
// help, with steps of the effort: known is false where these do not suffice to find an allocation, or that there is
// none. next is nil where none is found.
//
// Cost: linear in devices, for each of the further bundles, beside the effort.
func (a *Allocation) With(more []*Bundle, e *effort.Count) (next *Allocation, known bool) {
	few := &effort.Count{Most: fewSteps + 2*int64(len(more))*int64(len(a.end.inv.Devices))}
	all := slices.Concat(a.end.bundles, more)
	if s := a.search(all, few); s.bundle(len(a.end.bundles)) {
		return &Allocation{*s}, true
	}
	if !few.Exhausted && a.holdsAll(more) {
		return nil, true
	}
	slices.SortStableFunc(all, func(x, y *Bundle) int { return cmp.Compare(x.Name, y.Name) })
	if s := a.end.inv.Unallocated().search(all, e); s.bundle(0) {
		return &Allocation{*s}, true
	}
	return nil, !e.Exhausted
}

// fewSteps is what bundles may take to be allocated from what is left, beside two looks at each device for each.
const fewSteps = 1000

// search is a search that begins where the allocation ended, for all these bundles.
func (a *Allocation) search(bundles []*Bundle, e *effort.Count) *search {
	s := a.end
	s.bundles, s.effort, s.failed = bundles, e, map[string]bool{}
	s.taken, s.holders, s.counters = slices.Clone(s.taken), slices.Clone(s.holders), slices.Clone(s.counters)
	s.left = slices.Clone(s.left)
	for i := range s.left {
		s.left[i] = slices.Clone(s.left[i])
	}
	if what := read(bundles); s.kinds == nil || !what.equal(s.reads) {
		s.reads = what
		s.sortKinds()
	}
	return &s
}

func (r reading) equal(other reading) bool {
	return slices.Equal(r.selectors, other.selectors) && slices.Equal(r.attributes, other.attributes)
}

// holdsAll reports whether the bundles are equal ones of one device, and others like them have all devices that would
// do and are not free: then nothing is gained where all are allocated anew.
func (a *Allocation) holdsAll(bundles []*Bundle) bool {
	ask, s := bundles[0].single(), &a.end
	if ask == nil || slices.ContainsFunc(bundles, func(b *Bundle) bool { return b.Name != bundles[0].Name }) {
		return false
	}
	for i := range s.inv.Devices {
		d := &s.inv.Devices[i]
		switch {
		case !d.suits(ask):
		case d.Shared, len(d.Consumes) > 0, s.taken[i] > 0 && s.bundles[s.holders[i]].Name != bundles[0].Name:
			return false
		}
	}
	return true
}
