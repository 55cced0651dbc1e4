package reservation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// Reservation is one reservation of the account. What it has left is
// counted by the market, under the option that draws on it.
type Reservation struct {
	ID            string
	Owner         string // account
	Type          string
	Zone          world.Zone
	Total         int
	Criteria      string // open or targeted
	Kind          string // default or capacity-block
	Interruptible bool
	Source        string      // reservation of the account that an interruptible one is made out of; empty: of another account's
	Allocation    *allocation // what an interruptible one is made of; nil: none is
	Dedicated     bool        // its instances are of dedicated tenancy
	Placement     string      // placement group that it is made in; empty: in none
	CreatedAt     time.Time
	StartsAt      time.Time
	EndsAt        time.Time // zero: it lasts until it is cancelled
	CancelledAt   time.Time // zero: it was not
	Tags          world.Tags
}

// The words for kinds of reservations, for how instances come into them, and for the
// market that instances of interruptible ones are launched on.
const (
	reservationDefault  = "default"
	ReservationBlock    = "capacity-block"
	MatchOpen           = "open"
	matchTargeted       = "targeted"
	marketInterruptible = "interruptible-capacity-reservation"
)

// The tenancies that reservations and instances may have.
const (
	TenancyDefault   = "default"
	TenancyDedicated = "dedicated"
)

// Market is the market that the reservation's instances are launched on; empty for the
// usual one.
func (r *Reservation) Market() string {
	switch {
	case r.Kind == ReservationBlock:
		return ReservationBlock
	case r.Interruptible:
		return marketInterruptible
	}
	return ""
}

// Pool is where the market keeps the reservation's capacity.
func (r *Reservation) Pool() market.Pool {
	return market.Pool{Kind: r.Type, Zone: r.Zone.Name, Option: market.Reservation(r.ID)}
}

// tenancy is that of the reservation's instances, in EC2's words.
func (r *Reservation) tenancy() string {
	if r.Dedicated {
		return TenancyDedicated
	}
	return TenancyDefault
}

// State is the reservation's state at a moment, in EC2's words.
func (r *Reservation) State(now time.Time) string {
	switch {
	case !r.CancelledAt.IsZero() && !r.CancelledAt.After(now):
		return "cancelled"
	case !r.EndsAt.IsZero() && !r.EndsAt.After(now):
		return "expired"
	case r.StartsAt.After(now):
		return "scheduled"
	}
	return "active"
}

// CapacityReservation is a reservation to be put into the account, where calls
// of the account's own cannot make one: a capacity block, an interruptible one,
// or one that another account shares. Zero fields are EC2's defaults.
type CapacityReservation struct {
	Type, Zone    string
	Count         int
	Owner         string    // the account itself
	Targeted      bool      // open
	Block         bool      // an ordinary one
	Interruptible bool      // its owner may take it back: see Reclaim
	Dedicated     bool      // of default tenancy
	Placement     string    // ID of the cluster placement group that it is made in; in none
	StartsAt      time.Time // now
	EndsAt        time.Time // when it is cancelled
	Tags          map[string]string
}

// AddReservation puts a reservation into the account and returns its ID.
func (s *Ledger) AddReservation(r CapacityReservation) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	made := &Reservation{
		Owner: r.Owner, Type: r.Type, Zone: s.ZoneNamed(r.Zone), Total: r.Count, Criteria: MatchOpen, Kind: reservationDefault,
		Interruptible: r.Interruptible, Dedicated: r.Dedicated, Placement: r.Placement, StartsAt: r.StartsAt, EndsAt: r.EndsAt, Tags: world.TagsFrom(r.Tags),
	}
	if r.Targeted || r.Block {
		made.Criteria = matchTargeted
	}
	if r.Block {
		made.Kind = ReservationBlock
	}
	s.addReservation(made, s.Now())
	return made.ID
}

// addReservation gives the reservation its ID and its capacity; the lock is held.
func (s *Ledger) addReservation(r *Reservation, now time.Time) {
	r.ID, r.CreatedAt = s.NewID("cr"), now
	r.Owner = cmp.Or(r.Owner, s.Settings.ID)
	if r.StartsAt.IsZero() {
		r.StartsAt = now
	}
	if s.Reservations == nil {
		s.Reservations = map[string]*Reservation{} // of an account saved by an older version
	}
	s.Reservations[r.ID] = r
	s.Market().SetCapacity(r.Pool(), r.Total, 0)
}

// How long before the end of a capacity block EC2 warns its instances, and begins to end
// them.
const (
	blockWarns = 40 * time.Minute
	blockEnds  = 30 * time.Minute
)

