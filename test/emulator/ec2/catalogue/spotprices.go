package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// spotPrice is one row of the price history.
type spotPrice struct {
	Zone    string    `xml:"availabilityZone"`
	ZoneID  string    `xml:"availabilityZoneId"`
	Type    string    `xml:"instanceType"`
	Product string    `xml:"productDescription"`
	Price   string    `xml:"spotPrice"`
	At      time.Time `xml:"timestamp"`
}

// spotProducts are the platforms that prices are given for. Windows costs its
// licence more.
var spotProducts = []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)", "Windows", "Windows (Amazon VPC)"}

const (
	historyMax       = 90 * 24 * time.Hour
	historyPage      = 1000 // rows at most
	windowsUSDPerCPU = 0.046
)

// describeSpotPriceHistory gives, per pool, the price that held at StartTime
// and every change since until EndTime; without a StartTime the price of the
// moment alone. So a StartTime of now gives the latest row of each pool.
func describeSpotPriceHistory(c *call) (any, error) {
	from, until, err := historySpan(c)
	if err != nil {
		return nil, err
	}
	rows, err := c.server.history(c, from, until)
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[spotPrice]{
		Fields: world.Fields[spotPrice]{
			"availability-zone":    world.One(func(p spotPrice) string { return p.Zone }),
			"availability-zone-id": world.One(func(p spotPrice) string { return p.ZoneID }),
			"instance-type":        world.One(func(p spotPrice) string { return p.Type }),
			"product-description":  world.One(func(p spotPrice) string { return p.Product }),
			"spot-price":           world.One(func(p spotPrice) string { return p.Price }),
			"timestamp":            world.One(func(p spotPrice) string { return world.ImageTime(p.At) }),
		},
		Limits: world.PageLimits{Least: 1, Unasked: historyPage},
		Key:    spotPrice.key,
	}.Page(c.Call, rows)
	if err != nil {
		return nil, err
	}
	return struct {
		Rows []spotPrice `xml:"spotPriceHistorySet>item"`
		Next string      `xml:"nextToken"`
	}{page, next}, nil
}

// key sorts by type, zone and product, newest first.
func (p spotPrice) key() string {
	return fmt.Sprintf("%s %s %s %020d", p.Type, p.Zone, p.Product, (1<<62)-p.At.Unix())
}

func historySpan(c *call) (from, until time.Time, err error) {
	from, until = c.At, c.At
	for name, to := range map[string]*time.Time{"StartTime": &from, "EndTime": &until} {
		text := c.Params.String(name)
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			return from, until, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for %s", text, name)
		}
	}
	if until.After(c.At) {
		until = c.At
	}
	if from.Before(c.At.Add(-historyMax)) {
		from = c.At.Add(-historyMax)
	}
	if from.After(until) {
		from = until
	}
	return from, until, nil
}

// history gives the rows from the type on where the page begins, until there are enough for one: a
// span of many days has millions. A call with filters, of which no row may pass, gets all.
func (s *Catalogue) history(c *call, from, until time.Time) ([]spotPrice, error) {
	first := "" // type of the page's beginning
	if token := c.Params.String("NextToken"); token != "" {
		after, err := world.ReadPageToken(c.Action, token)
		if err != nil {
			return nil, err
		}
		first, _, _ = strings.Cut(after, " ")
	}
	filtered := len(c.Params.List("Filter")) > 0
	var rows []spotPrice
	types, zone := c.Params.Strings("InstanceType"), c.Params.String("AvailabilityZone")
	products := c.Params.Strings("ProductDescription")
	if len(products) == 0 {
		products = spotProducts
	}
	further := 0 // rows of types after the first
	for _, t := range world.ByKey(s.Data.OfferedIn(c.server.Settings.Region), func(t *ec2data.Type) string { return t.Name + " " }) {
		if t.Name < first || len(types) > 0 && !slices.Contains(types, t.Name) {
			continue
		}
		before := len(rows)
		for _, z := range t.OfferedZones(c.server.Settings.Region) {
			pool := market.Pool{Kind: t.Name, Zone: z, Option: market.Spot}
			if (zone == "" || zone == z) && s.Market().Offers(pool) {
				rows = append(rows, s.poolHistory(t, pool, products, from, until)...)
			}
		}
		if t.Name != first {
			further += len(rows) - before
		}
		if further > historyPage && !filtered {
			break
		}
	}
	return world.ByKey(rows, spotPrice.key), nil
}

func (s *Catalogue) poolHistory(t *ec2data.Type, p market.Pool, products []string, from, until time.Time) []spotPrice {
	var rows []spotPrice
	for at := s.Market().PriceStepAt(until); ; at = s.Market().PriceStepAt(at.Add(-time.Second)) {
		for _, product := range products {
			if row, offered := s.spotRow(t, p, product, at); offered {
				rows = append(rows, row)
			}
		}
		if !at.After(from) {
			return rows
		}
	}
}

func (s *Catalogue) spotRow(t *ec2data.Type, p market.Pool, product string, at time.Time) (spotPrice, bool) {
	usd := s.Market().PriceUSD(p, at)
	switch {
	case !slices.Contains(spotProducts, product):
		return spotPrice{}, false
	case product[0] == 'W' && t.IsARM():
		return spotPrice{}, false
	case product[0] == 'W':
		usd += float64(windowsUSDPerCPU * float64(t.VCPUs))
	}
	return spotPrice{
		Zone: p.Zone, ZoneID: ec2data.ZoneID(p.Zone), Type: p.Kind, Product: product, Price: fmt.Sprintf("%.6f", usd), At: at.UTC(),
	}, true
}
