package emulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/ec2/image"
	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// launch is a resolved preference for instances of one type in one subnet.
type launch struct {
	data        template.LaunchData
	kind        *ec2data.Type
	subnet      *network.Subnet
	image       *image.Image
	profile     *identity.Profile
	groups      []string
	spot        bool
	reservation *capacityReservation // that it draws on; nil: on none
	placement   *placementGroup      // that it is launched into; nil: into none
	template    *template.Template
	version     int
	fleet       string
	tags        []world.TagSpecification // of the request, beside the template's
	token       string
	priority    float64
	who         world.Principal // whose rights count
}

func (l launch) pool() market.Pool {
	p := market.Pool{Kind: l.kind.Name, Zone: l.subnet.Zone.Name, Option: market.OnDemand}
	switch {
	case l.spot:
		p.Option = market.Spot
	case l.reservation != nil:
		p.Option = market.Reservation(l.reservation.ID)
	}
	return p
}

// market is the market that a launch launches on, among those of reservations; empty for the
// others.
func (l launch) market() string { return l.data.ReservedMarket() }

// resolve checks launch data against the account, as EC2 does for every
// combination of its own.
func (s *Server) resolve(d template.LaunchData, spot bool, now time.Time) (launch, error) {
	l := launch{data: d, spot: spot}
	kind, known := s.Data.Type(d.InstanceType)
	if !known {
		return l, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", d.InstanceType)
	}
	l.kind = kind
	for _, step := range []func(*launch, time.Time) error{s.resolveSubnet, s.resolveImage, s.resolveProfile, s.resolveGroups, s.resolveTenancy, s.resolvePlacement, s.resolveIsolation} {
		if err := step(&l, now); err != nil {
			return l, err
		}
	}
	if err := d.Check(); err != nil {
		return l, err
	}
	if err := d.CheckPublic(); err != nil {
		return l, err
	}
	if err := s.chooseReservation(&l, now); err != nil {
		return l, err
	}
	if !spot && len(world.TagsFor(d.Tags, "spot-instances-request")) > 0 {
		return l, wire.Errorf("InvalidParameterValue", "You cannot specify tags for Spot instances requests if there are no Spot instances requests being created by the request.")
	}
	return l, world.CheckTagCount(world.TagsFor(d.Tags, "instance"))
}

// dedicated reports whether the instances get hardware that runs those of one account alone.
func (l launch) dedicated() bool {
	return l.data.Placement != nil && l.data.Placement.Tenancy == tenancyDedicated
}

// tenancies are those that a launch may ask for.
var tenancies = []string{"", tenancyDefault, tenancyDedicated}

const (
	tenancyDefault   = "default"
	tenancyDedicated = "dedicated"
)

// resolveTenancy refuses what is no tenancy, and hosts: the account has none.
func (s *Server) resolveTenancy(l *launch, _ time.Time) error {
	switch p := l.data.Placement; {
	case p == nil || slices.Contains(tenancies, p.Tenancy):
		return nil
	case p.Tenancy == "host":
		return wire.Errorf("InsufficientHostCapacity", "There is insufficient capacity on your Dedicated Hosts to complete this launch.")
	default:
		return wire.Errorf("InvalidParameterValue", "Invalid value '%s' for tenancy.", p.Tenancy)
	}
}

// resolveSubnet finds the subnet named, or one in the zone named, or any.
func (s *Server) resolveSubnet(l *launch, _ time.Time) error {
	id, zoneName := l.data.SubnetID, l.data.Zone
	for _, i := range l.data.Interfaces {
		id = cmp.Or(id, i.SubnetID)
	}
	if l.data.Placement != nil {
		zoneName = cmp.Or(zoneName, l.data.Placement.Zone)
	}
	if id == "" {
		i := slices.IndexFunc(s.Subnets, func(sub *network.Subnet) bool {
			return sub.VPC == s.ClusterVPC().ID && (zoneName == "" || sub.Zone.Name == zoneName)
		})
		if i < 0 {
			return wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", zoneName)
		}
		id = s.Subnets[i].ID
	}
	sub, err := s.Subnet(id)
	if err != nil {
		return err
	}
	if zoneName != "" && zoneName != sub.Zone.Name {
		return wire.Errorf("InvalidParameterValue", "The specified subnet '%s' is not in the availability zone '%s'", id, zoneName)
	}
	l.subnet, l.data.Hostnames = sub, l.data.Hostnames.Over(&sub.Hostnames)
	if !slices.Contains(l.kind.OfferedZones(s.Settings.Region), sub.Zone.Name) {
		return wire.Errorf("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", l.kind.Name, sub.Zone.Name)
	}
	return nil
}

