package device_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/quantity"
)

// The selectors of the tests.
const (
	gpu = iota
	large
	nic
)

var selectors = []string{gpu: "gpu", large: "large", nic: "nic"}

// devices makes n devices that meet selectors and have attributes, such as root=1.
func devices(n int, root string, meets ...int) (out []device.Device) {
	for i := range n {
		d := device.Device{Name: fmt.Sprint(root, meets, i), Meets: bitset.New(3),
			Attributes: []device.Attribute{{Name: "root", Value: root}}}
		for _, m := range meets {
			d.Meets.Add(m)
		}
		out = append(out, d)
	}
	return out
}

func one(n int64, selector int) device.Request {
	return device.Request{Name: selectors[selector], Alternatives: []device.Ask{{Selector: selector, Count: n}}}
}

func claim(requests ...device.Request) device.Claim { return device.Claim{Requests: requests} }

// near is a claim whose devices have one root.
func near(requests ...device.Request) device.Claim {
	return device.Claim{Requests: requests, Constraints: []device.Constraint{{Attribute: "root"}}}
}

func claims(list ...device.Claim) []device.Claim { return list }

func of(list []device.Device) device.Inventory { return device.Inventory{Devices: list} }

func bundles(claims ...device.Claim) (out []*device.Bundle) {
	for _, c := range claims {
		for _, b := range device.Bundles(c, selectors, bitset.Full(3)) {
			for range b.N {
				out = append(out, b.Bundle)
			}
		}
	}
	return out
}

var eight = slices.Concat(devices(4, "1", gpu), devices(4, "2", gpu))

