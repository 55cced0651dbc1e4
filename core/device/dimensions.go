package device

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/quantity"
)

// Prefix begins the name of every amount that stands for devices. No resource of Kubernetes has such a name.
const Prefix = "devices:"

// Counts reports whether a resource of this name stands for devices.
func Counts(resource string) bool { return strings.HasPrefix(resource, Prefix) }

// Without is amounts without those that stand for devices.
func Without(r quantity.Resources) quantity.Resources {
	counts := func(e quantity.Extended) bool { return Counts(e.Name) }
	if slices.ContainsFunc(r.Extended, counts) {
		r.Extended = slices.DeleteFunc(slices.Clone(r.Extended), counts)
	}
	return r
}

// Only is those amounts that stand for devices.
func Only(r quantity.Resources) (out []quantity.Extended) {
	for _, e := range r.Extended {
		if Counts(e.Name) {
			out = append(out, e)
		}
	}
	return out
}

// With is amounts with those that stand for devices, whatever they were.
func With(r quantity.Resources, devices []quantity.Extended) quantity.Resources {
	for _, e := range devices {
		r = r.With(e.Name, e.Amount)
	}
	return r
}

// Dimensions are the amounts that stand for devices in one cluster: one for each bundle, how many of it fit where
// only it is allocated; and one for each set of bundles that compete for devices, in devices. A bundle of one
// device counts in the amounts of all those that could do with the same device. What takes no more than an
// inventory offers, of each of these, can be allocated from it, whatever the mix. The converse holds where bundles
// are single devices whose selectors overlap as sets that contain each other or are disjoint; elsewhere a few
// devices may stay free.
//
// They are not safe for concurrent use.
type Dimensions struct {
	bundles []*Bundle // sorted by name
	within  [][]int   // by bundle: those whose devices all do for it, itself included
	sets    []set
	drivers [][]string // by bundle: of each request all of whose devices are of one driver; sorted
	reads   reading
	offers  map[string][]quantity.Extended // by what the bundles read of an inventory
}

// set is bundles that compete for devices.
type set struct {
	name    string
	members []int   // positions among the bundles
	weights []int64 // by member: devices that one takes at most
}

// StepsMax is how many steps the search for what one inventory offers takes at most. Few bundles need a hundredth.
const StepsMax = 200_000

// New returns the amounts for bundles, of which those with one name count once, where devices are those of the
// inventories.
func New(bundles []*Bundle, inventories []*Inventory) *Dimensions {
	d := &Dimensions{bundles: slices.Clone(bundles), offers: map[string][]quantity.Extended{}}
	slices.SortFunc(d.bundles, func(a, b *Bundle) int { return cmp.Compare(a.Name, b.Name) })
	d.bundles = slices.CompactFunc(d.bundles, func(a, b *Bundle) bool { return a.Name == b.Name })
	d.reads = read(d.bundles)
	d.findWithin(inventories)
	d.findDrivers(inventories)
	for _, members := range d.competing(inventories) {
		if d.oneCountsAll(members, inventories) {
			continue
		}
		s := set{members: members}
		var names []string
		for _, m := range members {
			names = append(names, d.bundles[m].Name)
			s.weights = append(s.weights, d.bundles[m].most(inventories))
		}
		s.name = Prefix + "any of " + strings.Join(names, ", ")
		d.sets = append(d.sets, s)
	}
	return d
}

// oneCountsAll reports whether the amount of one of the bundles counts all of them, and no more than that has to be
// known: they are single devices, each of which is free or is not, and their selectors contain each other or are
// disjoint.
func (d *Dimensions) oneCountsAll(members []int, inventories []*Inventory) bool {
	for _, inv := range inventories {
		for _, m := range members {
			if _, plain := inv.plain(d.bundles[m]); !plain {
				return false
			}
		}
	}
	within := func(a, b int) bool { return slices.Contains(d.within[b], a) }
	for k, a := range members {
		for _, b := range members[k+1:] {
			if !within(a, b) && !within(b, a) && d.overlap(a, b, inventories) {
				return false
			}
		}
	}
	return slices.ContainsFunc(members, func(i int) bool {
		return !slices.ContainsFunc(members, func(m int) bool { return !within(m, i) })
	})
}

