package device_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/quantity"
)

// Bundles that come one after another can be allocated as long as they could all at once.
func TestBundlesAreAllocatedOneAfterAnother(t *testing.T) {
	kinds := bundles(claim(one(1, gpu)), claim(one(1, large)), claim(one(1, nic)), claim(one(2, gpu), one(1, nic)),
		near(one(1, gpu), one(1, nic)))
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		inv := device.Inventory{Counters: []quantity.Extended{{Name: "slots", Amount: 3}}}
		for i := range 2 + r.IntN(5) {
			d := device.Device{Name: fmt.Sprint(i), Meets: bitset.New(3), Taken: r.IntN(6) == 0,
				Attributes: []device.Attribute{{Name: "root", Value: fmt.Sprint(r.IntN(2))}}}
			for selector := range 3 {
				if r.IntN(2) == 0 {
					d.Meets.Add(selector)
				}
			}
			if r.IntN(4) == 0 {
				d.Consumes = []quantity.Extended{{Name: "slots", Amount: 1 + r.Int64N(3)}}
			}
			inv.Devices = append(inv.Devices, d)
		}
		have, given := inv.Unallocated(), []*device.Bundle(nil)
		for range 8 {
			b := kinds[r.IntN(len(kinds))]
			all := append(slices.Clip(given), b)
			next, known := have.With([]*device.Bundle{b}, &effort.Count{Most: 1 << 30})
			if want := inv.Allocates(all, &effort.Count{}); (next != nil) != want || !known {
				t.Fatalf("seed %d: a %s beside %d others: %v (known: %v), want %v", seed, b.Name, len(given),
					next != nil, known, want)
			}
			if next != nil {
				have, given = next, all
			}
		}
	}
}

// What is left and what is gone is known for many devices without any step of the effort for allocating anew.
func TestManyBundlesAreAllocatedInFewSteps(t *testing.T) {
	inv := of(slices.Concat(devices(500, "1", gpu), devices(2, "1", nic)))
	have, none := inv.Unallocated(), &effort.Count{Most: 1}
	none.Spent(1)
	for i, b := range slices.Concat(slices.Repeat(bundles(claim(one(1, gpu))), 502), bundles(claim(one(1, nic)))) {
		next, known := have.With([]*device.Bundle{b}, none)
		if want := i < 500 || i > 501; (next != nil) != want || !known {
			t.Fatalf("bundle %d of %s: %v (known: %v), want %v", i, b.Name, next != nil, known, want)
		}
		if next != nil {
			have = next
		}
	}
	if next, known := have.With(bundles(near(one(1, gpu), one(1, nic))), none); next != nil || known {
		t.Errorf("what takes more steps than there are: %v (known: %v), want that it is not known", next != nil, known)
	}
}