// warnBlocks warns the instances of capacity blocks whose time is up of their end; the
// lock is held.
func (s *Ledger) warnBlocks(now time.Time) {
	up := map[string]time.Time{}
	for _, r := range s.Reservations {
		if r.Kind == ReservationBlock && !r.EndsAt.IsZero() && !r.EndsAt.Add(-blockWarns).After(now) {
			up[r.ID] = r.EndsAt
		}
	}
	if len(up) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.Records)) {
		if at, ends := up[s.Records[id].InReservation]; ends {
			s.Market().Warn(id, at.Add(-blockWarns), at.Add(-blockEnds), "Server.CapacityBlockEnded")
		}
	}
}

// NextBlockWarning is when instances of a capacity block are warned next; false where none
// are to be. The lock is held.
func (s *Ledger) NextBlockWarning(now time.Time) (next time.Time, due bool) {
	for _, r := range s.Reservations {
		at := r.EndsAt.Add(-blockWarns)
		if r.Kind == ReservationBlock && !r.EndsAt.IsZero() && at.After(now) && (!due || at.Before(next)) {
			next, due = at, true
		}
	}
	return next, due
}

// SortedReservations are all, by ID.
func (s *Ledger) SortedReservations() []*Reservation {
	var all []*Reservation
	for _, r := range s.Reservations {
		all = append(all, r)
	}
	return world.ByKey(all, func(r *Reservation) string { return r.ID })
}

// Reservation finds a reservation by its ID.
func (s *Ledger) Reservation(id string) (*Reservation, error) {
	if r := s.Reservations[id]; r != nil {
		return r, nil
	}
	return nil, wire.Errorf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
}

// placementARN names the placement group that a reservation is made in; empty: in none.
func (s *Ledger) placementARN(r *Reservation) string {
	if g := s.Placements[r.Placement]; g != nil {
		return s.PlacementAnswer(g).ARN
	}
	return ""
}

// ReservationARN names a reservation.
func (s *Ledger) ReservationARN(r *Reservation) string {
	return "arn:aws:ec2:" + s.Settings.Region + ":" + r.Owner + ":capacity-reservation/" + r.ID
}

// ReservationOf is the reservation that an instance runs in now, of one that it was launched into; empty where it
// runs in none, or in none any more. The lock is held.
func (s *Ledger) ReservationOf(id string, now time.Time) string {
	if r := s.Reservations[id]; r != nil && r.State(now) == "active" {
		return r.ID
	}
	return ""
}

// shownFree is how many instances a reservation has room for as
// DescribeCapacityReservations shows it: what comes and goes is counted a little
// later.
func (s *Ledger) shownFree(r *Reservation, all []instance.Live, now time.Time) int {
	used := 0
	for _, l := range all {
		if l.InReservation != r.ID || l.LaunchedAt.Add(l.CountedAfter).After(now) {
			continue
		}
		if ends := l.Machine.EndsAt; ends.IsZero() || ends.Add(l.CountedAfter).After(now) {
			used++
		}
	}
	return max(0, r.room()-used)
}

func createCapacityReservation(c *call) (any, error) {
	made, err := world.Once(c.Call, func() (string, error) { return c.server.makeReservation(c) })
	if err != nil {
		return nil, err
	}
	r, err := c.server.Reservation(made)
	if err != nil {
		return nil, err
	}
	return struct {
		Reservation capacityReservationXML `xml:"capacityReservation"`
	}{c.server.reservationAnswer(r, c.server.Remembered(c.At), c.At)}, nil
}

func (s *Ledger) makeReservation(c *call) (string, error) {
	count, err := c.Params.Int("InstanceCount", 0)
	if err != nil {
		return "", err
	}
	r := &Reservation{
		Type: c.Params.String("InstanceType"), Total: count, Kind: reservationDefault, Criteria: cmp.Or(c.Params.String("InstanceMatchCriteria"), MatchOpen),
	}
	tenancy := cmp.Or(c.Params.String("Tenancy"), TenancyDefault)
	r.Dedicated = tenancy == TenancyDedicated
	kind, known := s.Data.Type(r.Type)
	name := c.Params.String("AvailabilityZone")
	if id := c.Params.String("AvailabilityZoneId"); id != "" {
		for _, z := range s.Zones {
			if z.ID == id {
				name = z.Name
			}
		}
	}
	r.Zone = s.ZoneNamed(name)
	switch {
	case !known:
		return "", wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", r.Type)
	case count < 1:
		return "", wire.Errorf("InvalidParameterValue", "Value (%d) for parameter instanceCount is invalid. It must be at least 1.", count)
	case r.Zone.ID == "":
		return "", wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", name)
	case !slices.Contains(kind.OfferedZones(s.Settings.Region), name):
		return "", wire.Errorf("Unsupported", "The requested configuration is currently not supported: %s in %s.", r.Type, name)
	case tenancy != r.tenancy():
		return "", wire.Errorf("InvalidParameterValue", "Invalid value '%s' for Tenancy.", tenancy)
	case r.Criteria != MatchOpen && r.Criteria != matchTargeted:
		return "", wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceMatchCriteria.", r.Criteria)
	}
	if err := s.mayReserve(kind, count); err != nil {
		return "", err
	}
	if text := c.Params.String("EndDate"); text != "" {
		if r.EndsAt, err = time.Parse(time.RFC3339, text); err != nil {
			return "", wire.Errorf("InvalidParameterValue", "Invalid value '%s' for EndDate.", text)
		}
	}
	specs, err := world.ReadTagSpecificationsFrom(c.Params.List("TagSpecifications"))
	if err != nil {
		return "", err
	}
	r.Tags = world.TagsFor(specs, "capacity-reservation")
	if err := c.Commit(); err != nil {
		return "", err
	}
	s.addReservation(r, c.At)
	return r.ID, nil
}

