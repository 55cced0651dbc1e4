package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// The account's network: one /16 cut into eight /19, a public and a private
// one per zone, as eksctl does.
const (
	vpcCIDR      = "10.0.0.0/16"
	subnetBits   = 19
	addressesOff = 5 // the addresses that AWS keeps in every subnet
)

// VPC is one network.
type VPC struct {
	ID   string
	CIDR string
	Tags world.Tags
}

// Subnet is one subnet. Addresses that are not counted as free are those AWS
// keeps, those of the account's own devices, and those of instances.
type Subnet struct {
	ID, VPC   string
	Zone      world.Zone
	CIDR      netip.Prefix
	Public    bool
	Hostnames Hostnames // of instances that are launched into it
	Devices   int       // addresses held by NAT gateways and the control plane
	Tags      world.Tags
	Used      map[string]string // address to instance
	NextTried uint32            // offset of the next address to try
}

// SecurityGroup is one security group.
type SecurityGroup struct {
	ID, VPC, Name, Description string
	Tags                       world.Tags
}

func newVPC(a world.Account) *VPC {
	name := fmt.Sprintf("eksctl-%s-cluster/VPC", a.ClusterName)
	return &VPC{ID: a.StableID("vpc"), CIDR: vpcCIDR, Tags: world.TagsFrom(map[string]string{"Name": name})}
}

func newSubnets(a world.Account, vpc string, zones []world.Zone) []*Subnet {
	var all []*Subnet
	for i, z := range zones {
		all = append(all, newSubnet(a, vpc, z, i, true), newSubnet(a, vpc, z, world.ZonesMax+i, false))
	}
	return world.ByKey(all, func(s *Subnet) string { return s.ID })
}

func newSubnet(a world.Account, vpc string, z world.Zone, block int, public bool) *Subnet {
	kind, role, devices := "Private", "kubernetes.io/role/internal-elb", 0
	if public {
		kind, role = "Public", "kubernetes.io/role/elb"
	}
	if block%world.ZonesMax < 2 {
		devices = 1
	}
	first := netip.MustParsePrefix(vpcCIDR).Addr()
	name := fmt.Sprintf("eksctl-%s-cluster/Subnet%s%s", a.ClusterName, kind, strings.ToUpper(strings.ReplaceAll(z.Name, "-", "")))
	return &Subnet{
		ID:      a.StableID("subnet", z.Name, kind),
		VPC:     vpc,
		Zone:    z,
		CIDR:    netip.PrefixFrom(addressAt(first, uint32(block)<<(32-subnetBits)), subnetBits),
		Public:  public,
		Devices: devices,
		Tags:    a.DiscoveryTags().WithAll(world.TagsFrom(map[string]string{"Name": name, role: "1"})),
		Used:    map[string]string{},
	}
}

func newGroups(a world.Account, vpc string) []*SecurityGroup {
	owned := map[string]string{
		"Name":                                   fmt.Sprintf("eks-cluster-sg-%s", a.ClusterName),
		"aws:eks:cluster-name":                   a.ClusterName,
		"kubernetes.io/cluster/" + a.ClusterName: "owned",
	}
	id := a.StableID("sg", "cluster")
	groups := []*SecurityGroup{
		{ID: id, VPC: vpc, Name: fmt.Sprintf("eks-cluster-sg-%s-%s", a.ClusterName, id[len(id)-8:]),
			Description: "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads.",
			Tags:        a.DiscoveryTags().WithAll(world.TagsFrom(owned))},
		{ID: a.StableID("sg", "default"), VPC: vpc, Name: "default", Description: defaultGroup},
	}
	return world.ByKey(groups, func(g *SecurityGroup) string { return g.ID })
}

// clusterGroup is the group that EKS made for the cluster.
func (s *Network) clusterGroup() *SecurityGroup {
	i := slices.IndexFunc(s.Groups, func(g *SecurityGroup) bool { return g.Tags.Get("aws:eks:cluster-name") != "" })
	if i < 0 {
		return s.Groups[0]
	}
	return s.Groups[i]
}

// ClusterVPC is the network that the account has from the start.
func (s *Network) ClusterVPC() *VPC { return s.VPCs[0] }

