package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/catalogue"
	"github.com/daemok/daemok/test/emulator/ec2/image"
	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// ReservationXML is how EC2 shows what one call launched.
type ReservationXML struct {
	ID        string        `xml:"reservationId"`
	OwnerID   string        `xml:"ownerId"`
	Instances []InstanceXML `xml:"instancesSet>item"`
}

// InstanceXML is an instance as EC2 shows it.
type InstanceXML struct {
	LaunchIndex         int                       `xml:"amiLaunchIndex"`
	Arch                string                    `xml:"architecture"`
	Devices             []deviceStateXML          `xml:"blockDeviceMapping>item"`
	CapacityReservation string                    `xml:"capacityReservationId,omitempty"`
	ReservationSpec     *template.ReservationSpec `xml:"capacityReservationSpecification"`
	ClientToken         string                    `xml:"clientToken"`
	CPU                 *template.CPUOptions      `xml:"cpuOptions"`
	EBS                 bool                      `xml:"ebsOptimized"`
	ENA                 bool                      `xml:"enaSupport"`
	Enclave             template.EnclaveOptions   `xml:"enclaveOptions"`
	Hypervisor          string                    `xml:"hypervisor"`
	Profile             *profileIDXML             `xml:"iamInstanceProfile"`
	ImageID             string                    `xml:"imageId"`
	ID                  string                    `xml:"instanceId"`
	Lifecycle           string                    `xml:"instanceLifecycle,omitempty"`
	Type                string                    `xml:"instanceType"`
	KeyName             string                    `xml:"keyName,omitempty"`
	LaunchedAt          time.Time                 `xml:"launchTime"`
	Metadata            *template.MetadataOptions `xml:"metadataOptions"`
	Monitoring          stateNameXML              `xml:"monitoring"`
	Interfaces          []eniXML                  `xml:"networkInterfaceSet>item"`
	Placement           placementXML              `xml:"placement"`
	Platform            string                    `xml:"platform,omitempty"`
	Details             string                    `xml:"platformDetails"`
	PrivateDNS          string                    `xml:"privateDnsName"`
	DNSOptions          network.HostnameXML       `xml:"privateDnsNameOptions"`
	PrivateIP           string                    `xml:"privateIpAddress,omitempty"`
	PublicDNS           string                    `xml:"dnsName"`
	PublicIP            string                    `xml:"ipAddress,omitempty"`
	RootDevice          string                    `xml:"rootDeviceName"`
	RootType            string                    `xml:"rootDeviceType"`
	Groups              []groupRefXML             `xml:"groupSet>item"`
	Checked             bool                      `xml:"sourceDestCheck"`
	SpotRequest         string                    `xml:"spotInstanceRequestId,omitempty"`
	State               stateXML                  `xml:"instanceState"`
	StateReason         *reasonXML                `xml:"stateReason"`
	Reason              string                    `xml:"reason"`
	SubnetID            string                    `xml:"subnetId,omitempty"`
	Tags                world.Tags                `xml:"tagSet>item"`
	Usage               string                    `xml:"usageOperation"`
	Virt                string                    `xml:"virtualizationType"`
	VPC                 string                    `xml:"vpcId,omitempty"`
}

type profileIDXML struct {
	ARN string `xml:"arn"`
	ID  string `xml:"id"`
}

type stateNameXML struct {
	State string `xml:"state"`
}

type stateXML struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

type reasonXML struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
}

type placementXML struct {
	Zone      string `xml:"availabilityZone"`
	ZoneID    string `xml:"availabilityZoneId"`
	GroupName string `xml:"groupName"`
	GroupID   string `xml:"groupId,omitempty"`
	Partition int    `xml:"partitionNumber,omitempty"`
	Tenancy   string `xml:"tenancy"`
}

type groupRefXML struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type deviceStateXML struct {
	Name string     `xml:"deviceName"`
	EBS  ebsUsedXML `xml:"ebs"`
}

type ebsUsedXML struct {
	AttachedAt          time.Time `xml:"attachTime"`
	DeleteOnTermination bool      `xml:"deleteOnTermination"`
	Status              string    `xml:"status"`
	VolumeID            string    `xml:"volumeId"`
}

