package emulator

import (
	"time"
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
	Tags          tags             `xml:"tagSet>item"`
	Tenancy       string           `xml:"tenancy"`
	Total         int              `xml:"totalInstanceCount"`
}

func (s *Server) reservationAnswer(r *capacityReservation, all []live, now time.Time) capacityReservationXML {
	x := capacityReservationXML{
		Zone: r.Zone.Name, ZoneID: r.Zone.ID, Available: s.shownFree(r, all, now), ID: r.ID, CreatedAt: imageTime(r.CreatedAt), EndKind: "unlimited",
		ARN:      s.st.reservationARN(r),
		Criteria: r.Criteria, Platform: "Linux/UNIX", Type: r.Type, OwnerID: r.Owner, Kind: r.Kind, StartsAt: imageTime(r.StartsAt),
		State: r.state(now), Tags: r.Tags, Tenancy: r.tenancy(), Total: r.Total,
	}
	if !r.EndsAt.IsZero() {
		x.EndsAt, x.EndKind = imageTime(r.EndsAt), "limited"
	}
	x.PlacementARN = s.st.placementARN(r)
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
	st, all := c.state(), c.server.instances(c.now)
	chosen, err := chosenByID(c.params.Strings("CapacityReservationId"), st.sortedReservations(), func(r *capacityReservation) string { return r.ID },
		"InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := list[*capacityReservation]{
		fields: st.reservationFields(c.now),
		tags:   func(r *capacityReservation) tags { return r.Tags.searchable(c.now) },
		limits: pageLimits{1, 1000, 1000},
		key:    func(r *capacityReservation) string { return r.ID },
	}.page(c, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Reservations []capacityReservationXML `xml:"capacityReservationSet>item"`
		Next         string                   `xml:"nextToken,omitempty"`
	}
	for _, r := range page {
		answer.Reservations = append(answer.Reservations, c.server.reservationAnswer(r, all, c.now))
	}
	answer.Next = next
	return answer, nil
}

func (s *state) reservationFields(now time.Time) fields[*capacityReservation] {
	return fields[*capacityReservation]{
		"availability-zone":    one(func(r *capacityReservation) string { return r.Zone.Name }),
		"availability-zone-id": one(func(r *capacityReservation) string { return r.Zone.ID }),
		"end-date-type": one(func(r *capacityReservation) string {
			return map[bool]string{true: "unlimited", false: "limited"}[r.EndsAt.IsZero()]
		}),
		"instance-match-criteria": one(func(r *capacityReservation) string { return r.Criteria }),
		"instance-platform":       one(func(*capacityReservation) string { return "Linux/UNIX" }),
		"instance-type":           one(func(r *capacityReservation) string { return r.Type }),
		"owner-id":                one(func(r *capacityReservation) string { return r.Owner }),
		"placement-group-arn":     func(r *capacityReservation) []string { return unlessEmpty(s.placementARN(r)) },
		"start-date":              one(func(r *capacityReservation) string { return imageTime(r.StartsAt) }),
		"end-date": func(r *capacityReservation) []string {
			if r.EndsAt.IsZero() {
				return nil
			}
			return []string{imageTime(r.EndsAt)}
		},
		"state":   one(func(r *capacityReservation) string { return r.state(now) }),
		"tenancy": one((*capacityReservation).tenancy),
	}.lacking("outpost-arn")
}
