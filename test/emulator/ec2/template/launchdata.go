package template

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// MetadataAnswer is how EC2 shows the options of the metadata service, with the defaults of what is left open.
func MetadataAnswer(m *MetadataOptions) *MetadataOptions {
	x := MetadataOptions{State: "applied", Endpoint: "enabled", IPv6: "disabled", HopLimit: 2, Tokens: "required", InstanceTags: "disabled"}
	if m != nil {
		world.Pick(&x.Endpoint, m.Endpoint)
		world.Pick(&x.IPv6, m.IPv6)
		world.Pick(&x.HopLimit, m.HopLimit)
		world.Pick(&x.Tokens, m.Tokens)
		world.Pick(&x.InstanceTags, m.InstanceTags)
	}
	return &x
}

// LaunchData is what a launch template version, a RunInstances call or a fleet
// override says about instances. Absent fields are zero.
type LaunchData struct {
	ImageID      string                   `xml:"imageId,omitempty"`
	InstanceType string                   `xml:"instanceType,omitempty"`
	KeyName      string                   `xml:"keyName,omitempty"`
	UserData     string                   `xml:"userData,omitempty"` // base64
	EBSOptimized *bool                    `xml:"ebsOptimized"`
	Profile      *profileRef              `xml:"iamInstanceProfile"`
	Monitoring   *monitoring              `xml:"monitoring"`
	Devices      []DeviceMapping          `xml:"blockDeviceMappingSet>item"`
	Interfaces   []InterfaceSpec          `xml:"networkInterfaceSet>item"`
	GroupIDs     []string                 `xml:"securityGroupIdSet>item"`
	GroupNames   []string                 `xml:"securityGroupSet>item"`
	Tags         []world.TagSpecification `xml:"tagSpecificationSet>item"`
	Metadata     *MetadataOptions         `xml:"metadataOptions"`
	Placement    *Placement               `xml:"placement"`
	CPU          *CPUOptions              `xml:"cpuOptions"`
	Reservation  *ReservationSpec         `xml:"capacityReservationSpecification"`
	Market       *marketOptions           `xml:"instanceMarketOptions"`
	Hostnames    *network.Hostnames       `xml:"privateDnsNameOptions"`
	Enclave      *EnclaveOptions          `xml:"enclaveOptions"`
	SubnetID     string                   `xml:"-" json:",omitempty"` // not part of templates: from RunInstances and overrides
	Zone         string                   `xml:"-" json:",omitempty"`
	MaxPrice     string                   `xml:"-" json:",omitempty"`
}

type profileRef struct {
	ARN  string `xml:"arn,omitempty"`
	Name string `xml:"name,omitempty"`
}

type monitoring struct {
	Enabled bool `xml:"enabled"`
}

// DeviceMapping says which volume is on a device.
type DeviceMapping struct {
	Name     string   `xml:"deviceName,omitempty"`
	Virtual  string   `xml:"virtualName,omitempty"`
	NoDevice string   `xml:"noDevice,omitempty"`
	EBS      *EBSSpec `xml:"ebs"`
}

// EBSSpec is what is said of a volume; what is zero is as the image or EC2 has it.
type EBSSpec struct {
	DeleteOnTermination *bool  `xml:"deleteOnTermination"`
	Encrypted           *bool  `xml:"encrypted"`
	IOPS                int    `xml:"iops,omitempty"`
	KMSKey              string `xml:"kmsKeyId,omitempty"`
	Snapshot            string `xml:"snapshotId,omitempty"`
	Throughput          int    `xml:"throughput,omitempty"`
	SizeGiB             int    `xml:"volumeSize,omitempty"`
	Type                string `xml:"volumeType,omitempty"`
	InitializationRate  int    `xml:"volumeInitializationRate,omitempty"`
}

// InterfaceSpec is what is said of a network interface.
type InterfaceSpec struct {
	PublicIP            *bool    `xml:"associatePublicIpAddress"`
	DeleteOnTermination *bool    `xml:"deleteOnTermination"`
	Description         string   `xml:"description,omitempty"`
	DeviceIndex         int      `xml:"deviceIndex"`
	Groups              []string `xml:"groupSet>groupId"`
	Type                string   `xml:"interfaceType,omitempty"`
	PrefixCount         int      `xml:"ipv4PrefixCount,omitempty"`
	SecondaryCount      int      `xml:"secondaryPrivateIpAddressCount,omitempty"`
	IPv6Count           int      `xml:"ipv6AddressCount,omitempty"`
	IPv6PrefixCount     int      `xml:"ipv6PrefixCount,omitempty"`
	PrimaryIPv6         *bool    `xml:"primaryIpv6"`
	Card                int      `xml:"networkCardIndex"`
	SubnetID            string   `xml:"subnetId,omitempty"`

	Tracking *Tracking `xml:"connectionTrackingSpecification"`
}

