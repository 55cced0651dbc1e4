package pricing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// product is one entry of the price list: a type on Linux in a region under a
// tenancy.
type product struct {
	of      *ec2data.Type
	region  string
	tenancy string
	usd     float64
}

const productsPerPage = 100

type productFilter struct{ Type, Field, Value string }

// getProducts answers for AmazonEC2: on-demand Linux prices, shared and
// dedicated, of every region in the catalogue. Unlike EC2's own calls it may
// be asked in one region for another.
func getProducts(c *call) (any, error) {
	var in struct {
		ServiceCode string
		Filters     []productFilter
		MaxResults  int
		NextToken   string
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.ServiceCode != "AmazonEC2" {
		return nil, wire.Errorf("NotFoundException", "The specified service code %s does not exist.", in.ServiceCode)
	}
	size := cmp.Or(in.MaxResults, productsPerPage)
	if size < 1 || size > productsPerPage {
		return nil, wire.Errorf("InvalidParameterException", "MaxResults must be between 1 and %d", productsPerPage)
	}
	filters, err := readProductFilters(in.Filters)
	if err != nil {
		return nil, err
	}
	start := 0
	if in.NextToken != "" {
		last, err := world.ReadPageToken(c.Action, in.NextToken)
		if start, err = pageStart(last, err); err != nil {
			return nil, wire.Errorf("InvalidNextTokenException", "The NextToken is not valid.")
		}
	}
	list, next := []string{}, ""
	for i, p := range c.server.products(filters) {
		if i < start {
			continue
		}
		if len(list) == size {
			next = world.PageToken(c.Action, strconv.Itoa(i))
			break
		}
		text, err := p.document()
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	answer := map[string]any{"FormatVersion": "aws_v1", "PriceList": list}
	if next != "" {
		answer["NextToken"] = next
	}
	return answer, nil
}

func pageStart(last string, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(last)
}

func (s *Pricing) products(filters []productFilter) []product {
	var all []product
	for i := range s.Data.Types {
		t := &s.Data.Types[i]
		for _, region := range s.Data.RegionNames() {
			usd, priced := s.onDemandUSD(t, region)
			if !priced || t.Zones[region] == "" || !wanted(filters, "regionCode", region) {
				continue
			}
			for _, tenancy := range []string{"Dedicated", "Shared"} {
				p := product{of: t, region: region, tenancy: tenancy, usd: usd}
				if tenancy == "Dedicated" {
					p.usd = float64(usd * world.DedicatedSurcharge)
				}
				if p.passes(filters) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// onDemandUSD is what a type costs in a region: in the account's own, what the market asks.
func (s *Pricing) onDemandUSD(t *ec2data.Type, region string) (usd float64, priced bool) {
	usd, _, priced = t.OnDemandUSD(region)
	if k, offered := s.Market().Kind(t.Name); priced && offered && region == s.Settings.Region && len(k.Zones) > 0 {
		asked := s.Market().PriceUSD(market.Pool{Kind: k.Name, Zone: k.Zones[0], Option: market.OnDemand}, s.Now())
		usd = cmp.Or(asked, usd)
	}
	return usd, priced
}

// wanted tells quickly whether a filter rules a value out.
func wanted(filters []productFilter, field, value string) bool {
	return !slices.ContainsFunc(filters, func(f productFilter) bool { return f.Field == field && !f.takes(value) })
}

func (p product) passes(filters []productFilter) bool {
	attributes := p.attributes()
	return !slices.ContainsFunc(filters, func(f productFilter) bool { return !f.takes(attributes[f.Field]) })
}

// takes reports whether a filter lets an attribute's value through. Of several values each is
// divided from the next by a comma.
func (f productFilter) takes(value string) bool {
	same := func(one string) bool { return strings.EqualFold(strings.TrimSpace(one), value) }
	switch f.Type {
	case "CONTAINS":
		return strings.Contains(strings.ToLower(value), strings.ToLower(f.Value))
	case "ANY_OF":
		return slices.ContainsFunc(strings.Split(f.Value, ","), same)
	case "NONE_OF":
		return !slices.ContainsFunc(strings.Split(f.Value, ","), same)
	}
	return same(f.Value)
}

var productFilterTypes = []string{"TERM_MATCH", "EQUALS", "CONTAINS", "ANY_OF", "NONE_OF"}

// readProductFilters gives fields the names that products have: clients write ServiceCode,
// serviceCode and servicecode. What no product has is refused, rather than to find none.
func readProductFilters(filters []productFilter) ([]productFilter, error) {
	known := map[string]string{}
	for name := range (product{of: &ec2data.Type{}}).attributes() {
		known[strings.ToLower(name)] = name
	}
	var read []productFilter
	for _, f := range filters {
		name := known[strings.ToLower(f.Field)]
		switch {
		case !slices.Contains(productFilterTypes, f.Type):
			return nil, wire.Errorf("InvalidParameterException", "Filter type '%s' is none of %s", f.Type, strings.Join(productFilterTypes, ", "))
		case name == "":
			return nil, wire.Errorf("InvalidParameterException", "The filter field '%s' is invalid: the emulator knows %s", f.Field, world.Listed(maps.Values(known)))
		}
		f.Field = name
		read = append(read, f)
	}
	return read, nil
}

func (p product) attributes() map[string]string {
	family := "Compute Instance"
	if p.of.BareMetal {
		family = "Compute Instance (bare metal)"
	}
	return map[string]string{
		"instanceType": p.of.Name, "regionCode": p.region, "location": p.region, "locationType": "AWS Region", "tenancy": p.tenancy,
		"operatingSystem": "Linux", "preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand",
		"licenseModel": "No License required", "operation": "RunInstances", "servicecode": "AmazonEC2", "servicename": "Amazon Elastic Compute Cloud",
		"vcpu": strconv.Itoa(p.of.VCPUs), "memory": fmt.Sprintf("%g GiB", float64(p.of.MemoryMiB)/1024),
		"currentGeneration": map[bool]string{true: "Yes", false: "No"}[p.of.Current], "productFamily": family,
		"usagetype": "BoxUsage:" + p.of.Name,
	}
}

// document is one entry as the list carries it: JSON text.
func (p product) document() (string, error) {
	attributes := p.attributes()
	family := attributes["productFamily"]
	delete(attributes, "productFamily")
	sku := world.Account{}.UniqueID("", p.of.Name+p.region+p.tenancy)[:16]
	term, dimension := sku+".JRTCKXETXF", sku+".JRTCKXETXF.6YS6EN2CT7"
	text, err := json.Marshal(map[string]any{
		"product":     map[string]any{"productFamily": family, "attributes": attributes, "sku": sku},
		"serviceCode": "AmazonEC2",
		"terms": map[string]any{"OnDemand": map[string]any{term: map[string]any{
			"sku": sku, "offerTermCode": "JRTCKXETXF", "termAttributes": map[string]string{},
			"priceDimensions": map[string]any{dimension: map[string]any{
				"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "rateCode": dimension,
				"description":  fmt.Sprintf("$%.10f per On Demand Linux %s Instance Hour", p.usd, p.of.Name),
				"pricePerUnit": map[string]string{"USD": fmt.Sprintf("%.10f", p.usd)},
			}},
		}}},
		"version": "20261121000000",
	})
	if err != nil {
		return "", fmt.Errorf("encode price of %s: %w", p.of.Name, err)
	}
	return string(text), nil
}