// overlap reports whether any device may be used by both bundles.
func (d *Dimensions) overlap(a, b int, inventories []*Inventory) bool {
	for _, inv := range inventories {
		for i := range inv.Devices {
			if d.bundles[a].MayUse(&inv.Devices[i]) && d.bundles[b].MayUse(&inv.Devices[i]) {
				return true
			}
		}
	}
	return false
}

// findWithin finds the bundles of one device that do with the devices of others.
func (d *Dimensions) findWithin(inventories []*Inventory) {
	for i, b := range d.bundles {
		in := []int{i}
		for j, c := range d.bundles {
			if i != j && c.isWithin(b, inventories) {
				in = append(in, j)
			}
		}
		slices.Sort(in)
		d.within = append(d.within, in)
	}
}

// isWithin reports whether every allocation for the bundle, from these inventories, would do for the other one.
func (b *Bundle) isWithin(other *Bundle, inventories []*Inventory) bool {
	mine, theirs := b.single(), other.single()
	if mine == nil || theirs == nil {
		return false
	}
	any := false
	for _, inv := range inventories {
		for i := range inv.Devices {
			d := &inv.Devices[i]
			if d.suits(mine) && !d.suits(theirs) {
				return false
			}
			any = any || d.suits(mine)
		}
	}
	return any
}

// competing lists the sets of two and more bundles that may use the same devices, directly or through others.
func (d *Dimensions) competing(inventories []*Inventory) (out [][]int) {
	of := make([]int, len(d.bundles))
	for i := range of {
		of[i] = i
	}
	join := func(a, b int) {
		if from, to := max(of[a], of[b]), min(of[a], of[b]); from != to {
			for i := range of {
				if of[i] == from {
					of[i] = to
				}
			}
		}
	}
	for _, inv := range inventories {
		drawing := map[string]int{} // by counter: a bundle that draws on it
		for i := range inv.Devices {
			first := -1
			for b := range d.bundles {
				if !d.bundles[b].MayUse(&inv.Devices[i]) {
					continue
				}
				if first < 0 {
					first = b
				}
				join(first, b)
			}
			for _, c := range inv.Devices[i].Consumes {
				if other, known := drawing[c.Name]; first >= 0 && known {
					join(first, other)
				} else if first >= 0 {
					drawing[c.Name] = first
				}
			}
		}
	}
	for i := range d.bundles {
		var members []int
		for b := range of {
			if of[b] == i {
				members = append(members, b)
			}
		}
		if len(members) > 1 {
			out = append(out, members)
		}
	}
	return out
}