// Tracking is for how many seconds idle connections are tracked; 0: as usual.
type Tracking struct {
	TCP       int `xml:"tcpEstablishedTimeout,omitempty"`
	UDPStream int `xml:"udpStreamTimeout,omitempty"`
	UDP       int `xml:"udpTimeout,omitempty"`
}

// MetadataOptions are those of the metadata service of an instance.
type MetadataOptions struct {
	State        string `xml:"state,omitempty"`
	Endpoint     string `xml:"httpEndpoint,omitempty"`
	IPv6         string `xml:"httpProtocolIpv6,omitempty"`
	HopLimit     int    `xml:"httpPutResponseHopLimit,omitempty"`
	Tokens       string `xml:"httpTokens,omitempty"`
	InstanceTags string `xml:"instanceMetadataTags,omitempty"`
}

// Placement says where instances run.
type Placement struct {
	Zone      string `xml:"availabilityZone,omitempty"`
	ZoneID    string `xml:"-" json:",omitempty"` // instances and overrides alone carry it
	GroupName string `xml:"groupName,omitempty"`
	GroupID   string `xml:"groupId,omitempty"`
	Partition int    `xml:"partitionNumber,omitempty"`
	Tenancy   string `xml:"tenancy,omitempty"`
}

// CPUOptions are what an instance has of the processors of its type.
type CPUOptions struct {
	Cores          int    `xml:"coreCount,omitempty"`
	ThreadsPerCore int    `xml:"threadsPerCore,omitempty"`
	SEVSNP         string `xml:"amdSevSnp,omitempty"`
	Nested         string `xml:"nestedVirtualization,omitempty"`
}

// ReservationSpec says which capacity reservations instances run in.
type ReservationSpec struct {
	Preference string             `xml:"capacityReservationPreference,omitempty"`
	Target     *reservationTarget `xml:"capacityReservationTarget"`
}

type reservationTarget struct {
	ID       string `xml:"capacityReservationId,omitempty"`
	GroupARN string `xml:"capacityReservationResourceGroupArn,omitempty"`
}

type marketOptions struct {
	Type string `xml:"marketType,omitempty"`
}

// ReservedMarket is the market that instances are launched on, among those of reservations; empty
// for the others.
func (d LaunchData) ReservedMarket() string {
	if d.Market == nil || d.Market.Type == "spot" {
		return ""
	}
	return d.Market.Type
}

// ReadLaunchData decodes LaunchTemplateData, or the same fields of a
// RunInstances call or a fleet override. A field that AWS has and this decoder
// does not know is ignored.
func ReadLaunchData(n *wire.Node) (LaunchData, error) {
	r := &world.IntReader{}
	d := LaunchData{
		ImageID: n.String("ImageId"), InstanceType: n.String("InstanceType"), KeyName: n.String("KeyName"), UserData: n.String("UserData"),
		EBSOptimized: n.BoolPtr("EbsOptimized"), SubnetID: n.String("SubnetId"), Zone: n.String("AvailabilityZone"), MaxPrice: n.String("MaxPrice"),
		GroupIDs: n.Strings("SecurityGroupId"), GroupNames: n.Strings("SecurityGroup"),
		Devices: readDevices(n, r), Interfaces: readInterfaces(n, r), Metadata: readMetadata(n.At("MetadataOptions"), r),
		Placement: readPlacement(n.At("Placement"), r), CPU: readCPU(n.At("CpuOptions"), r),
		Reservation: readReservation(n.At("CapacityReservationSpecification")), Hostnames: network.ReadHostnames(n.At("PrivateDnsNameOptions")), Enclave: readEnclave(n.At("EnclaveOptions")),
	}
	if p := n.At("IamInstanceProfile"); p != nil {
		d.Profile = &profileRef{ARN: p.String("Arn"), Name: p.String("Name")}
	}
	if m := n.At("Monitoring"); m != nil {
		d.Monitoring = &monitoring{Enabled: m.Bool("Enabled")}
	}
	if m := n.At("InstanceMarketOptions"); m != nil {
		d.Market = &marketOptions{Type: m.String("MarketType")}
		d.MaxPrice = cmp.Or(d.MaxPrice, m.At("SpotOptions").String("MaxPrice"))
	}
	specs, err := world.ReadTagSpecifications(n)
	d.Tags = specs
	if r.Err != nil {
		return d, r.Err
	}
	return d, err
}