// stateCodes are the low bytes of EC2's state codes.
var stateCodes = map[market.State]int{
	market.Pending: 0, market.Running: 16, market.ShuttingDown: 32, market.Terminated: 48, market.Stopping: 64, market.Stopped: 80,
}

func stateAnswer(state market.State) stateXML { return stateXML{stateCodes[state], string(state)} }

// InstanceAnswers are how EC2 shows instances.
func (s *Inventory) InstanceAnswers(all []Live) []InstanceXML {
	answers := make([]InstanceXML, 0, len(all))
	for _, l := range all {
		answers = append(answers, s.instanceAnswer(l))
	}
	return answers
}

// instanceAnswer is the record as DescribeInstances shows it. A terminated
// instance has lost its network and its devices.
func (s *Inventory) instanceAnswer(l Live) InstanceXML {
	img, err := s.Image(l.Data.ImageID)
	if err != nil {
		img = &image.Image{ID: l.Data.ImageID}
	}
	shown := image.ImageAnswer(img)
	x := InstanceXML{
		LaunchIndex: l.LaunchIndex, Arch: img.Architecture, ClientToken: l.ClientToken, CPU: s.cpuAnswer(l),
		EBS: l.Data.EBSOptimized != nil && *l.Data.EBSOptimized, ENA: true, Hypervisor: "xen", ImageID: img.ID, ID: l.ID,
		Lifecycle: l.lifecycle(), Type: l.Type, KeyName: l.Data.KeyName, LaunchedAt: l.LaunchedAt, Metadata: template.MetadataAnswer(l.Data.Metadata),
		Monitoring: stateNameXML{"disabled"}, Placement: placementAnswer(l), Platform: shown.Platform, Details: shown.Details,
		DNSOptions: l.Data.Hostnames.Answer(), RootDevice: img.RootDevice, RootType: "ebs", Checked: true, SpotRequest: l.SpotRequest,
		State: stateAnswer(l.State), Tags: l.Tags, Usage: shown.Usage, Virt: "hvm",
	}
	if l.Data.Enclave != nil {
		x.Enclave = *l.Data.Enclave
	}
	if l.Data.Monitoring != nil && l.Data.Monitoring.Enabled {
		x.Monitoring.State = "enabled"
	}
	if l.Profile != "" {
		x.Profile = &profileIDXML{l.ProfileARN, l.ProfileID}
	}
	x.StateReason, x.Reason = reasonAnswer(l)
	x.CapacityReservation, x.ReservationSpec = s.reserved.ReservationOf(l.InReservation, s.Now()), l.Data.Reservation
	if l.gone() {
		return x
	}
	x.PrivateIP, x.PrivateDNS, x.PublicIP = l.Address, s.privateName(l.Instance), l.PublicIP
	x.SubnetID, x.VPC, x.Groups, x.Interfaces = l.Subnet, s.VPCOf(l.Subnet), s.groupRefs(l.Groups), s.interfacesAnswer(l)
	for _, v := range l.Volumes {
		x.Devices = append(x.Devices, deviceStateXML{v.Device, ebsUsedXML{l.LaunchedAt, v.DeleteOnTermination, "attached", v.ID}})
	}
	return x
}

func (s *Inventory) cpuAnswer(l Live) *template.CPUOptions {
	if l.Data.CPU != nil && l.Data.CPU.Cores > 0 {
		return l.Data.CPU
	}
	t, known := s.Data.Type(l.Type)
	if !known {
		return l.Data.CPU
	}
	v := catalogue.VCPUAnswer(t)
	x := &template.CPUOptions{Cores: v.Cores, ThreadsPerCore: v.Threads}
	if l.Data.CPU != nil {
		x.Nested, x.SEVSNP = l.Data.CPU.Nested, l.Data.CPU.SEVSNP
	}
	return x
}

func placementAnswer(l Live) placementXML {
	x := placementXML{Zone: l.Zone.Name, ZoneID: l.Zone.ID, Tenancy: "default"}
	if p := l.Data.Placement; p != nil {
		x.GroupName, x.GroupID, x.Partition, x.Tenancy = p.GroupName, p.GroupID, p.Partition, cmp.Or(p.Tenancy, "default")
	}
	return x
}

