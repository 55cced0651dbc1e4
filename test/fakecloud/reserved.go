package fakecloud

import (
	"fmt"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/test/market"
)

// reservation is room for instances of one kind in one zone. It is replaced, not written.
type reservation struct {
	pool market.Pool
	over bool
}

// Reserve reserves n instances of a kind in a zone, for all classes with that zone, and
// returns its name: instances have it as their Capacity reservation, and offers as a label and a capacity reservation.
func (c *Cloud) Reserve(kind, zone string, n int) (reservedCapacity string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reservedCapacity = fmt.Sprintf("cr-%017x", len(c.reservations)+1)
	pool := market.Pool{Kind: kind, Zone: zone, Option: market.Reservation(reservedCapacity)}
	c.reservations[reservedCapacity] = reservation{pool: pool}
	c.market.SetCapacity(pool, n, 0)
	return reservedCapacity
}

// EndReservation has no more instances come from a reservation; those that did go on as
// instances on demand.
func (c *Cloud) EndReservation(reservedCapacity string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, known := c.reservations[reservedCapacity]; known {
		c.reservations[reservedCapacity] = reservation{pool: r.pool, over: true}
		c.market.Resize(r.pool, 0)
	}
}

// room is what a reservation has left.
type room struct {
	pool market.Pool
	left int
}

// rooms are those of all reservations that are not over, by name. The caller holds mu.
func (c *Cloud) rooms() []room {
	var out []room
	for _, reservedCapacity := range slices.Sorted(maps.Keys(c.reservations)) {
		if r := c.reservations[reservedCapacity]; !r.over {
			out = append(out, room{r.pool, max(0, c.market.Capacity(r.pool))})
		}
	}
	return out
}

// reservedShare is what of its price on demand a reserved instance counts as costing: it is
// paid for whether it runs or not.
const reservedShare = 10_000

// reserved are the offerings of a kind's reservations in a zone.
func reserved(from offered, kind, zone string, onDemand cluster.Offering) []cluster.Offering {
	var out []cluster.Offering
	for _, r := range from.rooms {
		if r.pool.Kind != kind || r.pool.Zone != zone {
			continue
		}
		reservedCapacity, _ := r.pool.Option.Reserved()
		out = append(out, cluster.Offering{
			Zone: zone, Option: cluster.Reserved, ReservedCapacities: []cluster.ReservedCapacity{{Name: reservedCapacity, Left: int64(r.left)}}, Labels: reservedLabels(onDemand.Labels, reservedCapacity),
			Price: max(1, onDemand.Price/reservedShare), Priced: true, Available: r.left > 0 && !slices.Contains(from.short, r.pool),
		})
	}
	return out
}

func reservedLabels(onDemand constraint.Labels, reservedCapacity string) constraint.Labels {
	return onDemand.With(cluster.LabelCapacityType, string(cluster.Reserved)).
		With(awsLabel+"capacity-reservation-id", reservedCapacity).
		With(awsLabel+"capacity-reservation-type", "default").
		With(awsLabel+"capacity-reservation-interruptible", "false")
}

// launchedAs is how an instance of a pool is paid for now: as reserved, until its reservation
// is over. The caller holds mu.
func (c *Cloud) launchedAs(pool market.Pool) (option cluster.Option, reservedCapacity string) {
	reservedCapacity, is := pool.Option.Reserved()
	switch {
	case !is:
		return cluster.Option(pool.Option), ""
	case c.reservations[reservedCapacity].over:
		return cluster.OnDemand, ""
	}
	return cluster.Reserved, reservedCapacity
}
