package emulator

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/market"
)

// defaultGroup describes the group that every VPC has.
const defaultGroup = "default VPC security group"

// createVPC makes a network with its default group. Its block is a /16 to a /28.
func createVPC(c *call) (any, error) {
	block, err := readBlock(c.params.String("CidrBlock"), "InvalidVpc.Range")
	if err != nil {
		return nil, err
	}
	specs, err := readTagSpecifications(c.params)
	if err != nil {
		return nil, err
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	st := c.state()
	v := &vpc{ID: st.newID("vpc"), CIDR: block.String(), Tags: tagsFor(specs, "vpc")}
	st.VPCs = append(st.VPCs, v)
	st.addGroup(&securityGroup{ID: st.newID("sg"), VPC: v.ID, Name: "default", Description: defaultGroup})
	return struct {
		VPC vpcXML `xml:"vpc"`
	}{vpcAnswer(st, v)}, nil
}

// deleteVPC deletes a network without subnets and groups beside its default one.
func deleteVPC(c *call) (any, error) {
	st := c.state()
	v, err := st.vpc(c.params.String("VpcId"))
	if err != nil {
		return nil, err
	}
	within := func(g *securityGroup) bool { return g.VPC == v.ID }
	used := slices.ContainsFunc(st.Subnets, func(s *subnet) bool { return s.VPC == v.ID }) ||
		slices.ContainsFunc(st.Groups, func(g *securityGroup) bool { return within(g) && g.Name != "default" })
	if used || v == st.clusterVPC() {
		return nil, wire.Errorf("DependencyViolation", "The vpc '%s' has dependencies and cannot be deleted.", v.ID)
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	st.VPCs = slices.DeleteFunc(st.VPCs, func(other *vpc) bool { return other == v })
	st.Groups = slices.DeleteFunc(st.Groups, within)
	return nil, nil
}

// createSubnet makes a subnet in a zone, the first where none is named.
func createSubnet(c *call) (any, error) {
	st := c.state()
	v, err := st.vpc(c.params.String("VpcId"))
	if err != nil {
		return nil, err
	}
	block, err := readBlock(c.params.String("CidrBlock"), "InvalidSubnet.Range")
	if err != nil {
		return nil, err
	}
	if around := netip.MustParsePrefix(v.CIDR); !around.Contains(block.Addr()) || block.Bits() < around.Bits() {
		return nil, wire.Errorf("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	if slices.ContainsFunc(st.Subnets, func(s *subnet) bool { return s.VPC == v.ID && s.CIDR.Overlaps(block) }) {
		return nil, wire.Errorf("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", block)
	}
	in, err := st.zoneOf(c.params.String("AvailabilityZone"), c.params.String("AvailabilityZoneId"))
	if err != nil {
		return nil, err
	}
	specs, err := readTagSpecifications(c.params)
	if err != nil {
		return nil, err
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	made := &subnet{ID: st.newID("subnet"), VPC: v.ID, Zone: in, CIDR: block, Tags: tagsFor(specs, "subnet"), Used: map[string]string{}}
	st.Subnets = byKey(append(st.Subnets, made), func(s *subnet) string { return s.ID })
	return struct {
		Subnet subnetXML `xml:"subnet"`
	}{subnetAnswer(st, made)}, nil
}

// deleteSubnet deletes a subnet in which nothing has an address.
func deleteSubnet(c *call) (any, error) {
	st := c.state()
	gone, err := st.subnet(c.params.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	if len(gone.Used) > 0 || gone.Devices > 0 {
		return nil, wire.Errorf("DependencyViolation", "The subnet '%s' has dependencies and cannot be deleted.", gone.ID)
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	st.Subnets = slices.DeleteFunc(st.Subnets, func(s *subnet) bool { return s == gone })
	return nil, nil
}

// createSecurityGroup makes a group in a VPC, in the cluster's where none is named.
func createSecurityGroup(c *call) (any, error) {
	st, name, description := c.state(), c.params.String("GroupName"), c.params.String("GroupDescription")
	if name == "" || description == "" || strings.HasPrefix(name, "sg-") {
		return nil, wire.Errorf("InvalidParameterValue", "A group needs a description, and a name that does not begin with sg-")
	}
	v := st.clusterVPC()
	if id := c.params.String("VpcId"); id != "" {
		var err error
		if v, err = st.vpc(id); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(st.Groups, func(g *securityGroup) bool { return g.VPC == v.ID && g.Name == name }) {
		return nil, wire.Errorf("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, v.ID)
	}
	specs, err := readTagSpecifications(c.params)
	if err != nil {
		return nil, err
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	made := &securityGroup{ID: st.newID("sg"), VPC: v.ID, Name: name, Description: description, Tags: tagsFor(specs, "security-group")}
	st.addGroup(made)
	return struct {
		Return bool   `xml:"return"`
		ID     string `xml:"groupId"`
		Tags   tags   `xml:"tagSet>item"`
	}{true, made.ID, made.Tags}, nil
}

// deleteSecurityGroup deletes a group that nothing is behind.
func deleteSecurityGroup(c *call) (any, error) {
	st := c.state()
	gone, err := st.group(c.params.String("GroupId"))
	if err != nil {
		return nil, err
	}
	if gone.Name == "default" {
		return nil, wire.Errorf("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", gone.ID)
	}
	behind := slices.ContainsFunc(c.server.visible(c.now), func(l live) bool { return l.state != market.Terminated && slices.Contains(l.Groups, gone.ID) })
	if behind || gone == st.clusterGroup() {
		return nil, wire.Errorf("DependencyViolation", "resource %s has a dependent object", gone.ID)
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	st.Groups = slices.DeleteFunc(st.Groups, func(g *securityGroup) bool { return g == gone })
	return nil, nil
}

func (s *state) addGroup(g *securityGroup) {
	s.Groups = byKey(append(s.Groups, g), func(g *securityGroup) string { return g.ID })
}

func (s *state) zoneOf(name, id string) (zone, error) {
	i := slices.IndexFunc(s.Zones, func(z zone) bool { return (name == "" || z.Name == name) && (id == "" || z.ID == id) })
	if i < 0 {
		return zone{}, wire.Errorf("InvalidParameterValue", "Value (%s%s) for parameter availabilityZone is invalid.", name, id)
	}
	return s.Zones[i], nil
}

// readBlock reads an IPv4 block of a /16 to a /28.
func readBlock(text, code string) (netip.Prefix, error) {
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !block.Addr().Is4():
		return netip.Prefix{}, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR block.", text)
	case block.Bits() < 16 || block.Bits() > 28:
		return netip.Prefix{}, wire.Errorf(code, "The CIDR '%s' is invalid.", text)
	}
	return block.Masked(), nil
}
