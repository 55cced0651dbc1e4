package instance

import (
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/world"
)

type eniXML struct {
	Attachment  *attachmentXML     `xml:"attachment"`
	Association *publicXML         `xml:"association"`
	Description string             `xml:"description"`
	Groups      []groupRefXML      `xml:"groupSet>item"`
	Type        string             `xml:"interfaceType"`
	MAC         string             `xml:"macAddress,omitempty"`
	ID          string             `xml:"networkInterfaceId"`
	OwnerID     string             `xml:"ownerId"`
	DNS         string             `xml:"privateDnsName,omitempty"`
	Address     string             `xml:"privateIpAddress,omitempty"`
	Addresses   []addressXML       `xml:"privateIpAddressesSet>item"`
	Checked     bool               `xml:"sourceDestCheck"`
	Status      string             `xml:"status"`
	SubnetID    string             `xml:"subnetId"`
	VPC         string             `xml:"vpcId"`
	Tracking    *template.Tracking `xml:"connectionTrackingConfiguration"`
	Prefixes    []prefixXML        `xml:"ipv4PrefixSet>item"`
	Zone        string             `xml:"availabilityZone,omitempty"`
	ZoneID      string             `xml:"availabilityZoneId,omitempty"`
	Tags        world.Tags         `xml:"tagSet>item"`
}

type publicXML struct {
	IP      string `xml:"publicIp"`
	OwnerID string `xml:"ipOwnerId"`
}

type attachmentXML struct {
	ID                  string    `xml:"attachmentId"`
	At                  time.Time `xml:"attachTime"`
	DeleteOnTermination bool      `xml:"deleteOnTermination"`
	DeviceIndex         int       `xml:"deviceIndex"`
	Card                int       `xml:"networkCardIndex"`
	Status              string    `xml:"status"`
	Instance            string    `xml:"instanceId,omitempty"`
	Owner               string    `xml:"instanceOwnerId,omitempty"`
}

type prefixXML struct {
	Prefix string `xml:"ipv4Prefix"`
}

type addressXML struct {
	Primary bool   `xml:"primary"`
	DNS     string `xml:"privateDnsName"`
	Address string `xml:"privateIpAddress"`
}

// interfacesAnswer is what an instance shows of its interfaces.
func (s *Inventory) interfacesAnswer(l Live) []eniXML {
	var all []eniXML
	for _, n := range l.Interfaces {
		x := eniXML{
			Attachment: &attachmentXML{ID: n.Attachment, At: l.LaunchedAt, DeleteOnTermination: true, DeviceIndex: n.DeviceIndex, Card: n.Card, Status: "attached"},
			Groups:     s.groupRefs(n.Groups), Type: n.Type, MAC: n.MAC, ID: n.ID, OwnerID: s.Settings.ID, DNS: s.PrivateDNS(n.Address),
			Address: n.Address, Checked: true, Status: "in-use", SubnetID: l.Subnet, VPC: s.VPCOf(l.Subnet), Description: n.Description, Tracking: n.Tracking,
		}
		if n.Address == l.Address {
			x.DNS = s.privateName(l.Instance)
		}
		if n.Address != "" {
			x.Addresses = []addressXML{{true, x.DNS, n.Address}}
		}
		for _, further := range n.Secondary {
			x.Addresses = append(x.Addresses, addressXML{false, s.PrivateDNS(further), further})
		}
		for _, block := range n.Prefixes {
			x.Prefixes = append(x.Prefixes, prefixXML{block})
		}
		if n.Address == l.Address && l.PublicIP != "" {
			x.Association = &publicXML{l.PublicIP, "amazon"}
		}
		all = append(all, x)
	}
	return all
}

// interfacesOf is what DescribeNetworkInterfaces shows of the interfaces of an instance; nothing once it is gone.
func (s *Inventory) interfacesOf(l Live) []eniXML {
	if l.gone() {
		return nil
	}
	all := s.interfacesAnswer(l)
	for i := range all {
		x := &all[i]
		x.Attachment.Instance, x.Attachment.Owner = l.ID, s.Settings.ID
		x.Zone, x.ZoneID, x.Tags = l.Zone.Name, l.Zone.ID, l.Interfaces[i].Tags
	}
	return all
}