func readDevices(n *wire.Node, r *world.IntReader) []DeviceMapping {
	var all []DeviceMapping
	for _, d := range n.List("BlockDeviceMapping") {
		m := DeviceMapping{Name: d.String("DeviceName"), Virtual: d.String("VirtualName"), NoDevice: d.String("NoDevice")}
		if e := d.At("Ebs"); e != nil {
			m.EBS = &EBSSpec{
				DeleteOnTermination: e.BoolPtr("DeleteOnTermination"), Encrypted: e.BoolPtr("Encrypted"), IOPS: r.Int(e, "Iops"),
				KMSKey: e.String("KmsKeyId"), Snapshot: e.String("SnapshotId"), Throughput: r.Int(e, "Throughput"),
				SizeGiB: r.Int(e, "VolumeSize"), Type: e.String("VolumeType"), InitializationRate: r.Int(e, "VolumeInitializationRate"),
			}
		}
		all = append(all, m)
	}
	return all
}

func readInterfaces(n *wire.Node, r *world.IntReader) []InterfaceSpec {
	var all []InterfaceSpec
	for _, i := range n.List("NetworkInterface") {
		all = append(all, InterfaceSpec{
			PublicIP: i.BoolPtr("AssociatePublicIpAddress"), DeleteOnTermination: i.BoolPtr("DeleteOnTermination"),
			Description: i.String("Description"), DeviceIndex: r.Int(i, "DeviceIndex"), Groups: i.Strings("SecurityGroupId"),
			Type: i.String("InterfaceType"), PrefixCount: r.Int(i, "Ipv4PrefixCount"), SecondaryCount: r.Int(i, "SecondaryPrivateIpAddressCount"),
			IPv6Count: r.Int(i, "Ipv6AddressCount"), IPv6PrefixCount: r.Int(i, "Ipv6PrefixCount"), PrimaryIPv6: i.BoolPtr("PrimaryIpv6"), Card: r.Int(i, "NetworkCardIndex"), SubnetID: i.String("SubnetId"),
			Tracking: readTracking(i.At("ConnectionTrackingSpecification"), r),
		})
	}
	return all
}

func readTracking(n *wire.Node, r *world.IntReader) *Tracking {
	if n == nil {
		return nil
	}
	return &Tracking{TCP: r.Int(n, "TcpEstablishedTimeout"), UDPStream: r.Int(n, "UdpStreamTimeout"), UDP: r.Int(n, "UdpTimeout")}
}

func readMetadata(n *wire.Node, r *world.IntReader) *MetadataOptions {
	if n == nil {
		return nil
	}
	return &MetadataOptions{
		Endpoint: n.String("HttpEndpoint"), IPv6: n.String("HttpProtocolIpv6"), HopLimit: r.Int(n, "HttpPutResponseHopLimit"),
		Tokens: n.String("HttpTokens"), InstanceTags: n.String("InstanceMetadataTags"),
	}
}

func readPlacement(n *wire.Node, r *world.IntReader) *Placement {
	if n == nil {
		return nil
	}
	return &Placement{
		Zone: n.String("AvailabilityZone"), GroupName: n.String("GroupName"), GroupID: n.String("GroupId"),
		Partition: r.Int(n, "PartitionNumber"), Tenancy: n.String("Tenancy"),
	}
}

func readCPU(n *wire.Node, r *world.IntReader) *CPUOptions {
	if n == nil {
		return nil
	}
	return &CPUOptions{
		Cores: r.Int(n, "CoreCount"), ThreadsPerCore: r.Int(n, "ThreadsPerCore"),
		SEVSNP: n.String("AmdSevSnp"), Nested: n.String("NestedVirtualization"),
	}
}

func readReservation(n *wire.Node) *ReservationSpec {
	if n == nil {
		return nil
	}
	spec := &ReservationSpec{Preference: n.String("CapacityReservationPreference")}
	if t := n.At("CapacityReservationTarget"); t != nil {
		spec.Target = &reservationTarget{ID: t.String("CapacityReservationId"), GroupARN: t.String("CapacityReservationResourceGroupArn")}
	}
	return spec
}