// reasonTexts are EC2's sentences for the reasons that instances end by.
var reasonTexts = map[string]string{
	"Client.UserInitiatedShutdown":        "User initiated shutdown",
	"Server.SpotInstanceTermination":      "Spot instance termination",
	"Server.InsufficientInstanceCapacity": "Insufficient instance capacity",
	"Client.VolumeLimitExceeded":          "Volume limit exceeded",
	"Client.InvalidKMSKey.InvalidState":   "The KMS key provided is in an incorrect state",
}

func reasonAnswer(l Live) (*reasonXML, string) {
	switch l.State {
	case market.Pending:
		return &reasonXML{"pending", "pending"}, ""
	case market.Running:
		return nil, ""
	}
	code := cmp.Or(l.Machine.Reason, "Client.UserInitiatedShutdown")
	text := cmp.Or(reasonTexts[code], code)
	at := l.Machine.EndsAt
	if at.IsZero() {
		at = l.Machine.StoppedAt
	}
	return &reasonXML{code, fmt.Sprintf("%s: %s", code, text)}, fmt.Sprintf("%s (%s GMT)", text, at.UTC().Format(time.DateTime))
}

func (s *Inventory) groupRefs(ids []string) []groupRefXML {
	var refs []groupRefXML
	for _, id := range ids {
		ref := groupRefXML{ID: id}
		if g, err := s.Group(id); err == nil {
			ref.Name = g.Name
		}
		refs = append(refs, ref)
	}
	return refs
}