func TestClaimsAreAllocated(t *testing.T) {
	shared := device.Device{Name: "shared", Meets: bitset.Full(1), Shared: true,
		Capacity: []device.Capacity{{Name: "memory", Amount: 10,
			Policy: device.Policy{Default: 2, Values: []int64{2, 4, 8}}}}}
	memory := func(n int64) device.Claim {
		asked := []quantity.Extended{{Name: "memory", Amount: n}}
		return claim(device.Request{Alternatives: []device.Ask{{Count: 1, Capacity: asked}}})
	}
	partition := func(slices int64) device.Device {
		return device.Device{Meets: bitset.Full(1), Consumes: []quantity.Extended{{Name: "slices", Amount: slices}}}
	}
	tainted := devices(1, "1", gpu)
	tainted[0].Taints = []constraint.Taint{{Key: "broken", Effect: constraint.NoSchedule}}
	tolerates := claim(one(1, gpu))
	tolerates.Requests[0].Alternatives[0].Tolerations = []constraint.Toleration{{Key: "broken", Exists: true}}
	preferred := []device.Ask{{Selector: large, Count: 1}, {Selector: gpu, Count: 2}}
	first := claim(device.Request{Alternatives: preferred})
	many := device.Request{Name: "many",
		Alternatives: []device.Ask{{Selector: gpu, Count: 24}, {Selector: gpu, Count: 20}}}
	distinct := claim(one(2, gpu))
	distinct.Constraints = []device.Constraint{{Attribute: "root", Distinct: true}}
	apart := claim(one(2, gpu), one(1, nic))
	apart.Constraints = []device.Constraint{{Attribute: "root", Requests: []string{"gpu"}}}

	full, sharing := of(eight), of([]device.Device{shared})
	partitioned := of([]device.Device{partition(4), partition(3), partition(3)})
	partitioned.Counters = []quantity.Extended{{Name: "slices", Amount: 7}}

	for name, c := range map[string]struct {
		inv    device.Inventory
		claims []device.Claim
		want   bool
	}{
		"all devices that there are": {full,
			claims(claim(one(8, gpu))), true},
		"not more": {full,
			claims(claim(one(8, gpu)), claim(one(1, gpu))), false},
		"what another claim could do without": {of(append(devices(1, "1", gpu, large), devices(1, "1", gpu)...)),
			claims(claim(one(1, gpu)), claim(one(1, large))), true},
		"devices of one root": {full,
			claims(near(one(3, gpu)), near(one(3, gpu)), claim(one(2, gpu))), true},
		"not what is left of two roots": {full,
			claims(near(one(3, gpu)), near(one(3, gpu)), near(one(2, gpu))), false},
		"a gpu and the nic of its root": {
			of(slices.Concat(devices(1, "1", gpu), devices(2, "2", gpu), devices(1, "2", nic))),
			claims(near(one(1, gpu), one(1, nic)), claim(one(1, gpu)), claim(one(1, gpu))), true},
		"not a gpu and the nic of another root": {of(append(devices(1, "1", gpu), devices(1, "2", nic)...)),
			claims(near(one(1, gpu), one(1, nic))), false},
		"a nic that no constraint concerns": {of(append(devices(2, "1", gpu), devices(1, "2", nic)...)),
			claims(apart), true},
		"no device without the attribute": {of([]device.Device{{Meets: bitset.Full(1)}}),
			claims(near(one(1, gpu))), false},
		"devices each of another root": {full,
			claims(distinct, distinct, distinct, distinct), true},
		"not two of one root that are to differ": {of(devices(4, "1", gpu)),
			claims(distinct), false},
		"the second alternative": {of(devices(2, "1", gpu)),
			claims(first), true},
		"the alternative that leaves room": {of(append(devices(1, "1", gpu, large), devices(2, "1", gpu)...)),
			claims(first, claim(one(1, large))), true},
		"every gpu": {full,
			claims(claim(one(0, gpu))), true},
		"not every gpu if one is taken": {full,
			claims(claim(one(1, gpu)), claim(one(0, gpu))), false},
		"not every gpu where there is none": {of(devices(1, "1", nic)),
			claims(claim(one(0, gpu))), false},
		"not every gpu of a pool that is not complete": {device.Inventory{Devices: eight, Partial: true},
			claims(claim(one(0, gpu))), false},
		"a share of a device": {sharing,
			claims(memory(3), memory(4), memory(1)), true},
		"not more than a device has, by its policy": {sharing,
			claims(memory(3), memory(4), memory(3)), false},
		"the default share": {sharing,
			claims(claim(one(1, gpu)), memory(8)), true},
		"no share larger than the policy allows": {sharing,
			claims(memory(9)), false},
		"no share of a device that is not shared": {full,
			claims(memory(1)), false},
		"partitions as far as their counters allow": {partitioned,
			claims(claim(one(2, gpu))), true},
		"not partitions beyond that": {partitioned,
			claims(claim(one(3, gpu))), false},
		"no tainted device": {of(tainted),
			claims(claim(one(1, gpu))), false},
		"a tainted device that the request tolerates": {of(tainted),
			claims(tolerates), true},
		"no more devices than kube-scheduler can write": {of(devices(40, "1", gpu)),
			claims(near(one(33, gpu))), false},
		"no more devices than kube-scheduler can write of several requests": {of(devices(40, "1", gpu)),
			claims(claim(one(20, gpu), many)), false},
		"the alternative that kube-scheduler can write": {of(devices(40, "1", gpu)),
			claims(claim(one(12, gpu), many)), true},
		"as many devices as kube-scheduler can write": {of(devices(40, "1", gpu)),
			claims(near(one(32, gpu))), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.inv.Allocates(bundles(c.claims...), &effort.Count{}); got != c.want {
				t.Errorf("allocated: %v, want %v", got, c.want)
			}
		})
	}
}

func TestASearchEndsWithItsEffort(t *testing.T) {
	inv := device.Inventory{Devices: eight}
	e := &effort.Count{Most: 5}
	if inv.Allocates(bundles(claim(one(8, gpu))), e) || !e.Exhausted {
		t.Errorf("five steps find eight devices: %+v", e)
	}
}

func TestEqualDevicesAreTriedOnce(t *testing.T) {
	inv := device.Inventory{Devices: slices.Concat(devices(32, "1", gpu), devices(32, "2", gpu))}
	for i := range inv.Devices { // what makes each device another one, and no claim reads
		d := &inv.Devices[i]
		d.Attributes = append(d.Attributes, device.Attribute{Name: "uuid", Value: fmt.Sprint(i)})
	}
	e := &effort.Count{}
	var claims []device.Claim
	for range 13 { // five to each root, and two are left
		claims = append(claims, near(one(5, gpu)))
	}
	if inv.Allocates(bundles(claims...), e) || e.Steps > 20_000 {
		t.Errorf("%d steps for what does not fit", e.Steps)
	}
}

