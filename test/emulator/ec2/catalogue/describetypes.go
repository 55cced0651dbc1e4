package catalogue

import (
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

const instanceTypesPerCall = 100

func describeInstanceTypes(c *call) (any, error) {
	asked := c.Params.Strings("InstanceType")
	if len(asked) > instanceTypesPerCall {
		return nil, wire.Errorf("InvalidParameterValue", "The maximum number of instance types per call is %d", instanceTypesPerCall)
	}
	if len(asked) > 0 && c.Params.Has("MaxResults") {
		return nil, wire.Errorf("InvalidParameterCombination", "The parameters InstanceType and MaxResults cannot be used together")
	}
	name := func(t *ec2data.Type) string { return t.Name }
	chosen, err := world.ChosenByID(asked, c.server.Offered(c.server.Settings.Region), name,
		"InvalidInstanceType", "The following supplied instance types do not exist: [%s]")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[*ec2data.Type]{
		Fields: typeFields(),
		Limits: world.PageLimits{Least: 5, Most: 100, Unasked: 100},
		Key:    name,
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Types []typeXML `xml:"instanceTypeSet>item"`
		Next  string    `xml:"nextToken,omitempty"`
	}
	for _, t := range page {
		answer.Types = append(answer.Types, typeAnswer(t))
	}
	answer.Next = next
	return answer, nil
}

// offering is one item of DescribeInstanceTypeOfferings.
type offering struct {
	Type     string `xml:"instanceType"`
	Location string `xml:"location"`
	Kind     string `xml:"locationType"`
}

func describeInstanceTypeOfferings(c *call) (any, error) {
	all, err := offerings(c)
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[offering]{
		Fields: world.Fields[offering]{
			"instance-type": world.One(func(o offering) string { return o.Type }),
			"location":      world.One(func(o offering) string { return o.Location }),
		},
		Limits: world.PageLimits{Least: 5, Most: 1000, Unasked: 1000},
		Key:    func(o offering) string { return o.Type + " " + o.Location },
	}.Page(c.Call, all)
	if err != nil {
		return nil, err
	}
	return struct {
		Offerings []offering `xml:"instanceTypeOfferingSet>item"`
		Next      string     `xml:"nextToken,omitempty"`
	}{page, next}, nil
}

// offerings lists what the region offers, sorted by type and place. Zones in
// which the account has no subnets are listed too, as EC2 does.
func offerings(c *call) ([]offering, error) {
	region, kind := c.server.Settings.Region, c.Params.String("LocationType")
	places := map[string]func(*ec2data.Type) []string{
		"":                     func(*ec2data.Type) []string { return []string{region} },
		"region":               func(*ec2data.Type) []string { return []string{region} },
		"availability-zone":    func(t *ec2data.Type) []string { return t.OfferedZones(region) },
		"availability-zone-id": func(t *ec2data.Type) []string { return zoneIDs(t.OfferedZones(region)) },
	}
	of, known := places[kind]
	if !known {
		return nil, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for locationType", kind)
	}
	if kind == "" {
		kind = "region"
	}
	var all []offering
	for _, t := range c.server.Offered(region) {
		for _, place := range of(t) {
			all = append(all, offering{Type: t.Name, Location: place, Kind: kind})
		}
	}
	return world.ByKey(all, func(o offering) string { return o.Type + " " + o.Location }), nil
}

func zoneIDs(zones []string) []string {
	ids := make([]string, 0, len(zones))
	for _, z := range zones {
		ids = append(ids, ec2data.ZoneID(z))
	}
	return ids
}
