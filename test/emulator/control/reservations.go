package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// reserve puts a capacity reservation into the account.
func reserve(s *emulator.Server, order Reserve) (string, error) {
	k, known := s.Market().Kind(order.Kind)
	switch {
	case !known:
		return "", noKind(s, order.Kind)
	case !slices.Contains(k.Zones, order.Zone):
		return "", fmt.Errorf("%s is not offered in zone %q: want one of %s", order.Kind, order.Zone, strings.Join(k.Zones, ", "))
	case order.Machines < 1:
		return "", fmt.Errorf("a reservation of %d instances: want one or more", order.Machines)
	case order.For < 0 || order.Block && order.For == 0:
		return "", fmt.Errorf("the reservation lasts %v: want a positive duration, which a capacity block must have", order.For)
	case order.Block && order.Interruptible:
		return "", fmt.Errorf("a capacity block cannot be interruptible: want one of the two")
	}
	r := reservation.CapacityReservation{
		Type: order.Kind, Zone: order.Zone, Count: order.Machines, Targeted: order.Targeted, Block: order.Block, Interruptible: order.Interruptible, Tags: order.Tags,
	}
	if order.For > 0 {
		r.EndsAt = s.Now().Add(order.For)
	}
	return s.AddReservation(r), nil
}

// reclaim has an interruptible reservation taken back.
func reclaim(s *emulator.Server, order Reclaim) ([]Instance, error) {
	warned, err := s.Reclaim(order.Reservation, order.Left)
	about := []Instance{}
	for _, i := range warned {
		about = append(about, Instance{i.ID, i.PrivateDNS})
	}
	return about, err
}