// Under returns what an instance gets when o is laid over d: what o says wins,
// devices are merged by name, tags are joined.
func (d LaunchData) Under(o LaunchData) LaunchData {
	merged := d
	world.Pick(&merged.ImageID, o.ImageID)
	world.Pick(&merged.InstanceType, o.InstanceType)
	world.Pick(&merged.KeyName, o.KeyName)
	world.Pick(&merged.UserData, o.UserData)
	world.Pick(&merged.SubnetID, o.SubnetID)
	world.Pick(&merged.Zone, o.Zone)
	world.Pick(&merged.MaxPrice, o.MaxPrice)
	world.Pick(&merged.EBSOptimized, o.EBSOptimized)
	world.Pick(&merged.Profile, o.Profile)
	world.Pick(&merged.Monitoring, o.Monitoring)
	world.Pick(&merged.Metadata, o.Metadata)
	world.Pick(&merged.Placement, o.Placement)
	world.Pick(&merged.CPU, o.CPU)
	world.Pick(&merged.Reservation, o.Reservation)
	world.Pick(&merged.Market, o.Market)
	world.Pick(&merged.Hostnames, o.Hostnames)
	world.Pick(&merged.Enclave, o.Enclave)
	if len(o.Interfaces) > 0 {
		merged.Interfaces = o.Interfaces
	}
	if len(o.GroupIDs)+len(o.GroupNames) > 0 {
		merged.GroupIDs, merged.GroupNames = o.GroupIDs, o.GroupNames
	}
	merged.Devices = MergeDevices(d.Devices, o.Devices)
	merged.Tags = slices.Concat(d.Tags, o.Tags)
	return merged
}

// MergeDevices lays devices over those of an image or a template, by their names.
func MergeDevices(under, over []DeviceMapping) []DeviceMapping {
	merged := slices.Clone(under)
	for _, d := range over {
		i := slices.IndexFunc(merged, func(m DeviceMapping) bool { return m.Name == d.Name })
		if i < 0 {
			merged = append(merged, d)
			continue
		}
		merged[i] = d
	}
	return merged
}

const userDataBytesMax = 16 << 10

// Check refuses what EC2 refuses without looking at other resources.
func (d LaunchData) Check() error {
	if d.UserData != "" {
		text, err := base64.StdEncoding.DecodeString(d.UserData)
		if err != nil {
			return wire.Errorf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
		}
		if len(text) > userDataBytesMax {
			return wire.Errorf("InvalidParameterValue", "User data is limited to %d bytes", userDataBytesMax)
		}
	}
	if m := d.Metadata; m != nil && (m.HopLimit < 0 || m.HopLimit > 64) {
		return wire.Errorf("InvalidParameterValue", "The value '%d' is not valid for HttpPutResponseHopLimit, it must be between 1 and 64", m.HopLimit)
	}
	if len(d.Interfaces) > 0 && len(d.GroupIDs)+len(d.GroupNames) > 0 {
		return wire.Errorf("InvalidParameterCombination", "Network interfaces and an instance-level security groups may not be specified on the same request")
	}
	if err := d.CPU.check(); err != nil {
		return err
	}
	if err := d.Hostnames.Check("privateDnsNameOptions.hostnameType"); err != nil {
		return err
	}
	return d.checkDevices()
}

// CheckPublic refuses a word on public addresses beside several interfaces, which launch templates may hold.
func (d LaunchData) CheckPublic() error {
	if len(d.Interfaces) > 1 && slices.ContainsFunc(d.Interfaces, func(i InterfaceSpec) bool { return i.PublicIP != nil }) {
		return wire.Errorf("InvalidParameterCombination", "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.")
	}
	return nil
}

func (d LaunchData) checkDevices() error {
	for _, m := range d.Devices {
		e := m.EBS
		if e == nil {
			continue
		}
		if e.Type != "" && !slices.Contains([]string{"gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"}, e.Type) {
			return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter volumeType is invalid. Volume of type %s is unknown.", e.Type, e.Type)
		}
		if e.Throughput > 0 && e.Type != "gp3" {
			return wire.Errorf("InvalidParameterCombination", "The parameter throughput is not supported for %s volumes.", e.Type)
		}
		if !strings.HasPrefix(m.Name, "/dev/") && !strings.HasPrefix(m.Name, "xvd") {
			return wire.Errorf("InvalidBlockDeviceMapping", "Invalid device name %s", m.Name)
		}
	}
	return nil
}
