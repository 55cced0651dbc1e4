package emulator

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// Reclaim has the owner of an interruptible reservation take capacity back until left
// instances have room in it, and returns those that are warned for it: they end two
// minutes later. Places that none uses go first, and then instances by ID; EC2 does not
// say which it takes. A reservation that is left with none is cancelled once its
// instances have ended.
func (s *Server) Reclaim(id string, left int) (warned []world.Instance, err error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	now := s.Now()
	r := s.Reservations[id]
	switch {
	case r == nil || r.state(now) != "active" || !r.Interruptible:
		return nil, fmt.Errorf("%s is no active interruptible capacity reservation: want one of %s", id, s.reclaimable(now))
	case left < 0 || left >= r.Total:
		return nil, fmt.Errorf("%s holds %d instances: leave it 0 or more, and fewer than that", id, r.Total)
	}
	for _, l := range s.reclaim(r, left, now) {
		warned = append(warned, s.outside(l))
	}
	return warned, nil
}

// reclaim warns the instances of an interruptible reservation that have no room in what is left of it, and returns
// them. Its source gets their capacity back as they terminate. The lock is held.
func (s *Server) reclaim(r *capacityReservation, left int, now time.Time) (warned []live) {
	source := s.Reservations[r.Source]
	allocated := source != nil && source.Allocation != nil
	cancels := left == 0 && (!allocated || source.Allocation.Zero == zeroCancels)
	if cancels {
		r.CancelledAt = now
	}
	var running []live
	for _, l := range s.instances(now) {
		if l.InReservation == r.ID && l.machine.EndsAt.IsZero() {
			running = append(running, l)
		}
	}
	for _, l := range running[:max(0, len(running)-left)] {
		s.Market().Warn(l.ID, now, time.Time{}, "Server.CapacityReservationReclaimed")
		l.machine, _ = s.Market().Machine(l.ID)
		if cancels {
			r.CancelledAt = l.machine.EndsAt
		}
		warned = append(warned, l)
	}
	r.Total = left
	s.Market().Resize(r.pool(), left)
	if allocated { // after the warnings, which held capacity is counted by
		source.Allocation.Target = left
		s.returnReclaimed(now)
	}
	return warned
}

// reclaimable lists the reservations that Reclaim takes.
func (s *Server) reclaimable(now time.Time) string {
	var ids []string
	for _, r := range s.sortedReservations() {
		if r.Interruptible && r.state(now) == "active" {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return "none, since there are none: make one with `daemok lab reserve --interruptible`"
	}
	return strings.Join(ids, ", ")
}
