package instance

import (
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/world"
)

// shownFields are those filters of DescribeInstances that go by what its answer shows.
func (s *Inventory) shownFields() world.Fields[Live] {
	of := func(f func(InstanceXML) string) func(Live) []string {
		return func(l Live) []string { return world.UnlessEmpty(f(s.instanceAnswer(l))) }
	}
	metadata := func(f func(template.MetadataOptions) string) func(Live) []string {
		return of(func(x InstanceXML) string { return f(*x.Metadata) })
	}
	return world.Fields[Live]{
		"dns-name":                       of(func(x InstanceXML) string { return x.PublicDNS }),
		"ebs-optimized":                  of(func(x InstanceXML) string { return world.BoolText(x.EBS) }),
		"ena-support":                    of(func(x InstanceXML) string { return world.BoolText(x.ENA) }),
		"enclave-options.enabled":        of(func(x InstanceXML) string { return world.BoolText(x.Enclave.Enabled) }),
		"hibernation-options.configured": of(func(InstanceXML) string { return "false" }),
		"hypervisor":                     of(func(x InstanceXML) string { return x.Hypervisor }),
		"ip-address":                     of(func(x InstanceXML) string { return x.PublicIP }),
		"launch-index":                   of(func(x InstanceXML) string { return strconv.Itoa(x.LaunchIndex) }),
		"monitoring-state":               of(func(x InstanceXML) string { return x.Monitoring.State }),
		"operator.managed":               of(func(InstanceXML) string { return "false" }),
		"platform":                       of(func(x InstanceXML) string { return x.Platform }),
		"platform-details":               of(func(x InstanceXML) string { return x.Details }),
		"reason":                         of(func(x InstanceXML) string { return x.Reason }),
		"root-device-name":               of(func(x InstanceXML) string { return x.RootDevice }),
		"root-device-type":               of(func(x InstanceXML) string { return x.RootType }),
		"source-dest-check":              of(func(x InstanceXML) string { return world.BoolText(x.Checked) }),
		"state-reason-code":              of(func(x InstanceXML) string { return x.stateReason().Code }),
		"state-reason-message":           of(func(x InstanceXML) string { return x.stateReason().Message }),
		"usage-operation":                of(func(x InstanceXML) string { return x.Usage }),
		"virtualization-type":            of(func(x InstanceXML) string { return x.Virt }),
		"instance.group-name":            func(l Live) []string { return namesOf(s.instanceAnswer(l).Groups) },

		"metadata-options.http-endpoint":               metadata(func(m template.MetadataOptions) string { return m.Endpoint }),
		"metadata-options.http-protocol-ipv6":          metadata(func(m template.MetadataOptions) string { return m.IPv6 }),
		"metadata-options.http-put-response-hop-limit": metadata(func(m template.MetadataOptions) string { return strconv.Itoa(m.HopLimit) }),
		"metadata-options.http-tokens":                 metadata(func(m template.MetadataOptions) string { return m.Tokens }),
		"metadata-options.instance-metadata-tags":      metadata(func(m template.MetadataOptions) string { return m.InstanceTags }),
		"metadata-options.state":                       metadata(func(m template.MetadataOptions) string { return m.State }),
	}.With(network.HostnameFields("private-dns-name-options", func(l Live) network.HostnameXML { return l.Data.Hostnames.Answer() })).With(s.heldVolumeFields()).With(s.heldInterfaceFields())
}

// heldVolumeFields are about the volumes that an instance holds.
func (s *Inventory) heldVolumeFields() world.Fields[Live] {
	of := func(f func(deviceStateXML) string) func(Live) []string {
		return func(l Live) (all []string) {
			for _, d := range s.instanceAnswer(l).Devices {
				all = append(all, f(d))
			}
			return all
		}
	}
	return world.Fields[Live]{
		"block-device-mapping.attach-time":           of(func(d deviceStateXML) string { return world.ImageTime(d.EBS.AttachedAt) }),
		"block-device-mapping.delete-on-termination": of(func(d deviceStateXML) string { return world.BoolText(d.EBS.DeleteOnTermination) }),
		"block-device-mapping.device-name":           of(func(d deviceStateXML) string { return d.Name }),
		"block-device-mapping.status":                of(func(d deviceStateXML) string { return d.EBS.Status }),
		"block-device-mapping.volume-id":             of(func(d deviceStateXML) string { return d.EBS.VolumeID }),
	}
}

// heldInterfaceFields are those of DescribeNetworkInterfaces, of the interfaces that an instance holds.
func (s *Inventory) heldInterfaceFields() world.Fields[Live] {
	all := world.Fields[Live]{}
	for name, values := range interfaceFields() {
		all["network-interface."+name] = func(l Live) (out []string) {
			for _, x := range s.interfacesOf(l) {
				out = append(out, values(x)...)
			}
			return out
		}
	}
	return all
}

