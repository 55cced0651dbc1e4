package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/instance"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// allocation is what a reservation gives to the interruptible one that is made out of it. It stays part of the
// reservation's total.
type allocation struct {
	ID     string // of the interruptible reservation
	Target int    // instances that it is to hold
	Held   int    // that it holds, those included that are being reclaimed
	Zero   string // what becomes of it at a target of 0: zeroCancels or zeroRetains
}

// The words for what becomes of an interruptible reservation that is left with nothing, and for how one is interrupted.
const (
	zeroCancels       = "default"
	zeroRetains       = "retain"
	interruptionAdhoc = "adhoc"
)

// status is how far the reservation that was made is what was asked for, in EC2's words.
func (a *allocation) status() string {
	switch {
	case a.Held == a.Target:
		return "active"
	case a.Target == 0 && a.Zero == zeroCancels:
		return "canceling"
	}
	return "updating"
}

// room is how many instances may run in the reservation itself.
func (r *Reservation) room() int {
	if r.Allocation == nil {
		return r.Total
	}
	return r.Total - r.Allocation.Held
}

// ownersOnly refuses what is done to an interruptible reservation by way of its source.
func (r *Reservation) ownersOnly(deed string) error {
	return wire.Errorf("UnsupportedOperation", "The interruptible capacity reservation '%s' cannot be %s. Update the allocation of its source, '%s'.", r.ID, deed, r.Source)
}

// AdvanceReservations does what is due of reservations; the lock is held.
func (s *Ledger) AdvanceReservations(now time.Time) {
	s.warnBlocks(now)
	s.ReturnReclaimed(now)
}

// ReturnReclaimed makes reclaimed capacity available in its source reservation as the instances terminate; the lock
// is held.
func (s *Ledger) ReturnReclaimed(now time.Time) {
	for _, r := range s.Reservations {
		if r.Allocation == nil || r.Allocation.Held == r.Allocation.Target {
			continue
		}
		if held := r.Allocation.Target + s.reclaiming(r.Allocation.ID, now); held != r.Allocation.Held {
			r.Allocation.Held = held
			s.Market().Resize(r.Pool(), r.room())
		}
		if r.Allocation.status() == "active" && r.Allocation.Target == 0 && r.Allocation.Zero == zeroCancels {
			r.Allocation = nil
		}
	}
}

// reclaiming counts the instances of an interruptible reservation that were warned and have not ended.
func (s *Ledger) reclaiming(id string, now time.Time) (n int) {
	for _, i := range s.Records {
		if i.InReservation != id {
			continue
		}
		if m, known := s.Market().Machine(i.ID); known && !m.WarnedAt.IsZero() && m.EndsAt.After(now) {
			n++
		}
	}
	return n
}

type allocationXML struct {
	Count  int    `xml:"instanceCount"`
	ID     string `xml:"interruptibleCapacityReservationId"`
	Kind   string `xml:"interruptionType"`
	Status string `xml:"status"`
	Target int    `xml:"targetInstanceCount"`
	Zero   string `xml:"zeroSizePreference"`
}

type interruptionXML struct {
	Kind   string `xml:"interruptionType"`
	Source string `xml:"sourceCapacityReservationId"`
}

func allocationAnswer(a *allocation) *allocationXML {
	if a == nil {
		return nil
	}
	return &allocationXML{Count: a.Held, ID: a.ID, Kind: interruptionAdhoc, Status: a.status(), Target: a.Target, Zero: a.Zero}
}

// readZero reads what is to become of an interruptible reservation at a target of 0.
func readZero(c *call, unasked string) (string, error) {
	zero := cmp.Or(c.Params.String("ZeroSizePreference"), unasked)
	if !slices.Contains([]string{zeroCancels, zeroRetains}, zero) {
		return "", wire.Errorf("InvalidParameterValue", "Invalid value '%s' for ZeroSizePreference. Valid values are %s and %s.", zero, zeroCancels, zeroRetains)
	}
	return zero, nil
}

// createdAllocation is what the call is answered, and what its token remembers.
type createdAllocation struct {
	Kind   string `xml:"interruptionType"`
	Source string `xml:"sourceCapacityReservationId"`
	Status string `xml:"status"`
	Target int    `xml:"targetInstanceCount"`
}

// createAllocation makes an interruptible reservation out of what a reservation of the account has free. It is there at
// once, where EC2 takes a while.
func createAllocation(c *call) (any, error) {
	return world.Once(c.Call, func() (createdAllocation, error) { return c.server.newAllocation(c) })
}

func (s *Ledger) newAllocation(c *call) (createdAllocation, error) {
	var none createdAllocation
	source, err := s.Reservation(c.Params.String("CapacityReservationId"))
	if err != nil {
		return none, err
	}
	count, err := c.Params.Int("InstanceCount", 0)
	if err != nil {
		return none, err
	}
	zero, err := readZero(c, zeroCancels)
	if err != nil {
		return none, err
	}
	if err := s.mayAllocate(source, c.At); err != nil {
		return none, err
	}
	if free := max(0, s.Market().Capacity(source.Pool())); count < 1 || count > free {
		return none, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter instanceCount is invalid. It must be at least 1 and no more than the %d available instances of '%s'.", count, free, source.ID)
	}
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return none, err
	}
	if err := c.Commit(); err != nil {
		return none, err
	}
	made := &Reservation{
		Type: source.Type, Zone: source.Zone, Total: count, Criteria: matchTargeted, Kind: reservationDefault, Interruptible: true, Source: source.ID,
		Dedicated: source.Dedicated, Placement: source.Placement, Tags: world.TagsFor(specs, "capacity-reservation"),
	}
	s.addReservation(made, c.At)
	source.Allocation = &allocation{ID: made.ID, Target: count, Held: count, Zero: zero}
	s.Market().Resize(source.Pool(), source.room())
	return createdAllocation{interruptionAdhoc, source.ID, source.Allocation.status(), count}, nil
}

