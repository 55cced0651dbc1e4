package emulator

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/daemok/daemok/test/emulator/wire"
)

type subnetXML struct {
	AssignIPv6   bool        `xml:"assignIpv6AddressOnCreation"`
	Zone         string      `xml:"availabilityZone"`
	ZoneID       string      `xml:"availabilityZoneId"`
	Free         int         `xml:"availableIpAddressCount"`
	CIDR         string      `xml:"cidrBlock"`
	DefaultForAZ bool        `xml:"defaultForAz"`
	MapPublicIP  bool        `xml:"mapPublicIpOnLaunch"`
	OwnerID      string      `xml:"ownerId"`
	Hostnames    hostnameXML `xml:"privateDnsNameOptionsOnLaunch"`
	State        string      `xml:"state"`
	ARN          string      `xml:"subnetArn"`
	ID           string      `xml:"subnetId"`
	Tags         tags        `xml:"tagSet>item"`
	VPC          string      `xml:"vpcId"`
}

func describeSubnets(c *call) (any, error) {
	st := c.state()
	chosen, err := chosenByID(c.params.Strings("SubnetId"), st.Subnets, func(s *subnet) string { return s.ID }, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := list[*subnet]{
		fields: subnetFields(st),
		tags:   func(s *subnet) tags { return s.Tags.searchable(c.now) },
		limits: pageLimits{5, 1000, 1000},
		key:    func(s *subnet) string { return s.ID },
	}.page(c, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Subnets []subnetXML `xml:"subnetSet>item"`
		Next    string      `xml:"nextToken,omitempty"`
	}
	for _, s := range page {
		answer.Subnets = append(answer.Subnets, subnetAnswer(st, s))
	}
	answer.Next = next
	return answer, nil
}

func subnetAnswer(st *state, s *subnet) subnetXML {
	return subnetXML{
		Zone: s.Zone.Name, ZoneID: s.Zone.ID, Free: s.free(), CIDR: s.CIDR.String(), MapPublicIP: s.Public,
		OwnerID: st.Account.ID, State: "available", ARN: st.Account.arn("ec2", st.Account.Region, "subnet/"+s.ID),
		ID: s.ID, Tags: s.Tags, VPC: s.VPC, Hostnames: s.Hostnames.answer(),
	}
}

func subnetFields(st *state) fields[*subnet] {
	zoneName := one(func(s *subnet) string { return s.Zone.Name })
	cidr := one(func(s *subnet) string { return s.CIDR.String() })
	return fields[*subnet]{
		"availability-zone":          zoneName,
		"availabilityZone":           zoneName,
		"availability-zone-id":       one(func(s *subnet) string { return s.Zone.ID }),
		"available-ip-address-count": one(func(s *subnet) string { return strconv.Itoa(s.free()) }),
		"cidr":                       cidr,
		"cidr-block":                 cidr,
		"cidrBlock":                  cidr,
		"default-for-az":             one(func(*subnet) string { return "false" }),
		"map-public-ip-on-launch":    one(func(s *subnet) string { return boolText(s.Public) }),
		"owner-id":                   one(func(*subnet) string { return st.Account.ID }),
		"state":                      one(func(*subnet) string { return "available" }),
		"subnet-arn": one(func(s *subnet) string {
			return st.Account.arn("ec2", st.Account.Region, "subnet/"+s.ID)
		}),
		"subnet-id": one(func(s *subnet) string { return s.ID }),
		"vpc-id":    one(func(s *subnet) string { return s.VPC }),

		"enable-dns64":                    one(func(*subnet) string { return "false" }),
		"ipv6-native":                     one(func(*subnet) string { return "false" }),
		"map-customer-owned-ip-on-launch": one(func(*subnet) string { return "false" }),
	}.with(hostnameFields("private-dns-name-options-on-launch", func(s *subnet) hostnameXML { return s.Hostnames.answer() })).lacking("customer-owned-ipv4-pool", "enable-lni-at-device-index", "ipv6-cidr-block-association.association-id",
		"ipv6-cidr-block-association.ipv6-cidr-block", "ipv6-cidr-block-association.state", "outpost-arn")
}

type groupXML struct {
	Description string          `xml:"groupDescription"`
	ID          string          `xml:"groupId"`
	Name        string          `xml:"groupName"`
	Inbound     []permissionXML `xml:"ipPermissions>item"`
	Outbound    []permissionXML `xml:"ipPermissionsEgress>item"`
	OwnerID     string          `xml:"ownerId"`
	ARN         string          `xml:"securityGroupArn"`
	Tags        tags            `xml:"tagSet>item"`
	VPC         string          `xml:"vpcId"`
}

type permissionXML struct {
	Protocol string     `xml:"ipProtocol"`
	Ranges   []rangeXML `xml:"ipRanges>item"`
	Groups   []pairXML  `xml:"groups>item"`
}

type rangeXML struct {
	CIDR string `xml:"cidrIp"`
}

type pairXML struct {
	GroupID string `xml:"groupId"`
	UserID  string `xml:"userId"`
}

func describeSecurityGroups(c *call) (any, error) {
	st := c.state()
	chosen, err := chosenByID(c.params.Strings("GroupId"), st.Groups, func(g *securityGroup) string { return g.ID }, "InvalidGroup.NotFound", "The security group '%s' does not exist")
	if err != nil {
		return nil, err
	}
	chosen, err = chosenByID(c.params.Strings("GroupName"), chosen, func(g *securityGroup) string { return g.Name }, "InvalidGroup.NotFound", "The security group '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := list[*securityGroup]{
		fields: groupFields(st),
		tags:   func(g *securityGroup) tags { return g.Tags.searchable(c.now) },
		limits: pageLimits{5, 1000, 1000},
		key:    func(g *securityGroup) string { return g.ID },
	}.page(c, chosen)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Groups []groupXML `xml:"securityGroupInfo>item"`
		Next   string     `xml:"nextToken,omitempty"`
	}
	for _, g := range page {
		answer.Groups = append(answer.Groups, groupAnswer(st, g))
	}
	answer.Next = next
	return answer, nil
}

