package commitment

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// rate is what a plan charges for an instance type on Linux, in a region, under a tenancy.
type rate struct {
	region, kind string
	dedicated    bool
	usd          float64 // an hour
}

func (r rate) family() string {
	family, _, _ := strings.Cut(r.kind, ".")
	return family
}

func (r rate) tenancy() string {
	if r.dedicated {
		return "dedicated"
	}
	return "shared"
}

func (r rate) usageType() string {
	if r.dedicated {
		return "DedicatedUsage:" + r.kind
	}
	return "BoxUsage:" + r.kind
}

func (r rate) key() string { return r.region + "/" + r.kind + "/" + r.tenancy() }

// What all rates here are for.
const (
	platform    = "Linux/UNIX"
	product     = "EC2"
	serviceCode = "AmazonEC2"
	operation   = "RunInstances"
)

// rateFields are what rates are filtered by.
var rateFields = world.Fields[rate]{
	"instanceType":       world.One(func(r rate) string { return r.kind }),
	"operation":          world.One(func(rate) string { return operation }),
	"productDescription": world.One(func(rate) string { return platform }),
	"productType":        world.One(func(rate) string { return product }),
	"region":             world.One(func(r rate) string { return r.region }),
	"serviceCode":        world.One(func(rate) string { return serviceCode }),
	"tenancy":            world.One(rate.tenancy),
	"usageType":          world.One(rate.usageType),
}

// rates are those of a plan, for all that it covers: list prices less its discount.
func (s *Commitments) rates(p Plan) (all []rate) {
	if p.Type == SageMaker {
		return nil
	}
	regions := s.Data.RegionNames()
	if p.Region != "" {
		regions = []string{p.Region}
	}
	for i := range s.Data.Types {
		t := &s.Data.Types[i]
		if p.Family != "" && !strings.HasPrefix(t.Name, p.Family+".") {
			continue
		}
		for _, region := range regions {
			usd, _, priced := t.OnDemandUSD(region)
			if !priced || t.Zones[region] == "" {
				continue
			}
			usd -= float64(usd * p.Discount)
			all = append(all, rate{region: region, kind: t.Name, usd: usd},
				rate{region: region, kind: t.Name, dedicated: true, usd: float64(usd * world.DedicatedSurcharge)})
		}
	}
	return all
}

func describeSavingsPlanRates(c *call) (any, error) {
	var in struct {
		SavingsPlanID string
		Filters       []filter
		paging
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(c.server.Plans, func(p Plan) bool { return p.ID == in.SavingsPlanID })
	if at < 0 {
		missing := wire.Errorf("ResourceNotFoundException", "The Savings Plan %q does not exist.", in.SavingsPlanID)
		return nil, missing.WithStatus(http.StatusNotFound)
	}
	found, err := matching(c.server.rates(c.server.Plans[at]), in.Filters, rateFields)
	if err != nil {
		return nil, err
	}
	page, next, err := paged(in.paging, ratesUnasked, c.Action+" "+in.SavingsPlanID, found, rate.key)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, r := range page {
		list = append(list, r.answer())
	}
	return withNext(map[string]any{"savingsPlanId": in.SavingsPlanID, "searchResults": list}, next), nil
}

func (r rate) answer() map[string]any {
	property := func(name, value string) map[string]string {
		return map[string]string{"name": name, "value": value}
	}
	return map[string]any{
		"rate": strconv.FormatFloat(r.usd, 'f', 7, 64), "currency": "USD", "unit": "Hrs",
		"productType": product, "serviceCode": serviceCode, "usageType": r.usageType(), "operation": operation,
		"properties": []map[string]string{
			property("region", r.region), property("instanceType", r.kind), property("instanceFamily", r.family()),
			property("productDescription", platform), property("tenancy", r.tenancy()),
		},
	}
}