func (s *Server) resolveImage(l *launch, _ time.Time) error {
	if l.data.ImageID == "" {
		return wire.Errorf("MissingParameter", "The request must contain the parameter ImageId")
	}
	img, err := s.Image(l.data.ImageID)
	if err != nil {
		return err
	}
	if !slices.Contains(l.kind.Architectures, img.Architecture) {
		return wire.Errorf("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.",
			strings.Join(l.kind.Architectures, ","), img.Architecture)
	}
	l.image = img
	return nil
}

// resolveProfile fails for a profile that IAM made a moment ago.
func (s *Server) resolveProfile(l *launch, now time.Time) error {
	ref := l.data.Profile
	if ref == nil || ref.Name == "" && ref.ARN == "" {
		return nil
	}
	name, field := ref.Name, "name"
	if name == "" {
		name, field = ref.ARN[strings.LastIndex(ref.ARN, "/")+1:], "arn"
	}
	p := s.Profiles[name]
	if p == nil || p.UsableAt.After(now) {
		return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.%s is invalid. Invalid IAM Instance Profile %s",
			cmp.Or(ref.Name, ref.ARN), field, map[string]string{"name": "name", "arn": "ARN"}[field])
	}
	if p.Role == "" {
		return wire.Errorf("InvalidParameterValue", "IAM Instance Profile \"%s\" has no associated IAM Roles", s.ProfileARN(p))
	}
	l.profile = p
	return nil
}

