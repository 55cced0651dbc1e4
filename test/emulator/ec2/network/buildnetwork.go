package network

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// defaultGroup describes the group that every VPC has.
const defaultGroup = "default VPC security group"

// createVPC makes a network with its default group. Its block is a /16 to a /28.
func createVPC(c *call) (any, error) {
	block, err := readBlock(c.Params.String("CidrBlock"), "InvalidVpc.Range")
	if err != nil {
		return nil, err
	}
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	st := c.server
	v := &VPC{ID: st.NewID("vpc"), CIDR: block.String(), Tags: world.TagsFor(specs, "vpc")}
	st.VPCs = append(st.VPCs, v)
	st.addGroup(&SecurityGroup{ID: st.NewID("sg"), VPC: v.ID, Name: "default", Description: defaultGroup})
	return struct {
		VPC vpcXML `xml:"vpc"`
	}{vpcAnswer(st, v)}, nil
}

// deleteVPC deletes a network without subnets and groups beside its default one.
func deleteVPC(c *call) (any, error) {
	st := c.server
	v, err := st.vpc(c.Params.String("VpcId"))
	if err != nil {
		return nil, err
	}
	within := func(g *SecurityGroup) bool { return g.VPC == v.ID }
	used := slices.ContainsFunc(st.Subnets, func(s *Subnet) bool { return s.VPC == v.ID }) ||
		slices.ContainsFunc(st.Groups, func(g *SecurityGroup) bool { return within(g) && g.Name != "default" })
	if used || v == st.ClusterVPC() {
		return nil, wire.Errorf("DependencyViolation", "The vpc '%s' has dependencies and cannot be deleted.", v.ID)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	st.VPCs = slices.DeleteFunc(st.VPCs, func(other *VPC) bool { return other == v })
	st.Groups = slices.DeleteFunc(st.Groups, within)
	return nil, nil
}

// createSubnet makes a subnet in a zone, the first where none is named.
func createSubnet(c *call) (any, error) {
	st := c.server
	v, err := st.vpc(c.Params.String("VpcId"))
	if err != nil {
		return nil, err
	}
	block, err := readBlock(c.Params.String("CidrBlock"), "InvalidSubnet.Range")
	if err != nil {
		return nil, err
	}
	if around := netip.MustParsePrefix(v.CIDR); !around.Contains(block.Addr()) || block.Bits() < around.Bits() {
		return nil, wire.Errorf("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	if slices.ContainsFunc(st.Subnets, func(s *Subnet) bool { return s.VPC == v.ID && s.CIDR.Overlaps(block) }) {
		return nil, wire.Errorf("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", block)
	}
	in, err := st.ZoneOf(c.Params.String("AvailabilityZone"), c.Params.String("AvailabilityZoneId"))
	if err != nil {
		return nil, err
	}
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	made := &Subnet{ID: st.NewID("subnet"), VPC: v.ID, Zone: in, CIDR: block, Tags: world.TagsFor(specs, "subnet"), Used: map[string]string{}}
	st.Subnets = world.ByKey(append(st.Subnets, made), func(s *Subnet) string { return s.ID })
	return struct {
		Subnet subnetXML `xml:"subnet"`
	}{subnetAnswer(st, made)}, nil
}

// deleteSubnet deletes a subnet in which nothing has an address.
func deleteSubnet(c *call) (any, error) {
	st := c.server
	gone, err := st.Subnet(c.Params.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	if len(gone.Used) > 0 || gone.Devices > 0 {
		return nil, wire.Errorf("DependencyViolation", "The subnet '%s' has dependencies and cannot be deleted.", gone.ID)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	st.Subnets = slices.DeleteFunc(st.Subnets, func(s *Subnet) bool { return s == gone })
	return nil, nil
}

// createSecurityGroup makes a group in a VPC, in the cluster's where none is named.
func createSecurityGroup(c *call) (any, error) {
	st, name, description := c.server, c.Params.String("GroupName"), c.Params.String("GroupDescription")
	if name == "" || description == "" || strings.HasPrefix(name, "sg-") {
		return nil, wire.Errorf("InvalidParameterValue", "A group needs a description, and a name that does not begin with sg-")
	}
	v := st.ClusterVPC()
	if id := c.Params.String("VpcId"); id != "" {
		var err error
		if v, err = st.vpc(id); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(st.Groups, func(g *SecurityGroup) bool { return g.VPC == v.ID && g.Name == name }) {
		return nil, wire.Errorf("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, v.ID)
	}
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	made := &SecurityGroup{ID: st.NewID("sg"), VPC: v.ID, Name: name, Description: description, Tags: world.TagsFor(specs, "security-group")}
	st.addGroup(made)
	return struct {
		Return bool       `xml:"return"`
		ID     string     `xml:"groupId"`
		Tags   world.Tags `xml:"tagSet>item"`
	}{true, made.ID, made.Tags}, nil
}

// deleteSecurityGroup deletes a group that nothing is behind.
func deleteSecurityGroup(c *call) (any, error) {
	st := c.server
	gone, err := st.Group(c.Params.String("GroupId"))
	if err != nil {
		return nil, err
	}
	if gone.Name == "default" {
		return nil, wire.Errorf("CannotDelete", "the specified group: \"%s\" name: \"default\" cannot be deleted by a user", gone.ID)
	}
	if c.server.members.InGroup(gone.ID, c.At) || gone == st.clusterGroup() {
		return nil, wire.Errorf("DependencyViolation", "resource %s has a dependent object", gone.ID)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	st.Groups = slices.DeleteFunc(st.Groups, func(g *SecurityGroup) bool { return g == gone })
	return nil, nil
}

func (s *Network) addGroup(g *SecurityGroup) {
	s.Groups = world.ByKey(append(s.Groups, g), func(g *SecurityGroup) string { return g.ID })
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