// modifyCapacityReservation changes the count and the end. It never takes room
// from instances that run.
func modifyCapacityReservation(c *call) (any, error) {
	r, err := c.server.Reservation(c.Params.String("CapacityReservationId"))
	if err != nil {
		return nil, err
	}
	count, err := c.Params.Int("InstanceCount", r.Total)
	if err != nil {
		return nil, err
	}
	if r.Source != "" {
		return nil, r.ownersOnly("modified")
	}
	used := r.Total - c.server.Market().Capacity(r.Pool())
	if count < max(1, used) {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter instanceCount is invalid: %s instances run in the reservation, or are allocated to an interruptible one.", count, strconv.Itoa(used))
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	r.Total = count
	c.server.Market().Resize(r.Pool(), r.room())
	if text := c.Params.String("EndDate"); text != "" {
		if r.EndsAt, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for EndDate.", text)
		}
	}
	return struct {
		Done bool `xml:"return"`
	}{true}, nil
}

// cancelCapacityReservation gives the reservation up; its instances go on as
// ordinary ones.
func cancelCapacityReservation(c *call) (any, error) {
	r, err := c.server.Reservation(c.Params.String("CapacityReservationId"))
	if err != nil {
		return nil, err
	}
	if r.Source != "" {
		return nil, r.ownersOnly("cancelled")
	}
	if r.Allocation != nil {
		return nil, wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' cannot be cancelled: it has an interruptible allocation, '%s'.", r.ID, r.Allocation.ID)
	}
	if state := r.State(c.At); state == "cancelled" || state == "expired" || r.Kind == ReservationBlock {
		return nil, wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' cannot be cancelled: it is %s, of type %s.", r.ID, state, r.Kind)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	r.CancelledAt = c.At
	c.server.Market().Resize(r.Pool(), r.Total-max(0, c.server.Market().Capacity(r.Pool())))
	return struct {
		Done bool `xml:"return"`
	}{true}, nil
}

// SetQuota limits the vCPUs of a quota by its code. Launches beyond it fail as EC2's do; less
// than what runs ends nothing.
func (s *Ledger) SetQuota(code string, vCPUs int) error {
	if !slices.ContainsFunc(world.Quotas(), func(q world.Quota) bool { return q.Code == code }) {
		return fmt.Errorf("Service Quotas has no %q for EC2 that limits vCPUs: want one such as L-1216C47A", code) //nolint:staticcheck // the name of a service
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Quotas[code] = vCPUs
	return nil
}

// Used is how many vCPUs count against a quota. Reservations of the account count, used or
// not, and instances in them do not; those in one that another account shares count there,
// and capacity blocks against a quota of their own. The lock is held.
func (s *Ledger) Used(q world.Quota) int {
	used, now := 0, s.Now()
	for _, i := range s.Remembered(now) {
		if (i.State == market.Pending || i.State == market.Running) && i.Spot == q.Spot && q.Holds(i.Type) && s.ReservationOf(i.InReservation, now) == "" {
			kind, _ := s.Data.Type(i.Type)
			used += VCPUsOf(kind)
		}
	}
	for _, r := range s.Reservations {
		if r.State(now) == "active" && r.Owner == s.Settings.ID && r.Source == "" && r.Kind != ReservationBlock && !q.Spot && q.Holds(r.Type) {
			kind, _ := s.Data.Type(r.Type)
			used += r.Total * VCPUsOf(kind)
		}
	}
	return used
}

// mayReserve refuses a reservation that is more than the account's quota has left.
func (s *Ledger) mayReserve(kind *ec2data.Type, count int) error {
	q, counted := world.QuotaFor(kind.Name, false)
	if most, limited := s.Quotas[q.Code]; counted && limited && s.Used(q)+count*VCPUsOf(kind) > most {
		return wire.Errorf("InstanceLimitExceeded", "You have requested more capacity than your current limit of %d vCPUs for running On-Demand Instances of this family allows.", most)
	}
	return nil
}

// VCPUsOf is how many vCPUs a type has; 0 of none.
func VCPUsOf(t *ec2data.Type) int {
	if t == nil {
		return 0
	}
	return t.VCPUs
}
