package conformance

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

var reservedTests = []conformance{
	{"reserved instances are launched when requested, and counted", func(t *testing.T, b *bench) {
		usual, reservedCapacity := b.reserve(t, 3)
		offering, revision := b.reserving(t, reservedCapacity), b.kinds(t).Revision
		if option, _ := offering.Labels.Get(cluster.LabelCapacityType); !offering.Available || offering.LeftOf(reservedCapacity) != 3 || option != string(cluster.Reserved) || !offering.Priced || offering.Price >= find(t, b.kinds(t), usual).Price {
			t.Errorf("the offering is %+v; want three available, cheaper than on demand", offering)
		}
		b.launch(t, b.request(1, usual))
		if left := b.reserving(t, reservedCapacity).LeftOf(reservedCapacity); left != 3 {
			t.Errorf("%d of three are left after an on-demand launch", left)
		}
		r := b.request(2, from(usual, reservedCapacity))
		got := b.launch(t, r)
		if left := b.reserving(t, reservedCapacity).LeftOf(reservedCapacity); left != 1 || b.kinds(t).Revision == revision {
			t.Errorf("%d of three are left after two were launched, want 1, at another revision", left)
		}
		for _, m := range slices.Concat(got, b.list(t, cloud.Filter{Batch: r.Batch})) {
			if !isOf(m, from(usual, reservedCapacity)) || m.ReservedCapacity != reservedCapacity {
				t.Errorf("instance = %+v, want one of %s", m, reservedCapacity)
			}
		}
		terminate(t, b.Instances, ids(got)[:1], nil)
		b.Advance(b.EndMax)
		if left := b.reserving(t, reservedCapacity).LeftOf(reservedCapacity); left != 2 {
			t.Errorf("%d of three are left after one of two was terminated, want 2", left)
		}
	}},
	{"a reservation launches no more than it has", func(t *testing.T, b *bench) {
		usual, reservedCapacity := b.reserve(t, 2)
		var launched atomic.Int64
		var wait sync.WaitGroup
		for range 3 {
			r := b.request(1, from(usual, reservedCapacity))
			wait.Go(func() {
				got, err := b.Instances.Launch(t.Context(), r)
				launched.Add(int64(len(got)))
				if err != nil && !shortOfReservedCapacity(err, reservedCapacity) {
					t.Errorf("Launch = %v, want an instance or *NoCapacityError of %s", err, reservedCapacity)
				}
			})
		}
		wait.Wait()
		if launched.Load() != 2 {
			t.Errorf("three at once launched %d from a reservation of two", launched.Load())
		}
		if o := b.reserving(t, reservedCapacity); o.Available || o.LeftOf(reservedCapacity) != 0 {
			t.Errorf("the full reservation is offered as %+v", o)
		}
		few := b.Reserve(usual.Kind, usual.Zone, 1)
		if got, err := b.Instances.Launch(t.Context(), b.request(2, from(usual, few))); len(got) != 1 || !shortOfReservedCapacity(err, few) {
			t.Errorf("Launch(2) from a reservation of one = %v, %v; want one, and *NoCapacityError of %s", ids(got), err, few)
		}
		if !find(t, b.kinds(t), usual).Available {
			t.Error("the on-demand offering is unavailable because a reservation is full")
		}
	}},
	{"only a cancelled reservation becomes unavailable, and its instances keep running", func(t *testing.T, b *bench) {
		usual, gone := b.reserve(t, 2)
		other := b.Reserve(usual.Kind, usual.Zone, 2)
		r := b.request(1, from(usual, gone))
		b.launch(t, r)
		b.Advance(b.LagMax)
		b.EndReservation(gone)
		if got, err := b.Instances.Launch(t.Context(), b.request(1, from(usual, gone))); len(got) != 0 || !shortOfReservedCapacity(err, gone) {
			t.Errorf("Launch = %v, %v; want *NoCapacityError of %s", ids(got), err, gone)
		}
		if o := b.reserving(t, other); !o.Available || o.LeftOf(other) != 2 || !find(t, b.kinds(t), usual).Available {
			t.Errorf("the other reservation is offered as %+v, on demand as %+v; want both", o, find(t, b.kinds(t), usual))
		}
		b.Advance(b.LagMax)
		if o := b.reserving(t, gone); o.Reservation() != "" {
			t.Errorf("the reservation is still offered: %+v", o)
		}
		listed := b.list(t, cloud.Filter{Batch: r.Batch})
		if len(listed) != 1 || listed[0].Option != cluster.OnDemand || listed[0].ReservedCapacity != "" || listed[0].State != cloud.Running {
			t.Errorf("its instance is %+v; want one that runs on demand", listed)
		}
	}},
}

// reserve reserves n instances of the cheapest offering on demand, and returns both.
func (b *bench) reserve(t *testing.T, n int) (usual cloud.OfferingChoice, reservedCapacity string) {
	t.Helper()
	if b.Reserve == nil {
		t.Skip("the subject has no capacity reservations")
	}
	usual = b.offerings(t, cluster.OnDemand, 1)[0]
	return usual, b.Reserve(usual.Kind, usual.Zone, n)
}

// from is an offering on demand as one of a reservation.
func from(usual cloud.OfferingChoice, reservedCapacity string) cloud.OfferingChoice {
	usual.Option, usual.ReservedCapacity = cluster.Reserved, reservedCapacity
	return usual
}

// reserving is the offering of a reservation; a zero one where it is not offered.
func (b *bench) reserving(t *testing.T, reservedCapacity string) *cluster.Offering {
	t.Helper()
	for _, k := range b.kinds(t).InstanceTypes {
		for i := range k.Offerings {
			if o := &k.Offerings[i]; o.Reservation() == reservedCapacity {
				return o
			}
		}
	}
	return &cluster.Offering{}
}

// shortOfReservedCapacity reports whether the error says that a reservation, and nothing else, is short.
func shortOfReservedCapacity(err error, reservedCapacity string) bool {
	short, ok := errors.AsType[*cloud.NoCapacityError](err)
	return ok && len(short.Offerings) == 1 && short.Offerings[0].ReservedCapacity == reservedCapacity
}
