package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
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
	page, next, err := list[spotPrice]{
		fields: fields[spotPrice]{
			"availability-zone":    one(func(p spotPrice) string { return p.Zone }),
			"availability-zone-id": one(func(p spotPrice) string { return p.ZoneID }),
			"instance-type":        one(func(p spotPrice) string { return p.Type }),
			"product-description":  one(func(p spotPrice) string { return p.Product }),
			"spot-price":           one(func(p spotPrice) string { return p.Price }),
			"timestamp":            one(func(p spotPrice) string { return imageTime(p.At) }),
		},
		limits: pageLimits{least: 1, unasked: historyPage},
		key:    spotPrice.key,
	}.page(c, rows)
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
	from, until = c.now, c.now
	for name, to := range map[string]*time.Time{"StartTime": &from, "EndTime": &until} {
		text := c.params.String(name)
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.RFC3339, text); err != nil {
			return from, until, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for %s", text, name)
		}
	}
	if until.After(c.now) {
		until = c.now
	}
	if from.Before(c.now.Add(-historyMax)) {
		from = c.now.Add(-historyMax)
	}
	if from.After(until) {
		from = until
	}
	return from, until, nil
}

// history gives the rows from the type on where the page begins, until there are enough for one: a
// span of many days has millions. A call with filters, of which no row may pass, gets all.
func (s *Server) history(c *call, from, until time.Time) ([]spotPrice, error) {
	first := "" // type of the page's beginning
	if token := c.params.String("NextToken"); token != "" {
		after, err := readPageToken(c.action, token)
		if err != nil {
			return nil, err
		}
		first, _, _ = strings.Cut(after, " ")
	}
	filtered := len(c.params.List("Filter")) > 0
	var rows []spotPrice
	types, zone := c.params.Strings("InstanceType"), c.params.String("AvailabilityZone")
	products := c.params.Strings("ProductDescription")
	if len(products) == 0 {
		products = spotProducts
	}
	further := 0 // rows of types after the first
	for _, t := range byKey(s.data.OfferedIn(c.state().Account.Region), func(t *ec2data.Type) string { return t.Name + " " }) {
		if t.Name < first || len(types) > 0 && !slices.Contains(types, t.Name) {
			continue
		}
		before := len(rows)
		for _, z := range t.OfferedZones(c.state().Account.Region) {
			pool := market.Pool{Kind: t.Name, Zone: z, Option: market.Spot}
			if (zone == "" || zone == z) && s.market.Offers(pool) {
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
	return byKey(rows, spotPrice.key), nil
}

func (s *Server) poolHistory(t *ec2data.Type, p market.Pool, products []string, from, until time.Time) []spotPrice {
	var rows []spotPrice
	for at := s.market.PriceStepAt(until); ; at = s.market.PriceStepAt(at.Add(-time.Second)) {
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

func (s *Server) spotRow(t *ec2data.Type, p market.Pool, product string, at time.Time) (spotPrice, bool) {
	usd := s.market.PriceUSD(p, at)
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