// describeInstances gives one reservation per launch. MaxResults and instance
// IDs exclude each other, as with EC2.
func describeInstances(c *call) (any, error) {
	ids := c.Params.Strings("InstanceId")
	if len(ids) > 0 && c.Params.Has("MaxResults") {
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	if len(ids) > 1000 {
		return nil, wire.Errorf("InvalidParameterValue", "The maximum number of instance IDs per call is 1000")
	}
	chosen := c.server.Seen(c.At)
	if len(ids) > 0 {
		var err error
		if chosen, err = c.server.visibleByID(ids, c.At); err != nil {
			return nil, err
		}
	}
	found, err := world.Matching(c.Params, chosen, c.server.instanceFields(), func(l Live) world.Tags { return l.Tags.Searchable(c.At) })
	if err != nil {
		return nil, err
	}
	limits := world.PageLimits{Least: 5, Most: 1000, Unasked: 1000}
	if len(ids) > 0 {
		limits.Unasked = 0
	}
	if len(ids) > 0 { // all are sorted, those that were asked for are not
		found = world.ByKey(found, func(l Live) string { return l.ID })
	}
	page, next, err := world.Paged(c.Call, found, limits, func(l Live) string { return l.ID })
	if err != nil {
		return nil, err
	}
	return struct {
		Reservations []ReservationXML `xml:"reservationSet>item"`
		Next         string           `xml:"nextToken,omitempty"`
	}{c.server.reservations(page), next}, nil
}

// reservations groups instances by the launch that made them, in the order in
// which each launch comes first.
func (s *Inventory) reservations(all []Live) []ReservationXML {
	var out []ReservationXML
	at := map[string]int{}
	for _, l := range all {
		i, known := at[l.Reservation]
		if !known {
			i = len(out)
			at[l.Reservation] = i
			out = append(out, ReservationXML{ID: l.Reservation, OwnerID: s.Settings.ID})
		}
		out[i].Instances = append(out[i].Instances, s.instanceAnswer(l))
	}
	return out
}

func (s *Inventory) instanceFields() world.Fields[Live] {
	text := func(f func(Live) string) func(Live) []string { return world.One(f) }
	return placementFilters().With(s.shownFields()).With(world.Fields[Live]{
		"architecture":              text(func(l Live) string { return s.instanceAnswer(l).Arch }),
		"availability-zone":         text(func(l Live) string { return l.Zone.Name }),
		"availability-zone-id":      text(func(l Live) string { return l.Zone.ID }),
		"capacity-reservation-id":   text(func(l Live) string { return s.reserved.ReservationOf(l.InReservation, s.Now()) }),
		"client-token":              text(func(l Live) string { return l.ClientToken }),
		"iam-instance-profile.arn":  text(func(l Live) string { return l.ProfileARN }),
		"iam-instance-profile.id":   text(func(l Live) string { return l.ProfileID }),
		"iam-instance-profile.name": text(func(l Live) string { return l.Profile }),
		"image-id":                  text(func(l Live) string { return l.Data.ImageID }),
		"instance-id":               text(func(l Live) string { return l.ID }),
		"instance-lifecycle": func(l Live) []string {
			return slices.DeleteFunc([]string{l.lifecycle()}, func(v string) bool { return v == "" })
		},
		"instance-state-code":         text(func(l Live) string { return strconv.Itoa(stateCodes[l.State]) }),
		"instance-state-name":         text(func(l Live) string { return string(l.State) }),
		"instance-type":               text(func(l Live) string { return l.Type }),
		"instance.group-id":           func(l Live) []string { return l.Groups },
		"key-name":                    text(func(l Live) string { return l.Data.KeyName }),
		"launch-time":                 text(func(l Live) string { return world.ImageTime(l.LaunchedAt) }),
		"network-interface.subnet-id": text(func(l Live) string { return l.Subnet }),
		"owner-id":                    text(func(Live) string { return s.Settings.ID }),
		"private-dns-name":            text(func(l Live) string { return s.instanceAnswer(l).PrivateDNS }),
		"private-ip-address":          text(func(l Live) string { return s.instanceAnswer(l).PrivateIP }),
		"reservation-id":              text(func(l Live) string { return l.Reservation }),
		"spot-instance-request-id":    text(func(l Live) string { return l.SpotRequest }),
		"subnet-id":                   text(func(l Live) string { return s.instanceAnswer(l).SubnetID }),
		"tenancy":                     text(func(l Live) string { return placementAnswer(l).Tenancy }),
		"vpc-id":                      text(func(l Live) string { return s.instanceAnswer(l).VPC }),
	}).Lacking("affinity", "boot-mode", "current-instance-boot-mode", "host-id", "ipv6-address", "kernel-id", "operator.principal", "outpost-arn", "product-code", "product-code.type", "ramdisk-id",
		"requester-id", "tpm-support")
}

// describeInstanceAttribute answers for the attributes that tools ask for.
func describeInstanceAttribute(c *call) (any, error) {
	found, err := c.server.visibleByID([]string{c.Params.String("InstanceId")}, c.At)
	if err != nil {
		return nil, err
	}
	l := found[0]
	type valueXML struct {
		Value string `xml:"value,omitempty"`
	}
	answer := struct {
		ID       string        `xml:"instanceId"`
		UserData *valueXML     `xml:"userData"`
		Type     *valueXML     `xml:"instanceType"`
		NoStop   *valueXML     `xml:"disableApiStop"`
		NoEnd    *valueXML     `xml:"disableApiTermination"`
		EBS      *valueXML     `xml:"ebsOptimized"`
		Shutdown *valueXML     `xml:"instanceInitiatedShutdownBehavior"`
		Root     *valueXML     `xml:"rootDeviceName"`
		Groups   []groupRefXML `xml:"groupSet>item"`
	}{ID: l.ID}
	shown := c.server.instanceAnswer(l)
	switch name := c.Params.String("Attribute"); name {
	case "userData":
		answer.UserData = &valueXML{l.Data.UserData}
	case "instanceType":
		answer.Type = &valueXML{l.Type}
	case "disableApiStop":
		answer.NoStop = &valueXML{"false"}
	case "disableApiTermination":
		answer.NoEnd = &valueXML{"false"}
	case "ebsOptimized":
		answer.EBS = &valueXML{world.BoolText(shown.EBS)}
	case "instanceInitiatedShutdownBehavior":
		answer.Shutdown = &valueXML{"stop"}
	case "rootDeviceName":
		answer.Root = &valueXML{shown.RootDevice}
	case "groupSet":
		answer.Groups = shown.Groups
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid. Unknown attribute.", name)
	}
	return answer, nil
}
