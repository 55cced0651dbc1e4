package emulator

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// capacityReservation is one reservation of the account. What it has left is
// counted by the market, under the option that draws on it.
type capacityReservation struct {
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
	reservationBlock    = "capacity-block"
	matchOpen           = "open"
	matchTargeted       = "targeted"
	marketInterruptible = "interruptible-capacity-reservation"
)

// market is the market that the reservation's instances are launched on; empty for the
// usual one.
func (r *capacityReservation) market() string {
	switch {
	case r.Kind == reservationBlock:
		return reservationBlock
	case r.Interruptible:
		return marketInterruptible
	}
	return ""
}

func (r *capacityReservation) pool() market.Pool {
	return market.Pool{Kind: r.Type, Zone: r.Zone.Name, Option: market.Reservation(r.ID)}
}

// tenancy is that of the reservation's instances, in EC2's words.
func (r *capacityReservation) tenancy() string {
	if r.Dedicated {
		return tenancyDedicated
	}
	return tenancyDefault
}

// state is the reservation's state at a moment, in EC2's words.
func (r *capacityReservation) state(now time.Time) string {
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
func (s *Server) AddReservation(r CapacityReservation) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	made := &capacityReservation{
		Owner: r.Owner, Type: r.Type, Zone: s.ZoneNamed(r.Zone), Total: r.Count, Criteria: matchOpen, Kind: reservationDefault,
		Interruptible: r.Interruptible, Dedicated: r.Dedicated, Placement: r.Placement, StartsAt: r.StartsAt, EndsAt: r.EndsAt, Tags: world.TagsFrom(r.Tags),
	}
	if r.Targeted || r.Block {
		made.Criteria = matchTargeted
	}
	if r.Block {
		made.Kind = reservationBlock
	}
	s.addReservation(made, s.Now())
	return made.ID
}

// addReservation gives the reservation its ID and its capacity; the lock is held.
func (s *Server) addReservation(r *capacityReservation, now time.Time) {
	r.ID, r.CreatedAt = s.NewID("cr"), now
	r.Owner = cmp.Or(r.Owner, s.Settings.ID)
	if r.StartsAt.IsZero() {
		r.StartsAt = now
	}
	if s.Reservations == nil {
		s.Reservations = map[string]*capacityReservation{} // of an account saved by an older version
	}
	s.Reservations[r.ID] = r
	s.Market().SetCapacity(r.pool(), r.Total, 0)
}

// How long before the end of a capacity block EC2 warns its instances, and begins to end
// them.
const (
	blockWarns = 40 * time.Minute
	blockEnds  = 30 * time.Minute
)