func (s *Server) resolveGroups(l *launch, _ time.Time) error {
	ids := slices.Clone(l.data.GroupIDs)
	for _, i := range l.data.Interfaces {
		ids = append(ids, i.Groups...)
	}
	for _, name := range l.data.GroupNames {
		i := slices.IndexFunc(s.Groups, func(g *network.SecurityGroup) bool { return g.Name == name && g.VPC == l.subnet.VPC })
		if i < 0 {
			return wire.Errorf("InvalidGroup.NotFound", "The security group '%s' does not exist", name)
		}
		ids = append(ids, s.Groups[i].ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		g, err := s.Group(id)
		if err != nil {
			return err
		}
		if g.VPC != l.subnet.VPC {
			return wire.Errorf("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, l.subnet.ID)
		}
	}
	if len(ids) == 0 {
		i := slices.IndexFunc(s.Groups, func(g *network.SecurityGroup) bool { return g.Name == "default" && g.VPC == l.subnet.VPC })
		ids = []string{s.Groups[i].ID}
	}
	l.groups = ids
	return nil
}

// addressesEach is how many addresses one instance takes from its subnet.
func (l launch) addressesEach() int {
	n := 0
	for _, i := range l.data.Interfaces {
		if i.Type != "efa-only" {
			n += 1 + i.SecondaryCount + network.BlockSize*i.PrefixCount
		}
	}
	return max(n, 1)
}

// prefixesEach is how many blocks one instance takes.
func (l launch) prefixesEach() (n int) {
	for _, i := range l.data.Interfaces {
		n += i.PrefixCount
	}
	return n
}

// available is how many instances the pool and the subnet have, and what EC2
// says when that is too few.
func (s *Server) available(l launch) (int, *wire.Error) {
	p := l.pool()
	if action := s.lackedBy(l); action != "" {
		return 0, s.Unauthorized(s.Settings, action, s.Settings.ARN("ec2", s.Settings.Region, "instance/*"))
	}
	if err := s.Authorize(l.who, wire.EC2, s.ofLaunch(l)); err != nil {
		return 0, world.AsError(err)
	}
	if refused := s.RefusedIn(p); refused != nil {
		return 0, refused
	}
	if !s.Market().Offers(p) {
		return 0, wire.Errorf("UnfulfillableCapacity", "Unable to fulfill capacity due to your request configuration. %s is not offered.", p)
	}
	if l.spot && !s.mayLaunchSpot() {
		return 0, wire.Errorf("AuthFailure.ServiceLinkedRoleCreationNotPermitted", "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.")
	}
	if usd, low := s.bidTooLow(l); low {
		return 0, wire.Errorf("SpotMaxPriceTooLow", "Your Spot request price of %s is lower than the minimum required Spot request fulfillment price of %.4f.", l.data.MaxPrice, usd)
	}
	there, short := s.reservedCapacity(l)
	if allowed, over := s.withinQuota(l); allowed < there {
		return allowed, over
	}
	return there, short
}

// The actions that launches need a right to beside that of the call: fleets launch in the caller's name, and tags on
// what is launched are tags that the caller makes.
const (
	actionRun = "RunInstances"
	actionTag = "CreateTags"
)

// lackedBy is the action of those that there is no right to, empty where there is.
func (s *Server) lackedBy(l launch) string {
	switch {
	case s.Denies(actionRun):
		return actionRun
	case s.Denies(actionTag) && len(l.data.Tags)+len(l.tags) > 0:
		return actionTag
	}
	return ""
}

// reservedCapacity is how many instances the pool and the subnet have, quotas aside, and what EC2 says when
// that is too few.
func (s *Server) reservedCapacity(l launch) (int, *wire.Error) {
	room := l.subnet.Free() / l.addressesEach()
	if prefixes := l.prefixesEach(); prefixes > 0 {
		room = min(room, l.subnet.FreeBlocks()/prefixes)
	}
	left := max(s.Market().Capacity(l.pool()), 0)
	if grouped, why, limited := s.placementRoom(l); limited && grouped < min(left, room) {
		return grouped, why
	}
	if left <= room && l.reservation != nil {
		return left, wire.Errorf("ReservationCapacityExceeded", "The capacity reservation '%s' does not have sufficient available capacity: %d of %d instances are free.",
			l.reservation.ID, left, l.reservation.Total)
	}
	if left <= room {
		return left, wire.Errorf("InsufficientInstanceCapacity",
			"We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity. You can currently get %s capacity by not specifying an Availability Zone in your request.",
			l.kind.Name, l.subnet.Zone.Name, l.kind.Name)
	}
	return room, wire.Errorf("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", l.subnet.ID)
}

// mayLaunchSpot reports whether the service-linked role for spot instances is there; where it is not, EC2 makes it with
// the caller's rights.
func (s *Server) mayLaunchSpot() bool {
	if s.Roles[identity.SpotRole] == nil && !s.Denies("CreateServiceLinkedRole") {
		roles, _ := identity.NewRoles(s.Settings, s.Now())
		s.Roles[identity.SpotRole] = roles[identity.SpotRole]
	}
	return s.Roles[identity.SpotRole] != nil
}

func (s *Server) bidTooLow(l launch) (float64, bool) {
	if !l.spot || l.data.MaxPrice == "" {
		return 0, false
	}
	var bid float64
	if _, err := fmt.Sscan(l.data.MaxPrice, &bid); err != nil {
		return 0, false
	}
	usd := s.Market().PriceUSD(l.pool(), s.Now())
	return usd, bid < usd
}

// launch launches up to n instances and returns those it got, and why they are
// fewer. The lock is held.
func (s *Server) launch(l launch, n int, reservation string) ([]*instance, *wire.Error) {
	there, why := s.available(l)
	count := min(n, there)
	if count == 0 {
		return nil, why
	}
	order := market.Order{Pool: l.pool(), Count: count}
	if l.dedicated() && !l.spot && l.reservation == nil {
		order.MoreExpensive = world.DedicatedSurcharge
	}
	machines, err := s.Market().Launch(order)
	if short, ok := errors.AsType[*market.ShortageError](err); ok {
		return nil, wire.Errorf("InsufficientInstanceCapacity", "%s", short.Error())
	}
	if err != nil {
		return nil, world.AsError(err)
	}
	var made []*instance
	for index, m := range machines {
		made = append(made, s.record(l, m, reservation, index))
	}
	if count == n {
		return made, nil
	}
	if l.reservation != nil && !l.reservedOnly() {
		l.reservation = nil // what an open reservation has no room for runs beside it
		more, why := s.launch(l, n-count, reservation)
		return append(made, more...), why
	}
	return made, why
}

// record writes AWS's side of an instance that was launched.
func (s *Server) record(l launch, m market.Machine, reservation string, index int) *instance {
	i := &instance{
		ID: m.ID, Type: l.kind.Name, Zone: l.subnet.Zone, Subnet: l.subnet.ID, Spot: l.spot, Reservation: reservation, ClientToken: l.token,
		LaunchIndex: index, LaunchedAt: m.LaunchedAt.Truncate(time.Second), VisibleAt: m.VisibleAt, Groups: l.groups, Data: l.data, Fleet: l.fleet,
	}
	specs := slices.Concat(l.data.Tags, l.tags)
	i.Tags = world.TagsFor(specs, "instance")
	if l.spot {
		i.SpotRequest, i.SpotTags = s.NewID("sir"), world.TagsFor(specs, "spot-instances-request")
	}
	if l.reservation != nil {
		i.InReservation, i.CountedAfter = l.reservation.ID, s.ReservationLag()
	}
	s.putInto(i, l)
	if p := l.profile; p != nil {
		i.Profile, i.ProfileARN, i.ProfileID = p.Name, s.ProfileARN(p), p.ID
	}
	s.addSystemTags(i, l)
	s.addVolumes(i, l, world.TagsFor(specs, "volume"))
	s.addInterfaces(i, l, world.TagsFor(specs, "network-interface"))
	s.Records[i.ID] = i
	return i
}

// addSystemTags puts the tags there that EC2 itself adds.
func (s *Server) addSystemTags(i *instance, l launch) {
	if l.template != nil {
		i.Template, i.Version = l.template.ID, l.version
		i.Tags = i.Tags.WithAll(world.TagsFrom(map[string]string{
			"aws:ec2launchtemplate:id": l.template.ID, "aws:ec2launchtemplate:version": fmt.Sprint(l.version),
		}))
	}
	if l.fleet != "" {
		i.Tags = i.Tags.With(world.Tag{Key: "aws:ec2:fleet-id", Value: l.fleet})
	}
}

// addVolumes lays the request's devices over the image's.
func (s *Server) addVolumes(i *instance, l launch, t world.Tags) {
	var under []template.DeviceMapping
	for _, d := range l.image.Devices {
		under = append(under, template.DeviceMapping{Name: d.Name, EBS: &template.EBSSpec{SizeGiB: d.SizeGiB, Type: d.Type, Snapshot: d.Snapshot}})
	}
	for _, d := range template.MergeDevices(under, l.data.Devices) {
		if d.EBS == nil || d.NoDevice != "" {
			continue
		}
		i.Volumes = append(i.Volumes, s.newVolume(d, l.image, t))
	}
}

func (s *Server) newVolume(d template.DeviceMapping, img *image.Image, t world.Tags) volume {
	e := d.EBS
	v := volume{
		ID: s.NewID("vol"), Device: d.Name, Type: cmp.Or(e.Type, "gp2"), Snapshot: e.Snapshot, KMSKey: e.KMSKey, SizeGiB: e.SizeGiB,
		IOPS: e.IOPS, Throughput: e.Throughput, InitializationRate: e.InitializationRate, Encrypted: e.Encrypted != nil && *e.Encrypted, Tags: t,
		DeleteOnTermination: e.DeleteOnTermination == nil || *e.DeleteOnTermination,
	}
	if k := slices.IndexFunc(img.Devices, func(x image.ImageDevice) bool { return x.Name == d.Name }); k >= 0 {
		v.Snapshot = cmp.Or(v.Snapshot, img.Devices[k].Snapshot)
		v.SizeGiB = cmp.Or(v.SizeGiB, img.Devices[k].SizeGiB)
	}
	if v.Type == "gp3" {
		v.IOPS, v.Throughput = cmp.Or(v.IOPS, 3000), cmp.Or(v.Throughput, 125)
	}
	return v
}

// addInterfaces gives the instance its interfaces and addresses; a launch
// that names no interfaces gets one.
func (s *Server) addInterfaces(i *instance, l launch, t world.Tags) {
	specs := l.data.Interfaces
	if len(specs) == 0 {
		specs = []template.InterfaceSpec{{Groups: l.groups}}
	}
	for _, spec := range specs {
		n := netInterface{
			ID: s.NewID("eni"), Attachment: s.NewID("eni-attach"), Type: cmp.Or(spec.Type, "interface"),
			DeviceIndex: spec.DeviceIndex, Card: spec.Card, Groups: spec.Groups, Tags: t, Description: spec.Description, Tracking: spec.Tracking,
		}
		if len(n.Groups) == 0 {
			n.Groups = l.groups
		}
		if spec.Type != "efa-only" {
			s.address(i, l.subnet, &n, spec)
		}
		i.Interfaces = append(i.Interfaces, n)
	}
}

func (s *Server) address(i *instance, sub *network.Subnet, n *netInterface, spec template.InterfaceSpec) {
	a, ok := sub.Take(i.ID)
	if !ok {
		return // available has counted before; only a race of its own would get here
	}
	for range spec.SecondaryCount {
		if further, ok := sub.Take(i.ID); ok {
			n.Secondary = append(n.Secondary, further.String())
		}
	}
	for range spec.PrefixCount {
		if block, ok := sub.TakeBlock(i.ID); ok {
			n.Prefixes = append(n.Prefixes, block.String())
		}
	}
	b := a.As4()
	n.Address, n.MAC = a.String(), fmt.Sprintf("0a:ff:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
	if i.Address != "" {
		return
	}
	i.Address = n.Address
	if spec.PublicIP != nil && *spec.PublicIP || spec.PublicIP == nil && sub.Public {
		i.PublicIP = publicAddress(a)
	}
}