// groupAnswer shows the rules that every group of the account has: everything
// among its members, and everything outwards.
func groupAnswer(st *state, g *securityGroup) groupXML {
	return groupXML{
		Description: g.Description, ID: g.ID, Name: g.Name, OwnerID: st.Account.ID, Tags: g.Tags, VPC: g.VPC,
		ARN:      st.Account.arn("ec2", st.Account.Region, "security-group/"+g.ID),
		Inbound:  []permissionXML{{Protocol: "-1", Groups: []pairXML{{GroupID: g.ID, UserID: st.Account.ID}}}},
		Outbound: []permissionXML{{Protocol: "-1", Ranges: []rangeXML{{CIDR: "0.0.0.0/0"}}}},
	}
}

func groupFields(st *state) fields[*securityGroup] {
	within := one(func(g *securityGroup) string { return g.ID }) // of what the rules of groupAnswer let in
	whole := one(func(*securityGroup) string { return "-1" })
	return fields[*securityGroup]{
		"egress.ip-permission.cidr":     one(func(*securityGroup) string { return "0.0.0.0/0" }),
		"egress.ip-permission.protocol": whole,
		"ip-permission.group-id":        within,
		"ip-permission.group-name":      one(func(g *securityGroup) string { return g.Name }),
		"ip-permission.protocol":        whole,
		"ip-permission.user-id":         one(func(*securityGroup) string { return st.Account.ID }),

		"description": one(func(g *securityGroup) string { return g.Description }),
		"group-id":    one(func(g *securityGroup) string { return g.ID }),
		"group-name":  one(func(g *securityGroup) string { return g.Name }),
		"owner-id":    one(func(*securityGroup) string { return st.Account.ID }),
		"vpc-id":      one(func(g *securityGroup) string { return g.VPC }),
	}.lacking("egress.ip-permission.from-port", "egress.ip-permission.group-id", "egress.ip-permission.group-name", "egress.ip-permission.ipv6-cidr",
		"egress.ip-permission.prefix-list-id", "egress.ip-permission.to-port", "egress.ip-permission.user-id",
		"ip-permission.cidr", "ip-permission.from-port", "ip-permission.ipv6-cidr", "ip-permission.prefix-list-id", "ip-permission.to-port")
}

type vpcXML struct {
	ID      string `xml:"vpcId"`
	CIDR    string `xml:"cidrBlock"`
	State   string `xml:"state"`
	OwnerID string `xml:"ownerId"`
	Tenancy string `xml:"instanceTenancy"`
	Default bool   `xml:"isDefault"`
	Tags    tags   `xml:"tagSet>item"`
}

func vpcAnswer(st *state, v *vpc) vpcXML {
	return vpcXML{ID: v.ID, CIDR: v.CIDR, State: "available", OwnerID: st.Account.ID, Tenancy: "default", Tags: v.Tags}
}