// warnBlocks warns the instances of capacity blocks whose time is up of their end; the
// lock is held.
func (s *Server) warnBlocks(now time.Time) {
	up := map[string]time.Time{}
	for _, r := range s.Reservations {
		if r.Kind == reservationBlock && !r.EndsAt.IsZero() && !r.EndsAt.Add(-blockWarns).After(now) {
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

// nextBlockWarning is when instances of a capacity block are warned next; false where none
// are to be. The lock is held.
func (s *Server) nextBlockWarning(now time.Time) (next time.Time, due bool) {
	for _, r := range s.Reservations {
		at := r.EndsAt.Add(-blockWarns)
		if r.Kind == reservationBlock && !r.EndsAt.IsZero() && at.After(now) && (!due || at.Before(next)) {
			next, due = at, true
		}
	}
	return next, due
}

func (s *Server) sortedReservations() []*capacityReservation {
	var all []*capacityReservation
	for _, r := range s.Reservations {
		all = append(all, r)
	}
	return world.ByKey(all, func(r *capacityReservation) string { return r.ID })
}

func (s *Server) reservation(id string) (*capacityReservation, error) {
	if r := s.Reservations[id]; r != nil {
		return r, nil
	}
	return nil, wire.Errorf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", id)
}

// placementARN names the placement group that a reservation is made in; empty: in none.
func (s *Server) placementARN(r *capacityReservation) string {
	if g := s.Placements[r.Placement]; g != nil {
		return s.placementAnswer(g).ARN
	}
	return ""
}

func (s *Server) reservationARN(r *capacityReservation) string {
	return "arn:aws:ec2:" + s.Settings.Region + ":" + r.Owner + ":capacity-reservation/" + r.ID
}

// reservationOf is the reservation that an instance runs in now; empty where it
// runs in none, or in none any more.
func (s *Server) reservationOf(i *instance, now time.Time) string {
	if r := s.Reservations[i.InReservation]; r != nil && r.state(now) == "active" {
		return r.ID
	}
	return ""
}

// shownFree is how many instances a reservation has room for as
// DescribeCapacityReservations shows it: what comes and goes is counted a little
// later.
func (s *Server) shownFree(r *capacityReservation, all []live, now time.Time) int {
	used := 0
	for _, l := range all {
		if l.InReservation != r.ID || l.LaunchedAt.Add(l.CountedAfter).After(now) {
			continue
		}
		if ends := l.machine.EndsAt; ends.IsZero() || ends.Add(l.CountedAfter).After(now) {
			used++
		}
	}
	return max(0, r.room()-used)
}

// chooseReservation settles which reservation a launch draws on, by what it
// says of reservations: a named one, any open one that matches, or none.
func (s *Server) chooseReservation(l *launch, now time.Time) error {
	s.returnReclaimed(now)
	spec := l.data.Reservation
	if spec == nil {
		spec = &template.ReservationSpec{Preference: matchOpen}
	}
	if l.spot || spec.Preference == "none" {
		return nil
	}
	if spec.Target != nil && spec.Target.ID != "" {
		r, err := s.reservation(spec.Target.ID)
		if err != nil {
			return err
		}
		if s.Denies(faults.OnReservations) || s.Denies(faults.OnReservation(r.ID)) {
			return s.Unauthorized(s.Settings, "RunInstances", s.reservationARN(r))
		}
		if state := r.state(now); state != "active" {
			return wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' is %s.", r.ID, state)
		}
		if r.Type != l.kind.Name || r.Zone.Name != l.subnet.Zone.Name {
			return wire.Errorf("InvalidParameterValue", "The attributes of the instance (%s in %s) do not match those of capacity reservation '%s' (%s in %s).",
				l.kind.Name, l.subnet.Zone.Name, r.ID, r.Type, r.Zone.Name)
		}
		if l.dedicated() != r.Dedicated {
			return wire.Errorf("InvalidParameterCombination", "The tenancy of the instance does not match that of capacity reservation '%s'.", r.ID)
		}
		if r.Placement != l.placed() {
			return wire.Errorf("InvalidParameterCombination", "The placement group of the instance does not match that of capacity reservation '%s'.", r.ID)
		}
		if r.market() != l.market() {
			return wire.Errorf("InvalidParameterCombination", "The market type of capacity reservation '%s' is '%s', and that of the request is '%s'.", r.ID, r.market(), l.market())
		}
		l.reservation = r
		return nil
	}
	for _, r := range s.sortedReservations() {
		if l.dedicated() == r.Dedicated && r.Criteria == matchOpen && r.market() == l.market() && r.state(now) == "active" && r.Type == l.kind.Name && r.Zone.Name == l.subnet.Zone.Name && r.Placement == l.placed() && s.Market().Capacity(r.pool()) > 0 {
			l.reservation = r
			return nil
		}
	}
	if l.reservedOnly() {
		return wire.Errorf("ReservationCapacityExceeded", "There is no open capacity reservation with room for a %s in %s.", l.kind.Name, l.subnet.Zone.Name)
	}
	return nil
}

// placed is the placement group that a launch goes into; empty: into none.
func (l launch) placed() string {
	if l.placement == nil {
		return ""
	}
	return l.placement.ID
}

// reservedOnly reports whether the launch may run in a reservation alone.
func (l launch) reservedOnly() bool {
	spec := l.data.Reservation
	return spec != nil && (spec.Preference == "capacity-reservations-only" || spec.Target != nil)
}

func createCapacityReservation(c *call) (any, error) {
	made, err := world.Once(c.Call, func() (string, error) { return c.server.makeReservation(c) })
	if err != nil {
		return nil, err
	}
	r, err := c.server.reservation(made)
	if err != nil {
		return nil, err
	}
	return struct {
		Reservation capacityReservationXML `xml:"capacityReservation"`
	}{c.server.reservationAnswer(r, c.server.instances(c.At), c.At)}, nil
}

func (s *Server) makeReservation(c *call) (string, error) {
	count, err := c.Params.Int("InstanceCount", 0)
	if err != nil {
		return "", err
	}
	r := &capacityReservation{
		Type: c.Params.String("InstanceType"), Total: count, Kind: reservationDefault, Criteria: cmp.Or(c.Params.String("InstanceMatchCriteria"), matchOpen),
	}
	tenancy := cmp.Or(c.Params.String("Tenancy"), tenancyDefault)
	r.Dedicated = tenancy == tenancyDedicated
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
	case r.Criteria != matchOpen && r.Criteria != matchTargeted:
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
	r, err := c.server.reservation(c.Params.String("CapacityReservationId"))
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
	used := r.Total - c.server.Market().Capacity(r.pool())
	if count < max(1, used) {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter instanceCount is invalid: %s instances run in the reservation, or are allocated to an interruptible one.", count, strconv.Itoa(used))
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	r.Total = count
	c.server.Market().Resize(r.pool(), r.room())
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
	r, err := c.server.reservation(c.Params.String("CapacityReservationId"))
	if err != nil {
		return nil, err
	}
	if r.Source != "" {
		return nil, r.ownersOnly("cancelled")
	}
	if r.Allocation != nil {
		return nil, wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' cannot be cancelled: it has an interruptible allocation, '%s'.", r.ID, r.Allocation.ID)
	}
	if state := r.state(c.At); state == "cancelled" || state == "expired" || r.Kind == reservationBlock {
		return nil, wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' cannot be cancelled: it is %s, of type %s.", r.ID, state, r.Kind)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	r.CancelledAt = c.At
	c.server.Market().Resize(r.pool(), r.Total-max(0, c.server.Market().Capacity(r.pool())))
	return struct {
		Done bool `xml:"return"`
	}{true}, nil
}