func (s *Network) vpc(id string) (*VPC, error) {
	if i := slices.IndexFunc(s.VPCs, func(v *VPC) bool { return v.ID == id }); i >= 0 {
		return s.VPCs[i], nil
	}
	return nil, wire.Errorf("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
}

// VPCOf is the network of a subnet; empty where there is no such subnet.
func (s *Network) VPCOf(subnet string) string {
	if found, err := s.Subnet(subnet); err == nil {
		return found.VPC
	}
	return ""
}

// Subnet finds a subnet by its ID.
func (s *Network) Subnet(id string) (*Subnet, error) {
	for _, sub := range s.Subnets {
		if sub.ID == id {
			return sub, nil
		}
	}
	return nil, wire.Errorf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
}

// Group finds a security group by its ID.
func (s *Network) Group(id string) (*SecurityGroup, error) {
	for _, g := range s.Groups {
		if g.ID == id {
			return g, nil
		}
	}
	return nil, wire.Errorf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
}

// size is the number of addresses in the block.
func (s *Subnet) size() uint32 { return 1 << (32 - s.CIDR.Bits()) }

// Free is what DescribeSubnets calls AvailableIpAddressCount.
func (s *Subnet) Free() int { return int(s.size()) - addressesOff - s.Devices - len(s.Used) }

// Take gives an instance the next free address. It returns false when the
// subnet is full. Addresses go up from the block's start and are not handed out
// again before the block was walked through.
func (s *Subnet) Take(instance string) (netip.Addr, bool) {
	if s.Free() <= 0 {
		return netip.Addr{}, false
	}
	first := uint32(addressesOff - 1 + s.Devices)
	last := s.size() - 2
	for range s.size() {
		if s.NextTried < first || s.NextTried > last {
			s.NextTried = first
		}
		a := addressAt(s.CIDR.Addr(), s.NextTried)
		s.NextTried++
		if _, taken := s.Used[a.String()]; !taken {
			s.Used[a.String()] = instance
			return a, true
		}
	}
	return netip.Addr{}, false
}

// BlockSize is how many addresses a prefix of an interface has.
const BlockSize = 16

// blocks are the offsets at which prefixes may begin: not where AWS keeps addresses.
func (s *Subnet) blocks() (offsets []uint32) {
	for at := uint32(BlockSize); at+BlockSize < s.size(); at += BlockSize {
		offsets = append(offsets, at)
	}
	return offsets
}

// FreeBlocks is how many prefixes the subnet has room for.
func (s *Subnet) FreeBlocks() (n int) {
	for _, at := range s.blocks() {
		if s.blockFree(at) {
			n++
		}
	}
	return n
}

func (s *Subnet) blockFree(offset uint32) bool {
	for i := range uint32(BlockSize) {
		if _, taken := s.Used[addressAt(s.CIDR.Addr(), offset+i).String()]; taken {
			return false
		}
	}
	return true
}

// TakeBlock gives an instance a prefix: the last that is free, since single addresses go up. It returns
// false where there is none.
func (s *Subnet) TakeBlock(instance string) (netip.Prefix, bool) {
	for _, at := range slices.Backward(s.blocks()) {
		if !s.blockFree(at) {
			continue
		}
		for i := range uint32(BlockSize) {
			s.Used[addressAt(s.CIDR.Addr(), at+i).String()] = instance
		}
		return netip.PrefixFrom(addressAt(s.CIDR.Addr(), at), 28), true
	}
	return netip.Prefix{}, false
}

// Release gives an instance's addresses back.
func (s *Subnet) Release(instance string) {
	for address, holder := range s.Used {
		if holder == instance {
			delete(s.Used, address)
		}
	}
}

func addressAt(first netip.Addr, offset uint32) netip.Addr {
	b := first.As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n += offset
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// ClusterNetwork is what EKS says of the network of its cluster, by ID. The lock is held.
func (s *Network) ClusterNetwork() (vpc, group string, subnets []string) {
	subnets = []string{}
	for _, sub := range s.Subnets {
		subnets = append(subnets, sub.ID)
	}
	return s.ClusterVPC().ID, s.clusterGroup().ID, subnets
}
