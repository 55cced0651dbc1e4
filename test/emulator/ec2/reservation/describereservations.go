package reservation

import (
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/world"
)

type capacityReservationXML struct {
	Zone          string           `xml:"availabilityZone"`
	ZoneID        string           `xml:"availabilityZoneId"`
	Available     int              `xml:"availableInstanceCount"`
	ARN           string           `xml:"capacityReservationArn"`
	ID            string           `xml:"capacityReservationId"`
	CreatedAt     string           `xml:"createDate"`
	EBSOptimized  bool             `xml:"ebsOptimized"`
	EndsAt        string           `xml:"endDate,omitempty"`
	EndKind       string           `xml:"endDateType"`
	Ephemeral     bool             `xml:"ephemeralStorage"`
	Criteria      string           `xml:"instanceMatchCriteria"`
	Platform      string           `xml:"instancePlatform"`
	Type          string           `xml:"instanceType"`
	Interruptible *bool            `xml:"interruptible"`
	Allocation    *allocationXML   `xml:"interruptibleCapacityAllocation"`
	Interruption  *interruptionXML `xml:"interruptionInfo"`
	OwnerID       string           `xml:"ownerId"`
	PlacementARN  string           `xml:"placementGroupArn,omitempty"`
	Kind          string           `xml:"reservationType"`
	StartsAt      string           `xml:"startDate"`
	State         string           `xml:"state"`
	Tags          world.Tags       `xml:"tagSet>item"`
	Tenancy       string           `xml:"tenancy"`
	Total         int              `xml:"totalInstanceCount"`
}

func (s *Ledger) reservationAnswer(r *Reservation, all []instance.Live, now time.Time) capacityReservationXML {
	x := capacityReservationXML{
		Zone: r.Zone.Name, ZoneID: r.Zone.ID, Available: s.shownFree(r, all, now), ID: r.ID, CreatedAt: world.ImageTime(r.CreatedAt), EndKind: "unlimited",
		ARN:      s.ReservationARN(r),
		Criteria: r.Criteria, Platform: "Linux/UNIX", Type: r.Type, OwnerID: r.Owner, Kind: r.Kind, StartsAt: world.ImageTime(r.StartsAt),
		State: r.State(now), Tags: r.Tags, Tenancy: r.tenancy(), Total: r.Total,
	}
	if !r.EndsAt.IsZero() {
		x.EndsAt, x.EndKind = world.ImageTime(r.EndsAt), "limited"
	}
	x.PlacementARN = s.placementARN(r)
	if r.Interruptible {
		x.Interruptible = &r.Interruptible
	}
	if r.Source != "" {
		x.Interruption = &interruptionXML{interruptionAdhoc, r.Source}
	}
	x.Allocation = allocationAnswer(r.Allocation)
	if x.State != "active" {
		x.Available = 0
	}
	return x
}

func describeCapacityReservations(c *call) (any, error) {
	st, all := c.server, c.server.Remembered(c.At)
	chosen, err := world.ChosenByID(c.Params.Strings("CapacityReservationId"), st.SortedReservations(), func(r *Reservation) string { return r.ID },
		"InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[*Reservation]{
		Fields: st.reservationFields(c.At),
		Tags:   func(r *Reservation) world.Tags { return r.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 1, Most: 1000, Unasked: 1000},
		Key:    func(r *Reservation) string { return r.ID },
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Reservations []capacityReservationXML `xml:"capacityReservationSet>item"`
		Next         string                   `xml:"nextToken,omitempty"`
	}
	for _, r := range page {
		answer.Reservations = append(answer.Reservations, c.server.reservationAnswer(r, all, c.At))
	}
	answer.Next = next
	return answer, nil
}

func (s *Ledger) reservationFields(now time.Time) world.Fields[*Reservation] {
	return world.Fields[*Reservation]{
		"availability-zone":    world.One(func(r *Reservation) string { return r.Zone.Name }),
		"availability-zone-id": world.One(func(r *Reservation) string { return r.Zone.ID }),
		"end-date-type": world.One(func(r *Reservation) string {
			return map[bool]string{true: "unlimited", false: "limited"}[r.EndsAt.IsZero()]
		}),
		"instance-match-criteria": world.One(func(r *Reservation) string { return r.Criteria }),
		"instance-platform":       world.One(func(*Reservation) string { return "Linux/UNIX" }),
		"instance-type":           world.One(func(r *Reservation) string { return r.Type }),
		"owner-id":                world.One(func(r *Reservation) string { return r.Owner }),
		"placement-group-arn":     func(r *Reservation) []string { return world.UnlessEmpty(s.placementARN(r)) },
		"start-date":              world.One(func(r *Reservation) string { return world.ImageTime(r.StartsAt) }),
		"end-date": func(r *Reservation) []string {
			if r.EndsAt.IsZero() {
				return nil
			}
			return []string{world.ImageTime(r.EndsAt)}
		},
		"state":   world.One(func(r *Reservation) string { return r.State(now) }),
		"tenancy": world.One((*Reservation).tenancy),
	}.Lacking("outpost-arn")
}
