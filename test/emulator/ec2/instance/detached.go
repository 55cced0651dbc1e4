package instance

import (
	"slices"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// DetachedInterface is a network interface that was made by itself, as a network plugin
// makes those that it attaches to instances. Nothing here attaches it.
type DetachedInterface struct {
	NetInterface
	Subnet      string
	Zone        world.Zone
	Description string
}

// createNetworkInterface makes an interface that is attached to nothing.
func createNetworkInterface(c *call) (any, error) {
	st := c.server
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil, err
	}
	id := c.Params.String("SubnetId")
	if id == "" {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter subnetId")
	}
	sub, err := st.Subnet(id)
	if err != nil {
		return nil, err
	}
	if sub.Free() <= 0 {
		return nil, wire.Errorf("InsufficientFreeAddressesInSubnet", "The specified subnet does not have enough free addresses to satisfy the request.")
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	n := &DetachedInterface{Subnet: sub.ID, Zone: sub.Zone, Description: c.Params.String("Description")}
	n.ID, n.Type, n.Groups, n.Tags = st.NewID("eni"), "interface", c.Params.Strings("SecurityGroupId"), world.TagsFor(specs, "network-interface")
	if a, ok := sub.Take(n.ID); ok {
		n.Address = a.String()
	}
	if st.Interfaces == nil {
		st.Interfaces = map[string]*DetachedInterface{} // of an account saved by an older version
	}
	st.Interfaces[n.ID] = n
	return struct {
		Interface eniXML `xml:"networkInterface"`
	}{c.server.detachedAnswer(n)}, nil
}

// deleteNetworkInterface removes an interface that is attached to nothing.
func deleteNetworkInterface(c *call) (any, error) {
	st, id := c.server, c.Params.String("NetworkInterfaceId")
	for _, l := range c.server.Seen(c.At) {
		if !l.gone() && slices.ContainsFunc(l.Interfaces, func(n NetInterface) bool { return n.ID == id }) {
			return nil, wire.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", id)
		}
	}
	n := st.Interfaces[id]
	if n == nil {
		return nil, wire.Errorf("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", id)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	delete(st.Interfaces, id)
	if sub, err := st.Subnet(n.Subnet); err == nil {
		sub.Release(id)
	}
	return struct {
		Done bool `xml:"return"`
	}{true}, nil
}

func (s *Inventory) detachedAnswer(n *DetachedInterface) eniXML {
	return eniXML{
		Groups: s.groupRefs(n.Groups), Type: n.Type, ID: n.ID, OwnerID: s.Settings.ID, Description: n.Description, DNS: s.PrivateDNS(n.Address),
		Address: n.Address, Addresses: []addressXML{{true, s.PrivateDNS(n.Address), n.Address}}, Checked: true, Status: "available",
		SubnetID: n.Subnet, VPC: s.VPCOf(n.Subnet), Zone: n.Zone.Name, ZoneID: n.Zone.ID, Tags: n.Tags,
	}
}

// deleteVolume removes a volume that outlived its instance.
func deleteVolume(c *call) (any, error) {
	id := c.Params.String("VolumeId")
	for _, l := range c.server.Seen(c.At) {
		i := slices.IndexFunc(l.Volumes, func(v Volume) bool { return v.ID == id })
		switch {
		case i < 0:
			continue
		case !l.gone():
			return nil, wire.Errorf("VolumeInUse", "Volume %s is currently attached to %s", id, l.ID)
		case l.Volumes[i].DeleteOnTermination || l.Volumes[i].Deleted:
			continue
		}
		if err := c.Commit(); err != nil {
			return nil, err
		}
		l.Volumes[i].Deleted = true
		return struct {
			Done bool `xml:"return"`
		}{true}, nil
	}
	return nil, wire.Errorf("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
}