// interfaceFields are what network interfaces can be filtered by.
func interfaceFields() world.Fields[eniXML] {
	of := func(f func(eniXML) string) func(eniXML) []string {
		return func(x eniXML) []string { return world.UnlessEmpty(f(x)) }
	}
	held := func(f func(attachmentXML) string) func(eniXML) []string {
		return func(x eniXML) []string {
			if x.Attachment == nil {
				return nil
			}
			return world.UnlessEmpty(f(*x.Attachment))
		}
	}
	public := of(func(x eniXML) string {
		if x.Association == nil {
			return ""
		}
		return x.Association.IP
	})
	private := func(x eniXML) (all []string) {
		for _, a := range x.Addresses {
			all = append(all, a.Address)
		}
		return all
	}
	return world.Fields[eniXML]{
		"addresses.association.public-ip":  public,
		"addresses.private-ip-address":     private,
		"association.public-ip":            public,
		"attachment.attach-time":           held(func(a attachmentXML) string { return a.At.Format(time.RFC3339) }),
		"attachment.attachment-id":         held(func(a attachmentXML) string { return a.ID }),
		"attachment.delete-on-termination": held(func(a attachmentXML) string { return world.BoolText(a.DeleteOnTermination) }),
		"attachment.device-index":          held(func(a attachmentXML) string { return strconv.Itoa(a.DeviceIndex) }),
		"attachment.instance-id":           held(func(a attachmentXML) string { return a.Instance }),
		"attachment.instance-owner-id":     held(func(a attachmentXML) string { return a.Owner }),
		"attachment.network-card-index":    held(func(a attachmentXML) string { return strconv.Itoa(a.Card) }),
		"attachment.status":                held(func(a attachmentXML) string { return a.Status }),
		"availability-zone":                of(func(x eniXML) string { return x.Zone }),
		"availability-zone-id":             of(func(x eniXML) string { return x.ZoneID }),
		"description":                      of(func(x eniXML) string { return x.Description }),
		"group-id":                         func(x eniXML) []string { return idsOf(x.Groups) },
		"group-name":                       func(x eniXML) []string { return namesOf(x.Groups) },
		"interface-type":                   of(func(x eniXML) string { return x.Type }),
		"mac-address":                      of(func(x eniXML) string { return x.MAC }),
		"network-interface-id":             of(func(x eniXML) string { return x.ID }),
		"operator.managed":                 of(func(eniXML) string { return "false" }),
		"owner-id":                         of(func(x eniXML) string { return x.OwnerID }),
		"private-dns-name":                 of(func(x eniXML) string { return x.DNS }),
		"private-ip-address":               private,
		"requester-managed":                of(func(eniXML) string { return "false" }),
		"source-dest-check":                of(func(x eniXML) string { return world.BoolText(x.Checked) }),
		"status":                           of(func(x eniXML) string { return x.Status }),
		"subnet-id":                        of(func(x eniXML) string { return x.SubnetID }),
		"vpc-id":                           of(func(x eniXML) string { return x.VPC }),
		"ipv4-prefixes.ipv4-prefix": func(x eniXML) (all []string) {
			for _, p := range x.Prefixes {
				all = append(all, p.Prefix)
			}
			return all
		},
	}.Lacking("association.allocation-id", "association.association-id", "ipv6-addresses.ipv6-address", "operator.principal", "requester-id")
}

func idsOf(groups []groupRefXML) (all []string) {
	for _, g := range groups {
		all = append(all, g.ID)
	}
	return all
}

func namesOf(groups []groupRefXML) (all []string) {
	for _, g := range groups {
		all = append(all, g.Name)
	}
	return all
}

// stateReason is why the instance is in its state; zero where there is no more to say.
func (x InstanceXML) stateReason() reasonXML {
	if x.StateReason == nil {
		return reasonXML{}
	}
	return *x.StateReason
}

// placementFilters are those of DescribeInstances about placement groups.
func placementFilters() world.Fields[Live] {
	of := func(f func(*template.Placement) string) func(Live) []string {
		return world.One(func(l Live) string {
			if l.Data.Placement == nil {
				return ""
			}
			return f(l.Data.Placement)
		})
	}
	return world.Fields[Live]{
		"placement-group-name": of(func(p *template.Placement) string { return p.GroupName }),
		"placement-partition-number": of(func(p *template.Placement) string {
			if p.Partition == 0 {
				return ""
			}
			return strconv.Itoa(p.Partition)
		}),
	}
}
