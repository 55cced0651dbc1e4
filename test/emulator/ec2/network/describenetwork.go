package network

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
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
	Hostnames    HostnameXML `xml:"privateDnsNameOptionsOnLaunch"`
	State        string      `xml:"state"`
	ARN          string      `xml:"subnetArn"`
	ID           string      `xml:"subnetId"`
	Tags         world.Tags  `xml:"tagSet>item"`
	VPC          string      `xml:"vpcId"`
}

func describeSubnets(c *call) (any, error) {
	st := c.server
	chosen, err := world.ChosenByID(c.Params.Strings("SubnetId"), st.Subnets, func(s *Subnet) string { return s.ID }, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[*Subnet]{
		Fields: subnetFields(st),
		Tags:   func(s *Subnet) world.Tags { return s.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 5, Most: 1000, Unasked: 1000},
		Key:    func(s *Subnet) string { return s.ID },
	}.Page(c.Call, chosen)
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

func subnetAnswer(st *Network, s *Subnet) subnetXML {
	return subnetXML{
		Zone: s.Zone.Name, ZoneID: s.Zone.ID, Free: s.Free(), CIDR: s.CIDR.String(), MapPublicIP: s.Public,
		OwnerID: st.Settings.ID, State: "available", ARN: st.Settings.ARN("ec2", st.Settings.Region, "subnet/"+s.ID),
		ID: s.ID, Tags: s.Tags, VPC: s.VPC, Hostnames: s.Hostnames.Answer(),
	}
}

func subnetFields(st *Network) world.Fields[*Subnet] {
	zoneName := world.One(func(s *Subnet) string { return s.Zone.Name })
	cidr := world.One(func(s *Subnet) string { return s.CIDR.String() })
	return world.Fields[*Subnet]{
		"availability-zone":          zoneName,
		"availabilityZone":           zoneName,
		"availability-zone-id":       world.One(func(s *Subnet) string { return s.Zone.ID }),
		"available-ip-address-count": world.One(func(s *Subnet) string { return strconv.Itoa(s.Free()) }),
		"cidr":                       cidr,
		"cidr-block":                 cidr,
		"cidrBlock":                  cidr,
		"default-for-az":             world.One(func(*Subnet) string { return "false" }),
		"map-public-ip-on-launch":    world.One(func(s *Subnet) string { return world.BoolText(s.Public) }),
		"owner-id":                   world.One(func(*Subnet) string { return st.Settings.ID }),
		"state":                      world.One(func(*Subnet) string { return "available" }),
		"subnet-arn": world.One(func(s *Subnet) string {
			return st.Settings.ARN("ec2", st.Settings.Region, "subnet/"+s.ID)
		}),
		"subnet-id": world.One(func(s *Subnet) string { return s.ID }),
		"vpc-id":    world.One(func(s *Subnet) string { return s.VPC }),

		"enable-dns64":                    world.One(func(*Subnet) string { return "false" }),
		"ipv6-native":                     world.One(func(*Subnet) string { return "false" }),
		"map-customer-owned-ip-on-launch": world.One(func(*Subnet) string { return "false" }),
	}.With(HostnameFields("private-dns-name-options-on-launch", func(s *Subnet) HostnameXML { return s.Hostnames.Answer() })).Lacking("customer-owned-ipv4-pool", "enable-lni-at-device-index", "ipv6-cidr-block-association.association-id",
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
	Tags        world.Tags      `xml:"tagSet>item"`
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
	st := c.server
	chosen, err := world.ChosenByID(c.Params.Strings("GroupId"), st.Groups, func(g *SecurityGroup) string { return g.ID }, "InvalidGroup.NotFound", "The security group '%s' does not exist")
	if err != nil {
		return nil, err
	}
	chosen, err = world.ChosenByID(c.Params.Strings("GroupName"), chosen, func(g *SecurityGroup) string { return g.Name }, "InvalidGroup.NotFound", "The security group '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[*SecurityGroup]{
		Fields: groupFields(st),
		Tags:   func(g *SecurityGroup) world.Tags { return g.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 5, Most: 1000, Unasked: 1000},
		Key:    func(g *SecurityGroup) string { return g.ID },
	}.Page(c.Call, chosen)
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
func groupAnswer(st *Network, g *SecurityGroup) groupXML {
	return groupXML{
		Description: g.Description, ID: g.ID, Name: g.Name, OwnerID: st.Settings.ID, Tags: g.Tags, VPC: g.VPC,
		ARN:      st.Settings.ARN("ec2", st.Settings.Region, "security-group/"+g.ID),
		Inbound:  []permissionXML{{Protocol: "-1", Groups: []pairXML{{GroupID: g.ID, UserID: st.Settings.ID}}}},
		Outbound: []permissionXML{{Protocol: "-1", Ranges: []rangeXML{{CIDR: "0.0.0.0/0"}}}},
	}
}

func groupFields(st *Network) world.Fields[*SecurityGroup] {
	within := world.One(func(g *SecurityGroup) string { return g.ID }) // of what the rules of groupAnswer let in
	whole := world.One(func(*SecurityGroup) string { return "-1" })
	return world.Fields[*SecurityGroup]{
		"egress.ip-permission.cidr":     world.One(func(*SecurityGroup) string { return "0.0.0.0/0" }),
		"egress.ip-permission.protocol": whole,
		"ip-permission.group-id":        within,
		"ip-permission.group-name":      world.One(func(g *SecurityGroup) string { return g.Name }),
		"ip-permission.protocol":        whole,
		"ip-permission.user-id":         world.One(func(*SecurityGroup) string { return st.Settings.ID }),

		"description": world.One(func(g *SecurityGroup) string { return g.Description }),
		"group-id":    world.One(func(g *SecurityGroup) string { return g.ID }),
		"group-name":  world.One(func(g *SecurityGroup) string { return g.Name }),
		"owner-id":    world.One(func(*SecurityGroup) string { return st.Settings.ID }),
		"vpc-id":      world.One(func(g *SecurityGroup) string { return g.VPC }),
	}.Lacking("egress.ip-permission.from-port", "egress.ip-permission.group-id", "egress.ip-permission.group-name", "egress.ip-permission.ipv6-cidr",
		"egress.ip-permission.prefix-list-id", "egress.ip-permission.to-port", "egress.ip-permission.user-id",
		"ip-permission.cidr", "ip-permission.from-port", "ip-permission.ipv6-cidr", "ip-permission.prefix-list-id", "ip-permission.to-port")
}

type vpcXML struct {
	ID      string     `xml:"vpcId"`
	CIDR    string     `xml:"cidrBlock"`
	State   string     `xml:"state"`
	OwnerID string     `xml:"ownerId"`
	Tenancy string     `xml:"instanceTenancy"`
	Default bool       `xml:"isDefault"`
	Tags    world.Tags `xml:"tagSet>item"`
}

func vpcAnswer(st *Network, v *VPC) vpcXML {
	return vpcXML{ID: v.ID, CIDR: v.CIDR, State: "available", OwnerID: st.Settings.ID, Tenancy: "default", Tags: v.Tags}
}

func describeVPCs(c *call) (any, error) {
	st := c.server
	byID := func(v *VPC) string { return v.ID }
	chosen, err := world.ChosenByID(c.Params.Strings("VpcId"), st.VPCs, byID, "InvalidVpcID.NotFound", "The vpc ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[*VPC]{
		Fields: world.Fields[*VPC]{
			"vpc-id":                            world.One(byID),
			"cidr":                              world.One(func(v *VPC) string { return v.CIDR }),
			"cidr-block-association.cidr-block": world.One(func(v *VPC) string { return v.CIDR }),
			"cidr-block-association.state":      world.One(func(*VPC) string { return "associated" }),
			"is-default":                        world.One(func(*VPC) string { return "false" }),
			"isDefault":                         world.One(func(*VPC) string { return "false" }),
			"owner-id":                          world.One(func(*VPC) string { return st.Settings.ID }),
			"state":                             world.One(func(*VPC) string { return "available" }),
		}.Lacking("cidr-block-association.association-id", "dhcp-options-id", "ipv6-cidr-block-association.association-id",
			"ipv6-cidr-block-association.ipv6-cidr-block", "ipv6-cidr-block-association.ipv6-pool", "ipv6-cidr-block-association.state"),
		Tags:   func(v *VPC) world.Tags { return v.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 5, Most: 1000, Unasked: 1000},
		Key:    byID,
	}.Page(c.Call, world.ByKey(chosen, byID))
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
	st := c.server
	names, ids := c.Params.Strings("ZoneName"), c.Params.Strings("ZoneId")
	zones := slices.DeleteFunc(slices.Clone(st.Zones), func(z world.Zone) bool {
		return len(names) > 0 && !slices.Contains(names, z.Name) || len(ids) > 0 && !slices.Contains(ids, z.ID)
	})
	region := st.Settings.Region
	out := c.server.Market().Outages()
	stateOf := func(z world.Zone) string {
		if _, cut := out[z.Name]; cut {
			return "impaired"
		}
		return "available"
	}
	found, err := world.Matching(c.Params, zones, world.Fields[world.Zone]{
		"zone-name":        world.One(func(z world.Zone) string { return z.Name }),
		"zone-id":          world.One(func(z world.Zone) string { return z.ID }),
		"zone-type":        world.One(func(world.Zone) string { return "availability-zone" }),
		"region-name":      world.One(func(world.Zone) string { return region }),
		"state":            world.One(stateOf),
		"opt-in-status":    world.One(func(world.Zone) string { return "opt-in-not-required" }),
		"group-name":       world.One(func(world.Zone) string { return region + "-zg-1" }),
		"group-long-name":  func(world.Zone) []string { return nil },
		"message":          func(world.Zone) []string { return nil },
		"parent-zone-id":   func(world.Zone) []string { return nil },
		"parent-zone-name": func(world.Zone) []string { return nil },
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
	names := c.Params.Strings("RegionName")
	type regionXML struct {
		Endpoint string `xml:"regionEndpoint"`
		Name     string `xml:"regionName"`
		OptIn    string `xml:"optInStatus"`
	}
	var answer struct {
		Regions []regionXML `xml:"regionInfo>item"`
	}
	found, err := world.Matching(c.Params, c.server.Regions(), world.Fields[string]{
		"region-name":   world.One(func(r string) string { return r }),
		"endpoint":      world.One(regionEndpoint),
		"opt-in-status": world.One(func(string) string { return "opt-in-not-required" }),
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