func describeVPCs(c *call) (any, error) {
	st := c.state()
	byID := func(v *vpc) string { return v.ID }
	chosen, err := chosenByID(c.params.Strings("VpcId"), st.VPCs, byID, "InvalidVpcID.NotFound", "The vpc ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := list[*vpc]{
		fields: fields[*vpc]{
			"vpc-id":                            one(byID),
			"cidr":                              one(func(v *vpc) string { return v.CIDR }),
			"cidr-block-association.cidr-block": one(func(v *vpc) string { return v.CIDR }),
			"cidr-block-association.state":      one(func(*vpc) string { return "associated" }),
			"is-default":                        one(func(*vpc) string { return "false" }),
			"isDefault":                         one(func(*vpc) string { return "false" }),
			"owner-id":                          one(func(*vpc) string { return st.Account.ID }),
			"state":                             one(func(*vpc) string { return "available" }),
		}.lacking("cidr-block-association.association-id", "dhcp-options-id", "ipv6-cidr-block-association.association-id",
			"ipv6-cidr-block-association.ipv6-cidr-block", "ipv6-cidr-block-association.ipv6-pool", "ipv6-cidr-block-association.state"),
		tags:   func(v *vpc) tags { return v.Tags.searchable(c.now) },
		limits: pageLimits{5, 1000, 1000},
		key:    byID,
	}.page(c, byKey(chosen, byID))
	if err != nil {
		return nil, err
	}
	var answer struct {
		VPCs []vpcXML `xml:"vpcSet>item"`
		Next string   `xml:"nextToken,omitempty"`
	}
	for _, v := range page {
		answer.VPCs = append(answer.VPCs, vpcAnswer(st, v))
	}
	answer.Next = next
	return answer, nil
}

func describeAvailabilityZones(c *call) (any, error) {
	st := c.state()
	names, ids := c.params.Strings("ZoneName"), c.params.Strings("ZoneId")
	zones := slices.DeleteFunc(slices.Clone(st.Zones), func(z zone) bool {
		return len(names) > 0 && !slices.Contains(names, z.Name) || len(ids) > 0 && !slices.Contains(ids, z.ID)
	})
	region := st.Account.Region
	out := c.server.market.Outages()
	stateOf := func(z zone) string {
		if _, cut := out[z.Name]; cut {
			return "impaired"
		}
		return "available"
	}
	found, err := matching(c.params, zones, fields[zone]{
		"zone-name":        one(func(z zone) string { return z.Name }),
		"zone-id":          one(func(z zone) string { return z.ID }),
		"zone-type":        one(func(zone) string { return "availability-zone" }),
		"region-name":      one(func(zone) string { return region }),
		"state":            one(stateOf),
		"opt-in-status":    one(func(zone) string { return "opt-in-not-required" }),
		"group-name":       one(func(zone) string { return region + "-zg-1" }),
		"group-long-name":  func(zone) []string { return nil },
		"message":          func(zone) []string { return nil },
		"parent-zone-id":   func(zone) []string { return nil },
		"parent-zone-name": func(zone) []string { return nil },
	}, nil)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && (len(names) > 0 || len(ids) > 0) {
		return nil, wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", names)
	}
	type zoneXML struct {
		Group  string `xml:"groupName"`
		Border string `xml:"networkBorderGroup"`
		OptIn  string `xml:"optInStatus"`
		Region string `xml:"regionName"`
		State  string `xml:"zoneState"`
		ID     string `xml:"zoneId"`
		Name   string `xml:"zoneName"`
		Type   string `xml:"zoneType"`
	}
	var answer struct {
		Zones []zoneXML `xml:"availabilityZoneInfo>item"`
	}
	for _, z := range found {
		answer.Zones = append(answer.Zones, zoneXML{
			Group: region + "-zg-1", Border: region, OptIn: "opt-in-not-required", Region: region,
			State: stateOf(z), ID: z.ID, Name: z.Name, Type: "availability-zone",
		})
	}
	return answer, nil
}

func describeRegions(c *call) (any, error) {
	names := c.params.Strings("RegionName")
	type regionXML struct {
		Endpoint string `xml:"regionEndpoint"`
		Name     string `xml:"regionName"`
		OptIn    string `xml:"optInStatus"`
	}
	var answer struct {
		Regions []regionXML `xml:"regionInfo>item"`
	}
	found, err := matching(c.params, c.server.regions(), fields[string]{
		"region-name":   one(func(r string) string { return r }),
		"endpoint":      one(regionEndpoint),
		"opt-in-status": one(func(string) string { return "opt-in-not-required" }),
	}, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		if len(names) == 0 || slices.Contains(names, r) {
			answer.Regions = append(answer.Regions, regionXML{Endpoint: regionEndpoint(r), Name: r, OptIn: "opt-in-not-required"})
		}
	}
	return answer, nil
}

func regionEndpoint(region string) string { return fmt.Sprintf("ec2.%s.amazonaws.com", region) }

// chosenByID returns the items that a request names by ID, or all when it
// names none. An unknown ID is an error.
func chosenByID[T any](ids []string, items []T, id func(T) string, code, format string) ([]T, error) {
	if len(ids) == 0 {
		return items, nil
	}
	var chosen []T
	for _, item := range items {
		if slices.Contains(ids, id(item)) {
			chosen = append(chosen, item)
		}
	}
	for _, want := range ids {
		if !slices.ContainsFunc(chosen, func(item T) bool { return id(item) == want }) {
			return nil, wire.Errorf(code, format, want)
		}
	}
	return chosen, nil
}
