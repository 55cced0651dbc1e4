package device

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/quantity"
)

// Allocates reports whether all bundles together can be allocated from the inventory. It is false, too, where the
// steps of the effort do not suffice to tell. Devices that differ in nothing that the bundles read count as
// equal, and are tried once; equal bundles should follow each other.
//
// Cost: at most exponential in the kinds of devices, not in their number.
func (inv *Inventory) Allocates(bundles []*Bundle, e *effort.Count) bool {
	return inv.Unallocated().search(bundles, e).bundle(0)
}

// search is one search for an allocation.
type search struct {
	inv      *Inventory
	bundles  []*Bundle
	effort   *effort.Count
	reads    reading
	kinds    []int32 // by device: equal for those between which there is no choice
	kindsN   int
	taken    []int32   // by device: how often it is allocated
	holders  []int32   // by device that is allocated: the position of a bundle that has it
	counters []int64   // what is left, by counter of the inventory
	left     [][]int64 // of capacities, by shared device
	failed   map[string]bool

	// Of the bundle at hand:
	values []tally // by constraint
	count  int     // devices of it
}

// tally is what devices of a bundle have of the attribute of a constraint.
type tally struct{ values []string }

// sortKinds finds the devices that are equal for all bundles.
func (s *search) sortKinds() {
	s.kinds = nil
	known := map[string]int32{}
	for i := range s.inv.Devices {
		text := s.reads.of(&s.inv.Devices[i])
		kind, ok := known[text]
		if !ok {
			kind = int32(len(known))
			known[text] = kind
		}
		s.kinds = append(s.kinds, kind)
	}
	s.kindsN = len(known)
}

// reading is what bundles read of devices.
type reading struct {
	selectors  []int
	attributes []string
}

func read(bundles []*Bundle) (out reading) {
	for _, b := range bundles {
		for _, c := range b.Constraints {
			out.attributes = append(out.attributes, c.Attribute)
		}
		for i := range b.Requests {
			for _, a := range b.Requests[i].Alternatives {
				out.selectors = append(out.selectors, a.Selector)
			}
		}
	}
	slices.Sort(out.selectors)
	slices.Sort(out.attributes)
	return reading{slices.Compact(out.selectors), slices.Compact(out.attributes)}
}

// of is equal for devices that are equal for the bundles.
func (r reading) of(d *Device) string {
	var b strings.Builder
	for _, n := range r.selectors {
		fmt.Fprint(&b, d.meets(n), d.fails(n), " ")
	}
	for _, name := range r.attributes {
		value, has := d.Attribute(name)
		fmt.Fprintf(&b, "%v%q", has, value)
	}
	fmt.Fprint(&b, d.Taints, d.Consumes, d.Shared, d.Taken, d.Capacity)
	return b.String()
}

func (d *Device) fails(selector int) bool { return selector < 64*len(d.Fails) && d.Fails.Has(selector) }

func (d *Device) failsAny(selectors []int) bool { return slices.ContainsFunc(selectors, d.fails) }

func (d *Device) meets(selector int) bool { return selector < 64*len(d.Meets) && d.Meets.Has(selector) }

// bundle allocates the bundles from this one on.
func (s *search) bundle(at int) bool {
	if at == len(s.bundles) {
		return true
	}
	state := s.state(at)
	if s.failed[state] {
		return false
	}
	values, count := s.values, s.count
	s.values, s.count = make([]tally, len(s.bundles[at].Constraints)), 0
	ok := s.request(at, 0)
	s.values, s.count = values, count
	if !ok && !s.effort.Exhausted {
		s.failed[state] = true
	}
	return ok
}