// TestAmountsPromiseWhatCanBeAllocated compares amounts with the search, in small random clusters.
func TestAmountsPromiseWhatCanBeAllocated(t *testing.T) {
	fitted, refused := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		inv := randomInventory(r)
		var all []*device.Bundle
		for range 1 + r.IntN(3) {
			all = append(all, bundles(randomClaim(r))...)
		}
		d := device.New(all, []*device.Inventory{inv})
		offers := quantity.Resources{Extended: d.Offers(inv)}
		for range 40 {
			var mix []*device.Bundle
			var counted []device.Counted
			for _, b := range all {
				n := r.IntN(3)
				counted = append(counted, device.Counted{Bundle: b, N: int64(n)})
				mix = append(mix, slices.Repeat([]*device.Bundle{b}, n)...)
			}
			needs := quantity.Resources{Extended: d.Needs(counted)}
			fits := needs.FitsIn(offers)
			if can := possible(inv, mix); fits && !can {
				t.Fatalf("seed %d: %v fits in %v, and cannot be allocated", seed, needs, offers)
			} else if can && fits {
				fitted++
			} else if can {
				refused++
			}
		}
	}
	if fitted < 1000 || refused*5 > fitted {
		t.Errorf("%d mixes fit, and %d are refused that could be allocated", fitted, refused)
	}
}

// TestASearchFindsWhatTryingEverythingFinds compares the search with one that forgets nothing and skips nothing.
func TestASearchFindsWhatTryingEverythingFinds(t *testing.T) {
	yes, no := 0, 0
	for seed := range uint64(6000) {
		r := rand.New(rand.NewPCG(seed, 2))
		inv := randomInventory(r)
		var mix []*device.Bundle
		for range 1 + r.IntN(3) {
			mix = append(mix, bundles(randomClaim(r))...)
		}
		want := possible(inv, mix)
		if got := inv.Allocates(mix, &effort.Count{}); got != want {
			t.Fatalf("seed %d: allocated %v, want %v: %+v of %+v", seed, got, want, mix, inv)
		}
		if want {
			yes++
		} else {
			no++
		}
	}
	if yes < 500 || no < 500 {
		t.Errorf("%d can be allocated and %d cannot: too few of one", yes, no)
	}
}

func randomInventory(r *rand.Rand) *device.Inventory {
	counters := []quantity.Extended{{Name: "slices", Amount: int64(r.IntN(4))}}
	inv := &device.Inventory{Partial: r.IntN(20) == 0, Counters: counters}
	for i := range r.IntN(6) {
		d := device.Device{Name: fmt.Sprint(i), Meets: bitset.New(3)}
		for m := range 3 {
			if r.IntN(2) == 0 {
				d.Meets.Add(m)
			}
		}
		if r.IntN(6) > 0 {
			d.Attributes = []device.Attribute{{Name: "root", Value: fmt.Sprint(r.IntN(2))}}
		}
		if r.IntN(4) == 0 {
			d.Consumes = []quantity.Extended{{Name: "slices", Amount: int64(1 + r.IntN(2))}}
		}
		if r.IntN(6) == 0 {
			d.Shared = true
			policy := device.Policy{Default: int64(r.IntN(3))}
			d.Capacity = []device.Capacity{{Name: "memory", Amount: 3, Policy: policy}}
		}
		if r.IntN(8) == 0 {
			d.Taints = []constraint.Taint{{Key: "broken", Effect: constraint.NoSchedule}}
		}
		inv.Devices = append(inv.Devices, d)
	}
	return inv
}

func randomClaim(r *rand.Rand) device.Claim {
	var c device.Claim
	for i := range 1 + r.IntN(2) {
		x := device.Request{Name: fmt.Sprint("r", i)}
		for j := range 1 + r.IntN(5)/4 {
			ask := device.Ask{Selector: r.IntN(3), Count: int64(1 + r.IntN(2))}
			if r.IntN(8) == 0 {
				ask.Count = 0
			}
			if r.IntN(6) == 0 {
				ask.Capacity = []quantity.Extended{{Name: "memory", Amount: int64(1 + r.IntN(2))}}
			}
			if r.IntN(6) == 0 {
				ask.Tolerations = []constraint.Toleration{{Key: "broken", Exists: true}}
			}
			if j > 0 || r.IntN(5) == 0 {
				ask.Name = fmt.Sprint("s", j)
			}
			x.Alternatives = append(x.Alternatives, ask)
		}
		c.Requests = append(c.Requests, x)
	}
	if r.IntN(3) == 0 {
		k := device.Constraint{Attribute: "root", Distinct: r.IntN(3) == 0}
		if r.IntN(2) == 0 {
			k.Requests = []string{"r0"}
		}
		c.Constraints = append(c.Constraints, k)
	}
	return c
}

