package commitment

import (
	"cmp"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// ReservedInstances are Reserved Instances that were paid for together: a discount on instances that run, which
// launches none. They are regional unless they name a zone. Zero fields are as the comments beside them say.
type ReservedInstances struct {
	ID          string // AddReservedInstances draws it
	Type        string
	Count       int
	Zone        string    // of zonal ones; empty: regional
	Platform    string    // product description: "Linux/UNIX"
	Dedicated   bool      // of default tenancy
	Convertible bool      // of the standard class
	HourlyUSD   float64   // recurring charge of each: the list price on Linux less a usual discount
	StartsAt    time.Time // now
	EndsAt      time.Time // a year after the start
}

// reservedPaid is the share of the list price that Reserved Instances cost unless HourlyUSD says otherwise.
const reservedPaid = 0.62

// AddReservedInstances puts Reserved Instances into the account and returns its ID.
func (s *Commitments) AddReservedInstances(r ReservedInstances) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r.ID = s.MessageID()
	r.Platform = cmp.Or(r.Platform, platform)
	lasts := termOf(r.StartsAt, r.EndsAt, s.Now())
	r.StartsAt, r.EndsAt = lasts.from, lasts.to
	if kind, known := s.Data.Type(r.Type); known && r.HourlyUSD == 0 {
		list, _, _ := kind.OnDemandUSD(s.Settings.Region)
		r.HourlyUSD = float64(list * reservedPaid)
	}
	s.Reserved = append(s.Reserved, r)
	return r.ID
}

func (r ReservedInstances) term() term { return term{r.StartsAt, r.EndsAt} }

func (r ReservedInstances) scope() string {
	if r.Zone != "" {
		return "Availability Zone"
	}
	return "Region"
}

func (r ReservedInstances) tenancy() string {
	if r.Dedicated {
		return "dedicated"
	}
	return "default"
}

func (r ReservedInstances) class() string {
	if r.Convertible {
		return "convertible"
	}
	return "standard"
}

type reservedInstancesXML struct {
	ID         string              `xml:"reservedInstancesId"`
	Type       string              `xml:"instanceType"`
	Zone       string              `xml:"availabilityZone,omitempty"`
	ZoneID     string              `xml:"availabilityZoneId,omitempty"`
	StartsAt   string              `xml:"start"`
	EndsAt     string              `xml:"end"`
	Seconds    int                 `xml:"duration"`
	UsagePrice float64             `xml:"usagePrice"`
	FixedPrice float64             `xml:"fixedPrice"`
	Count      int                 `xml:"instanceCount"`
	Platform   string              `xml:"productDescription"`
	State      string              `xml:"state"`
	Tenancy    string              `xml:"instanceTenancy"`
	Class      string              `xml:"offeringClass"`
	Offering   string              `xml:"paymentOption"`
	Scope      string              `xml:"scope"`
	Currency   string              `xml:"currencyCode"`
	Recurring  recurringChargesXML `xml:"recurringCharges>item"`
}

type recurringChargesXML struct {
	Frequency string  `xml:"frequency"`
	USD       float64 `xml:"amount"`
}

func (s *Commitments) reservedAnswer(r ReservedInstances, now time.Time) reservedInstancesXML {
	return reservedInstancesXML{
		ID: r.ID, Type: r.Type, Zone: r.Zone, ZoneID: s.ZoneNamed(r.Zone).ID, Scope: r.scope(), Count: r.Count,
		StartsAt: world.ImageTime(r.StartsAt), EndsAt: world.ImageTime(r.EndsAt), Seconds: r.term().seconds(),
		State:    r.term().state(now),
		Platform: r.Platform, Tenancy: r.tenancy(), Class: r.class(), Offering: paymentOption, Currency: "USD",
		Recurring: recurringChargesXML{"Hourly", r.HourlyUSD},
	}
}

// describeReservedInstances lists all in one answer: EC2 has no pages of them.
func describeReservedInstances(c *call) (any, error) {
	st := c.server
	chosen, err := world.ChosenByID(c.Params.Strings("ReservedInstancesId"), st.Reserved,
		func(r ReservedInstances) string { return r.ID },
		"InvalidReservedInstancesId", "The Reserved Instances ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	found, err := world.Matching(c.Params, chosen, st.reservedFields(c.At),
		func(ReservedInstances) world.Tags { return nil })
	if err != nil {
		return nil, err
	}
	var answer struct {
		Reserved []reservedInstancesXML `xml:"reservedInstancesSet>item"`
	}
	class, offering := c.Params.String("OfferingClass"), c.Params.String("OfferingType")
	for _, r := range found {
		if (class == "" || class == r.class()) && (offering == "" || offering == paymentOption) {
			answer.Reserved = append(answer.Reserved, st.reservedAnswer(r, c.At))
		}
	}
	return answer, nil
}

func (s *Commitments) reservedFields(now time.Time) world.Fields[ReservedInstances] {
	return world.Fields[ReservedInstances]{
		"availability-zone": func(r ReservedInstances) []string { return world.UnlessEmpty(r.Zone) },
		"availability-zone-id": func(r ReservedInstances) []string {
			return world.UnlessEmpty(s.ZoneNamed(r.Zone).ID)
		},
		"duration": world.One(func(r ReservedInstances) string {
			return strconv.Itoa(r.term().seconds())
		}),
		"end":                   world.One(func(r ReservedInstances) string { return world.ImageTime(r.EndsAt) }),
		"fixed-price":           world.One(func(ReservedInstances) string { return "0.0" }),
		"instance-type":         world.One(func(r ReservedInstances) string { return r.Type }),
		"product-description":   world.One(func(r ReservedInstances) string { return r.Platform }),
		"reserved-instances-id": world.One(func(r ReservedInstances) string { return r.ID }),
		"scope":                 world.One(ReservedInstances.scope),
		"start":                 world.One(func(r ReservedInstances) string { return world.ImageTime(r.StartsAt) }),
		"state":                 world.One(func(r ReservedInstances) string { return r.term().state(now) }),
		"usage-price":           world.One(func(ReservedInstances) string { return "0.0" }),
	}
}