func describeNetworkInterfaces(c *call) (any, error) {
	var all []eniXML
	for _, l := range c.server.Seen(c.At) {
		all = append(all, c.server.interfacesOf(l)...)
	}
	for _, n := range c.server.Interfaces {
		all = append(all, c.server.detachedAnswer(n))
	}
	id := func(x eniXML) string { return x.ID }
	chosen, err := world.ChosenByID(c.Params.Strings("NetworkInterfaceId"), world.ByKey(all, id), id, "InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[eniXML]{
		Fields: interfaceFields(),
		Tags:   func(x eniXML) world.Tags { return x.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 5, Most: 1000, Unasked: 1000},
		Key:    id,
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	return struct {
		Interfaces []eniXML `xml:"networkInterfaceSet>item"`
		Next       string   `xml:"nextToken,omitempty"`
	}{page, next}, nil
}

type volumeXML struct {
	Attachments []volumeUseXML `xml:"attachmentSet>item"`
	Zone        string         `xml:"availabilityZone"`
	ZoneID      string         `xml:"availabilityZoneId"`
	CreatedAt   time.Time      `xml:"createTime"`
	Encrypted   bool           `xml:"encrypted"`
	IOPS        int            `xml:"iops,omitempty"`
	KMSKey      string         `xml:"kmsKeyId,omitempty"`
	SizeGiB     int            `xml:"size"`
	Snapshot    string         `xml:"snapshotId"`
	Status      string         `xml:"status"`
	Tags        world.Tags     `xml:"tagSet>item"`
	Throughput  int            `xml:"throughput,omitempty"`
	ID          string         `xml:"volumeId"`
	Type        string         `xml:"volumeType"`

	InitializationRate int `xml:"volumeInitializationRate,omitempty"`
}

type volumeUseXML struct {
	At                  time.Time `xml:"attachTime"`
	DeleteOnTermination bool      `xml:"deleteOnTermination"`
	Device              string    `xml:"device"`
	Instance            string    `xml:"instanceId"`
	Status              string    `xml:"status"`
	VolumeID            string    `xml:"volumeId"`
}

// attached is what the volume is attached to; zero: nothing.
func (x volumeXML) attached() volumeUseXML {
	if len(x.Attachments) == 0 {
		return volumeUseXML{}
	}
	return x.Attachments[0]
}

// describeVolumes shows the volumes that instances hold, and those that outlived theirs
// for as long as these are remembered.
func describeVolumes(c *call) (any, error) {
	var all []volumeXML
	for _, l := range c.server.Seen(c.At) {
		for _, v := range l.Volumes {
			status, uses := "in-use", []volumeUseXML{{l.LaunchedAt, v.DeleteOnTermination, v.Device, l.ID, "attached", v.ID}}
			switch {
			case l.gone() && (v.DeleteOnTermination || v.Deleted):
				continue
			case l.gone():
				status, uses = "available", nil
			}
			all = append(all, volumeXML{
				Attachments: uses,
				Zone:        l.Zone.Name, ZoneID: l.Zone.ID, CreatedAt: l.LaunchedAt, Encrypted: v.Encrypted, IOPS: v.IOPS, KMSKey: v.KMSKey,
				SizeGiB: v.SizeGiB, Snapshot: v.Snapshot, Status: status, Tags: v.Tags, Throughput: v.Throughput, ID: v.ID, Type: v.Type,
				InitializationRate: v.InitializationRate,
			})
		}
	}
	id := func(x volumeXML) string { return x.ID }
	chosen, err := world.ChosenByID(c.Params.Strings("VolumeId"), world.ByKey(all, id), id, "InvalidVolume.NotFound", "The volume '%s' does not exist.")
	if err != nil {
		return nil, err
	}
	page, next, err := world.List[volumeXML]{
		Fields: world.Fields[volumeXML]{
			"attachment.instance-id": world.One(func(x volumeXML) string { return x.attached().Instance }),
			"attachment.device":      world.One(func(x volumeXML) string { return x.attached().Device }),
			"attachment.delete-on-termination": world.One(func(x volumeXML) string {
				return world.BoolText(x.attached().DeleteOnTermination)
			}),
			"attachment.attach-time": func(x volumeXML) []string {
				if len(x.Attachments) == 0 {
					return nil
				}
				return []string{x.attached().At.Format(time.RFC3339)}
			},
			"attachment.status":    func(x volumeXML) []string { return world.UnlessEmpty(x.attached().Status) },
			"availability-zone":    world.One(func(x volumeXML) string { return x.Zone }),
			"availability-zone-id": world.One(func(x volumeXML) string { return x.ZoneID }),
			"create-time":          world.One(func(x volumeXML) string { return x.CreatedAt.Format(time.RFC3339) }),
			"multi-attach-enabled": world.One(func(volumeXML) string { return "false" }),
			"operator.managed":     world.One(func(volumeXML) string { return "false" }),
			"size":                 world.One(func(x volumeXML) string { return strconv.Itoa(x.SizeGiB) }),
			"encrypted":            world.One(func(x volumeXML) string { return world.BoolText(x.Encrypted) }),
			"snapshot-id":          world.One(func(x volumeXML) string { return x.Snapshot }),
			"status":               world.One(func(x volumeXML) string { return x.Status }),
			"volume-id":            world.One(id),
			"volume-type":          world.One(func(x volumeXML) string { return x.Type }),
		}.Lacking("fast-restored", "operator.principal"),
		Tags:   func(x volumeXML) world.Tags { return x.Tags.Searchable(c.At) },
		Limits: world.PageLimits{Least: 5, Most: 1000},
		Key:    id,
	}.Page(c.Call, chosen)
	if err != nil {
		return nil, err
	}
	return struct {
		Volumes []volumeXML `xml:"volumeSet>item"`
		Next    string      `xml:"nextToken,omitempty"`
	}{page, next}, nil
}