// slot is one device to be found: of an alternative that has been chosen.
type slot struct {
	bundle int
	first  int // position of the first slot of the request
	ask    *device.Ask
	rules  []*device.Constraint
	only   int // the device that it has to be; -1: any
}

// possible tries every alternative of every request, and every device for each.
func possible(inv *device.Inventory, mix []*device.Bundle) bool {
	type place struct{ bundle, request int }
	var places []place
	for b := range mix {
		for q := range mix[b].Requests {
			places = append(places, place{b, q})
		}
	}
	var choose func(at int, slots []slot) bool
	choose = func(at int, slots []slot) bool {
		if at == len(places) {
			return fill(inv, slots, nil)
		}
		b := mix[places[at].bundle]
		q := &b.Requests[places[at].request]
		for i := range q.Alternatives {
			a := &q.Alternatives[i]
			s := slot{bundle: places[at].bundle, first: len(slots), ask: a, only: -1}
			for k := range b.Constraints {
				rule := &b.Constraints[k]
				if len(rule.Requests) == 0 || slices.Contains(rule.Requests, q.Name) {
					s.rules = append(s.rules, rule)
				}
			}
			next := slices.Clone(slots)
			for range a.Count {
				next = append(next, s)
			}
			if a.Count == 0 {
				for d := range inv.Devices {
					if s.only = d; inv.Devices[d].Meets.Has(a.Selector) && has(&inv.Devices[d], a) {
						next = append(next, s)
					}
				}
				if inv.Partial || len(next) == len(slots) {
					continue
				}
			}
			if choose(at+1, next) {
				return true
			}
		}
		return false
	}
	return choose(0, nil)
}

// has reports whether a device has all that is asked for, of what has been used in the tests: memory.
func has(d *device.Device, a *device.Ask) bool {
	for _, c := range a.Capacity {
		if len(d.Capacity) == 0 || c.Amount > d.Capacity[0].Amount {
			return false
		}
	}
	return true
}

// fill finds a device for each slot, one after another, and judges them all when they are there.
func fill(inv *device.Inventory, slots []slot, got []int) bool {
	if len(got) == len(slots) {
		return judge(inv, slots, got)
	}
	for d := range inv.Devices {
		s := slots[len(got)]
		if s.only >= 0 && s.only != d || !inv.Devices[d].Meets.Has(s.ask.Selector) || !has(&inv.Devices[d], s.ask) ||
			slices.Contains(got[s.first:], d) || !inv.Devices[d].Shared && slices.Contains(got, d) {
			continue
		}
		if fill(inv, slots, append(slices.Clip(got), d)) {
			return true
		}
	}
	return false
}

func judge(inv *device.Inventory, slots []slot, got []int) bool {
	memory, counted, values := map[int]int64{}, int64(0), map[string]map[string]int{}
	seen := map[int]bool{}
	for i, at := range got {
		d := &inv.Devices[at]
		if len(d.Taints) > 0 && len(slots[i].ask.Tolerations) == 0 {
			return false
		}
		if d.Shared {
			use := d.Capacity[0].Policy.Default
			if use == 0 {
				use = 3
			}
			if len(slots[i].ask.Capacity) > 0 {
				use = slots[i].ask.Capacity[0].Amount
			}
			if memory[at] += use; memory[at] > 3 {
				return false
			}
		}
		if !seen[at] && len(d.Consumes) > 0 {
			counted += d.Consumes[0].Amount
		}
		seen[at] = true
		for _, rule := range slots[i].rules {
			value, ok := d.Attribute(rule.Attribute)
			if !ok {
				return false
			}
			of := fmt.Sprint(slots[i].bundle, rule.Distinct, rule.Attribute)
			if values[of] == nil {
				values[of] = map[string]int{}
			}
			if values[of][value]++; rule.Distinct && values[of][value] > 1 || !rule.Distinct && len(values[of]) > 1 {
				return false
			}
		}
	}
	return counted <= inv.Counters[0].Amount
}