// state is equal where the same is left for the bundles from this one on.
func (s *search) state(at int) string {
	free := make([]int32, s.kindsN)
	var shared []string
	for i, kind := range s.kinds {
		switch {
		case s.inv.Devices[i].Shared:
			shared = append(shared, fmt.Sprint(kind, s.left[i], s.taken[i] > 0 && len(s.inv.Devices[i].Consumes) > 0))
		case s.taken[i] == 0:
			free[kind]++
		}
	}
	out := binary.AppendUvarint(nil, uint64(at))
	for _, n := range free {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, n := range s.counters {
		out = binary.AppendVarint(out, n)
	}
	slices.Sort(shared)
	return string(out) + strings.Join(shared, ";")
}

// request allocates the requests of a bundle from this one on, and what follows.
func (s *search) request(at, r int) bool {
	b := s.bundles[at]
	if r == len(b.Requests) {
		return s.bundle(at + 1)
	}
	for i := range b.Requests[r].Alternatives {
		ask := &b.Requests[r].Alternatives[i]
		if ask.Count == 0 {
			if s.all(at, r, ask) {
				return true
			}
		} else if s.some(at, r, ask, ask.Count, 0) {
			return true
		}
	}
	return false
}

// some allocates so many more devices for an alternative, from this device on, and what follows.
func (s *search) some(at, r int, ask *Ask, left int64, from int) bool {
	if left == 0 {
		return s.request(at, r+1)
	}
	var tried []string
	for i := from; i < len(s.inv.Devices); i++ {
		if s.effort.Spent(1) {
			return false
		}
		if d := &s.inv.Devices[i]; !d.meets(ask.Selector) || s.taken[i] > 0 && !d.Shared {
			continue
		}
		alike := fmt.Sprint(s.kinds[i], s.left[i], s.taken[i] > 0)
		if slices.Contains(tried, alike) || !s.take(at, r, ask, i) {
			continue
		}
		tried = append(tried, alike)
		if s.some(at, r, ask, left-1, i+1) {
			return true
		}
		s.giveBack(at, r, ask, i)
	}
	return false
}

// all allocates every device that an alternative matches, and what follows.
func (s *search) all(at, r int, ask *Ask) bool {
	var taken []int
	ok := !s.inv.Partial
	for i := 0; ok && i < len(s.inv.Devices); i++ {
		d := &s.inv.Devices[i]
		if !d.meets(ask.Selector) || !d.holds(ask) {
			continue
		}
		if ok = s.take(at, r, ask, i); ok {
			taken = append(taken, i)
		}
	}
	if ok && len(taken) > 0 && !s.effort.Spent(int64(len(taken))) && s.request(at, r+1) {
		return true
	}
	for _, i := range slices.Backward(taken) {
		s.giveBack(at, r, ask, i)
	}
	return false
}

// holds reports whether the device, with what is allocated already, has the capacities that an alternative consumes.
func (d *Device) holds(ask *Ask) bool {
	for _, asked := range ask.Capacity {
		if !slices.ContainsFunc(d.Capacity, func(c Capacity) bool { return c.Name == asked.Name }) {
			return false
		}
	}
	for c := range d.Capacity {
		if amount, ok := d.consumes(c, ask); !ok || amount > d.Capacity[c].Amount-d.Capacity[c].Used {
			return false
		}
	}
	return true
}

// take allocates a device, if it may be.
func (s *search) take(at, r int, ask *Ask, i int) bool {
	d, b := &s.inv.Devices[i], s.bundles[at]
	if d.Taken || s.count == DevicesMax || s.taken[i] > 0 && !d.Shared || !d.holds(ask) {
		return false
	}
	if _, tainted := constraint.Untolerated(d.Taints, ask.Tolerations); tainted {
		return false
	}
	for c := range b.Constraints {
		if b.Constraints[c].concerns(&b.Requests[r], ask) && !d.joins(&b.Constraints[c], s.values[c].values) {
			return false
		}
	}
	if s.taken[i] == 0 && !s.draw(d, 1) {
		return false
	}
	if d.Shared && !s.consume(i, ask, 1) {
		if s.taken[i] == 0 {
			s.draw(d, -1)
		}
		return false
	}
	for c := range b.Constraints {
		if b.Constraints[c].concerns(&b.Requests[r], ask) {
			value, _ := d.Attribute(b.Constraints[c].Attribute)
			s.values[c].values = append(s.values[c].values, value)
		}
	}
	s.taken[i]++
	s.holders[i] = int32(at)
	s.count++
	return true
}

// giveBack undoes the last take.
func (s *search) giveBack(at, r int, ask *Ask, i int) {
	d, b := &s.inv.Devices[i], s.bundles[at]
	s.count--
	if s.taken[i]--; s.taken[i] == 0 {
		s.draw(d, -1)
	}
	for c := range b.Constraints {
		if b.Constraints[c].concerns(&b.Requests[r], ask) {
			s.values[c].values = s.values[c].values[:len(s.values[c].values)-1]
		}
	}
	if d.Shared {
		s.consume(i, ask, -1)
	}
}

// draw takes n times what the device consumes from the counters, or nothing where less is left.
func (s *search) draw(d *Device, n int64) bool {
	for i, c := range d.Consumes {
		at := s.counter(c.Name)
		if at < 0 || s.counters[at] < n*c.Amount {
			for _, undo := range d.Consumes[:i] {
				s.counters[s.counter(undo.Name)] += n * undo.Amount
			}
			return false
		}
		s.counters[at] -= n * c.Amount
	}
	return true
}

// counter is the position of a counter; -1: there is none.
func (s *search) counter(name string) int {
	return slices.IndexFunc(s.inv.Counters, func(e quantity.Extended) bool { return e.Name == name })
}

// consume takes n times what an alternative consumes of a shared device, or nothing where less is left.
func (s *search) consume(i int, ask *Ask, n int64) bool {
	d := &s.inv.Devices[i]
	for c := range d.Capacity {
		amount, _ := d.consumes(c, ask)
		if s.left[i][c] < n*amount {
			for undo := range c {
				amount, _ := d.consumes(undo, ask)
				s.left[i][undo] += n * amount
			}
			return false
		}
		s.left[i][c] -= n * amount
	}
	return true
}

// consumes is how much of a capacity an alternative consumes where the device is shared, and whether it may be.
func (d *Device) consumes(c int, ask *Ask) (amount int64, ok bool) {
	asked, is := int64(0), func(e quantity.Extended) bool { return e.Name == d.Capacity[c].Name }
	if at := slices.IndexFunc(ask.Capacity, is); at >= 0 {
		asked = ask.Capacity[at].Amount
	}
	return d.Capacity[c].consumed(asked)
}

// joins reports whether the device may join others with these values of the constraint's attribute.
func (d *Device) joins(c *Constraint, others []string) bool {
	value, has := d.Attribute(c.Attribute)
	switch {
	case !has:
		return false
	case c.Distinct:
		return !slices.Contains(others, value)
	}
	return len(others) == 0 || others[0] == value
}