// Needs is what a pod takes of the amounts whose claims consist of these bundles, sorted by name. Bundles that the
// amounts were not made for are left out.
func (d *Dimensions) Needs(of []Counted) []quantity.Extended {
	n := make([]int64, len(d.bundles))
	for _, c := range of {
		if at, known := slices.BinarySearchFunc(d.bundles, c.Name, byName); known {
			n[at] += c.N
		}
	}
	var out []quantity.Extended
	add := func(name string, amount int64) {
		if amount > 0 {
			out = append(out, quantity.Extended{Name: name, Amount: amount})
		}
	}
	for i, b := range d.bundles {
		sum := int64(0)
		for _, j := range d.within[i] {
			sum += n[j]
		}
		add(Prefix+b.Name, sum)
	}
	for _, s := range d.sets {
		amount := int64(0)
		for k, m := range s.members {
			amount += n[m] * s.weights[k]
		}
		add(s.name, amount)
	}
	slices.SortFunc(out, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func byName(b *Bundle, name string) int { return cmp.Compare(b.Name, name) }

// Offers is what an inventory has of the amounts, sorted by name; it must not be written.
func (d *Dimensions) Offers(inv *Inventory) []quantity.Extended {
	kinds, fails := make([]string, len(inv.Devices)), false
	for i := range inv.Devices {
		kinds[i] = d.reads.of(&inv.Devices[i])
		fails = fails || inv.Devices[i].failsAny(d.reads.selectors)
	}
	if !fails { // else their order counts
		slices.Sort(kinds)
	}
	key := fmt.Sprint(inv.Partial, inv.Counters, kinds)
	out, known := d.offers[key]
	if !known {
		out = d.measure(inv)
		d.offers[key] = out
	}
	return out
}

// Key is equal for amounts that mean the same.
func (d *Dimensions) Key() string {
	var b strings.Builder
	for i := range d.bundles {
		fmt.Fprint(&b, d.bundles[i].Name, d.bundles[i].Claim, d.within[i], d.drivers[i])
	}
	fmt.Fprint(&b, d.sets)
	return b.String()
}

// Drivers names the drivers of the devices for these bundles, sorted, where a request has to be of one driver.
func (d *Dimensions) Drivers(of []Counted) (out []string) {
	for _, c := range of {
		if at, known := slices.BinarySearchFunc(d.bundles, c.Name, byName); known {
			out = append(out, d.drivers[at]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *Dimensions) findDrivers(inventories []*Inventory) {
	for _, b := range d.bundles {
		var of []string
		for i := range b.Requests {
			if driver := b.Requests[i].driver(inventories); driver != "" {
				of = append(of, driver)
			}
		}
		slices.Sort(of)
		d.drivers = append(d.drivers, slices.Compact(of))
	}
}

// driver is that of all devices which do for a request; empty: they are of several, or there are none.
func (r *Request) driver(inventories []*Inventory) (driver string) {
	for _, inv := range inventories {
		for i := range inv.Devices {
			meets := func(a Ask) bool { return inv.Devices[i].meets(a.Selector) }
			if !slices.ContainsFunc(r.Alternatives, meets) {
				continue
			}
			if driver != "" && driver != inv.Devices[i].Driver {
				return ""
			}
			driver = inv.Devices[i].Driver
		}
	}
	return driver
}

func (d *Dimensions) measure(inv *Inventory) (out []quantity.Extended) {
	e := &effort.Count{Most: StepsMax}
	alone := make([]int64, len(d.bundles))
	for i, b := range d.bundles {
		alone[i] = inv.fitting(b, e)
		if alone[i] > 0 {
			out = append(out, quantity.Extended{Name: Prefix + b.Name, Amount: alone[i]})
		}
	}
	for i := range d.sets {
		if n := d.together(inv, &d.sets[i], alone, e); n > 0 {
			out = append(out, quantity.Extended{Name: d.sets[i].name, Amount: n})
		}
	}
	slices.SortFunc(out, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// fittingMax is how many bundles fit into an inventory at most: a shared device without capacities holds any number.
const fittingMax = 1000

// fitting is how many of one bundle the inventory holds.
func (inv *Inventory) fitting(b *Bundle, e *effort.Count) int64 {
	if n, plain := inv.plain(b); plain {
		return n
	}
	if inv.Failing(b) != nil {
		return 0
	}
	var list []*Bundle
	for len(list) < fittingMax {
		if list = append(list, b); !inv.Allocates(list, e) {
			return int64(len(list) - 1)
		}
	}
	return fittingMax
}

// plain counts the devices for a bundle of one device, where nothing but the bundles decides which of them are free.
func (inv *Inventory) plain(b *Bundle) (n int64, plain bool) {
	ask := b.single()
	if ask == nil {
		return 0, false
	}
	for i := range inv.Devices[:inv.evaluated(ask.Selector)] {
		if d := &inv.Devices[i]; d.suits(ask) {
			if d.Shared || len(d.Consumes) > 0 {
				return 0, false
			}
			n++
		}
	}
	return n, true
}

// together is how many devices bundles of a set may take so that they can be allocated, whichever they are: less
// than any mix takes that cannot be, among those that the amounts of single bundles allow.
func (d *Dimensions) together(inv *Inventory, s *set, alone []int64, e *effort.Count) int64 {
	all := int64(0)
	for k, m := range s.members {
		all += alone[m] * s.weights[k]
	}
	if n, plain := d.married(inv, s, alone, all); plain {
		return n
	}
	m := mix{inv: inv, set: s, d: d, alone: alone, effort: e, n: make([]int64, len(d.bundles))}
	for devices := int64(1); devices <= all; devices++ {
		if !m.fit(0, devices, nil) {
			return devices - 1
		}
	}
	return all
}

// marriedMax is how many bundles of one set are compared in all combinations.
const marriedMax = 12

// married is together for bundles of one device each. By Hall's marriage theorem a mix can be allocated if, of every
// choice of bundles, no more is in it than there are devices that do for one of them.
func (d *Dimensions) married(inv *Inventory, s *set, alone []int64, all int64) (least int64, plain bool) {
	var members []int
	for _, m := range s.members {
		if alone[m] == 0 {
			continue
		}
		if _, plain := inv.plain(d.bundles[m]); !plain {
			return 0, false
		}
		members = append(members, m)
	}
	if len(members) > marriedMax {
		return 0, false
	}
	least = all
	for choice := range 1 << len(members) {
		var chosen []int
		sum := int64(0)
		for k, m := range members {
			if choice>>k&1 == 1 {
				chosen, sum = append(chosen, m), sum+alone[m]
			}
		}
		covered := func(i int) bool { // its own amount counts all of them
			return !slices.ContainsFunc(chosen, func(m int) bool { return !slices.Contains(d.within[i], m) })
		}
		if n := inv.suiting(d.bundles, chosen); sum > n && !slices.ContainsFunc(chosen, covered) {
			least = min(least, n)
		}
	}
	return least, true
}

// suiting counts the devices that do for one of the chosen bundles of one device.
func (inv *Inventory) suiting(bundles []*Bundle, chosen []int) (n int64) {
	for i := range inv.Devices {
		does := func(m int) bool {
			ask := bundles[m].single()
			return inv.Devices[i].suits(ask) && i < inv.evaluated(ask.Selector)
		}
		if slices.ContainsFunc(chosen, does) {
			n++
		}
	}
	return n
}

// mix goes through the mixes of bundles of a set.
type mix struct {
	inv    *Inventory
	set    *set
	d      *Dimensions
	alone  []int64
	n      []int64 // of each bundle in the mix at hand
	effort *effort.Count
}

// fit reports whether the bundles can be allocated together with any others, of the members from this one on, that
// take exactly so many devices.
func (m *mix) fit(member int, devices int64, with []*Bundle) bool {
	if devices == 0 {
		return m.excluded() || m.inv.Allocates(with, m.effort)
	}
	if member == len(m.set.members) {
		return true // no such mix
	}
	at := m.set.members[member]
	defer func() { m.n[at] = 0 }()
	for n := range m.alone[at] + 1 {
		if n > 0 {
			with = append(slices.Clip(with), m.d.bundles[at])
		}
		rest := devices - n*m.set.weights[member]
		if rest < 0 {
			break
		}
		m.n[at] = n
		if !m.fit(member+1, rest, with) {
			return false
		}
	}
	return true
}

// excluded reports whether the amount of a single bundle does not allow the mix.
func (m *mix) excluded() bool {
	for _, i := range m.set.members {
		sum := int64(0)
		for _, j := range m.d.within[i] {
			sum += m.n[j]
		}
		if sum > m.alone[i] {
			return true
		}
	}
	return false
}