// mayAllocate refuses an interruptible allocation of a reservation that cannot have one, or not another.
func (s *Ledger) mayAllocate(r *Reservation, now time.Time) error {
	s.ReturnReclaimed(now)
	switch state := r.State(now); {
	case r.Owner != s.Settings.ID || r.Kind != reservationDefault || r.Interruptible:
		return wire.Errorf("UnsupportedOperation", "The capacity reservation '%s' is no ordinary one of the account: it cannot have an interruptible allocation.", r.ID)
	case state != "active":
		return wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' is %s.", r.ID, state)
	case !r.EndsAt.IsZero():
		return wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' has an end date: it cannot have an interruptible allocation.", r.ID)
	case r.Allocation != nil:
		return wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' has an interruptible allocation already, '%s'.", r.ID, r.Allocation.ID)
	}
	return nil
}

// updateAllocation gives more of a reservation to the interruptible one that is made out of it, or reclaims some of that.
func updateAllocation(c *call) (any, error) {
	s := c.server
	s.ReturnReclaimed(c.At)
	source, err := c.server.Reservation(c.Params.String("CapacityReservationId"))
	if err != nil {
		return nil, err
	}
	if source.Allocation == nil {
		return nil, wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' has no interruptible allocation.", source.ID)
	}
	made := c.server.Reservations[source.Allocation.ID]
	target, err := c.Params.Int("TargetInstanceCount", made.Total)
	if err != nil {
		return nil, err
	}
	zero, err := readZero(c, source.Allocation.Zero)
	if err != nil {
		return nil, err
	}
	if most := made.Total + max(0, s.Market().Capacity(source.Pool())); target < 0 || target > most {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter targetInstanceCount is invalid. It must be between 0 and %d, what is allocated and what is available.", target, most)
	}
	if state := made.State(c.At); state != "active" || source.Allocation.status() == "canceling" {
		return nil, wire.Errorf("InvalidCapacityReservationState", "The interruptible capacity reservation '%s' is being cancelled.", made.ID)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	is := source.Allocation // which may be over with this
	is.Zero = zero
	s.resizeAllocation(source, made, target, c.At)
	return struct {
		Count  int    `xml:"instanceCount"`
		ID     string `xml:"interruptibleCapacityReservationId"`
		Kind   string `xml:"interruptionType"`
		Source string `xml:"sourceCapacityReservationId"`
		Status string `xml:"status"`
		Target int    `xml:"targetInstanceCount"`
	}{is.Held, made.ID, interruptionAdhoc, source.ID, is.status(), target}, nil
}

// resizeAllocation changes how much an interruptible reservation has of its source; the lock is held.
func (s *Ledger) resizeAllocation(source, made *Reservation, target int, now time.Time) {
	if target < made.Total || target == 0 {
		s.reclaim(made, target, now)
		return
	}
	source.Allocation.Held += target - made.Total
	source.Allocation.Target, made.Total = target, target
	s.Market().Resize(made.Pool(), target)
	s.Market().Resize(source.Pool(), source.room())
}

// Reclaim has the owner of an interruptible reservation take capacity back until left
// instances have room in it, and returns those that are warned for it: they end two
// minutes later. Places that none uses go first, and then instances by ID; EC2 does not
// say which it takes. A reservation that is left with none is cancelled once its
// instances have ended.
func (s *Ledger) Reclaim(id string, left int) (warned []world.Instance, err error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	now := s.Now()
	r := s.Reservations[id]
	switch {
	case r == nil || r.State(now) != "active" || !r.Interruptible:
		return nil, fmt.Errorf("%s is no active interruptible capacity reservation: want one of %s", id, s.reclaimable(now))
	case left < 0 || left >= r.Total:
		return nil, fmt.Errorf("%s holds %d instances: leave it 0 or more, and fewer than that", id, r.Total)
	}
	for _, l := range s.reclaim(r, left, now) {
		warned = append(warned, s.Outside(l))
	}
	return warned, nil
}

// reclaim warns the instances of an interruptible reservation that have no room in what is left of it, and returns
// them. Its source gets their capacity back as they terminate. The lock is held.
func (s *Ledger) reclaim(r *Reservation, left int, now time.Time) (warned []instance.Live) {
	source := s.Reservations[r.Source]
	allocated := source != nil && source.Allocation != nil
	cancels := left == 0 && (!allocated || source.Allocation.Zero == zeroCancels)
	if cancels {
		r.CancelledAt = now
	}
	var running []instance.Live
	for _, l := range s.Remembered(now) {
		if l.InReservation == r.ID && l.Machine.EndsAt.IsZero() {
			running = append(running, l)
		}
	}
	for _, l := range running[:max(0, len(running)-left)] {
		s.Market().Warn(l.ID, now, time.Time{}, "Server.CapacityReservationReclaimed")
		l.Machine, _ = s.Market().Machine(l.ID)
		if cancels {
			r.CancelledAt = l.Machine.EndsAt
		}
		warned = append(warned, l)
	}
	r.Total = left
	s.Market().Resize(r.Pool(), left)
	if allocated { // after the warnings, which held capacity is counted by
		source.Allocation.Target = left
		s.ReturnReclaimed(now)
	}
	return warned
}

// reclaimable lists the reservations that Reclaim takes.
func (s *Ledger) reclaimable(now time.Time) string {
	var ids []string
	for _, r := range s.SortedReservations() {
		if r.Interruptible && r.State(now) == "active" {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		return "none, since there are none: make one with `daemok lab reserve --interruptible`"
	}
	return strings.Join(ids, ", ")
}
