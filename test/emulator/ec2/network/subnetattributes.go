package network

import (
	"maps"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// subnetAttributes are what can be changed of a subnet: each reads the parameter of its name, and changes nothing
// where it refuses the value.
func subnetAttributes() map[string]func(*Subnet, *wire.Node) error {
	flag := func(set func(*Subnet, bool)) func(*Subnet, *wire.Node) error {
		return func(s *Subnet, n *wire.Node) error {
			set(s, n.Bool("Value"))
			return nil
		}
	}
	lacking := func(name, lacks string) func(*Subnet, *wire.Node) error {
		return func(s *Subnet, n *wire.Node) error {
			if !n.Bool("Value") {
				return nil
			}
			return wire.Errorf("InvalidParameterValue", "Invalid value 'true' for %s: the subnet '%s' has no %s.", name, s.ID, lacks)
		}
	}
	return map[string]func(*Subnet, *wire.Node) error{
		"AssignIpv6AddressOnCreation": lacking("assignIpv6AddressOnCreation", "IPv6 block"),
		"EnableDns64":                 lacking("enableDns64", "IPv6 block"),
		"MapCustomerOwnedIpOnLaunch":  lacking("mapCustomerOwnedIpOnLaunch", "pool of customer-owned addresses"),
		"MapPublicIpOnLaunch":         flag(func(s *Subnet, on bool) { s.Public = on }),

		"EnableResourceNameDnsARecordOnLaunch":    flag(func(s *Subnet, on bool) { s.Hostnames.A = &on }),
		"EnableResourceNameDnsAAAARecordOnLaunch": flag(func(s *Subnet, on bool) { s.Hostnames.AAAA = &on }),
		"PrivateDnsHostnameTypeOnLaunch": func(s *Subnet, n *wire.Node) error {
			wants := Hostnames{Kind: n.Text()}
			if err := wants.Check("privateDnsHostnameTypeOnLaunch"); err != nil {
				return err
			}
			s.Hostnames.Kind = wants.Kind
			return nil
		},
	}
}

// modifySubnetAttribute changes one attribute, as EC2 does: "You can only modify one attribute at a time."
func modifySubnetAttribute(c *call) (any, error) {
	sub, err := c.server.Subnet(c.Params.String("SubnetId"))
	if err != nil {
		return nil, err
	}
	var asked []string
	attributes := subnetAttributes()
	for name := range attributes {
		if c.Params.Has(name) {
			asked = append(asked, name)
		}
	}
	if len(asked) != 1 {
		return nil, wire.Errorf("InvalidParameterCombination", "One attribute of a subnet is modified at a time, of %s; the request has %d of them.", world.Listed(maps.Keys(attributes)), len(asked))
	}
	if err := attributes[asked[0]](sub, c.Params.At(asked[0])); err != nil {
		return nil, err
	}
	return struct {
		Done bool `xml:"return"`
	}{true}, nil
}
