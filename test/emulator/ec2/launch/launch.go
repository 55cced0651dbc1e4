package launch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/ec2/image"
	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/placement"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
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
	reservation *reservation.Reservation // that it draws on; nil: on none
	placement   *placement.Group         // that it is launched into; nil: into none
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
func (s *Launcher) available(l launch) (int, *wire.Error) {
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
	ActionTag = "CreateTags"
)

// lackedBy is the action of those that there is no right to, empty where there is.
func (s *Launcher) lackedBy(l launch) string {
	switch {
	case s.Denies(actionRun):
		return actionRun
	case s.Denies(ActionTag) && len(l.data.Tags)+len(l.tags) > 0:
		return ActionTag
	}
	return ""
}

// reservedCapacity is how many instances the pool and the subnet have, quotas aside, and what EC2 says when
// that is too few.
func (s *Launcher) reservedCapacity(l launch) (int, *wire.Error) {
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
func (s *Launcher) mayLaunchSpot() bool {
	if s.Roles[identity.SpotRole] == nil && !s.Denies("CreateServiceLinkedRole") {
		roles, _ := identity.NewRoles(s.Settings, s.Now())
		s.Roles[identity.SpotRole] = roles[identity.SpotRole]
	}
	return s.Roles[identity.SpotRole] != nil
}

func (s *Launcher) bidTooLow(l launch) (float64, bool) {
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
func (s *Launcher) launch(l launch, n int, reservation string) ([]*instance.Instance, *wire.Error) {
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
	var made []*instance.Instance
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
func (s *Launcher) record(l launch, m market.Machine, reservation string, index int) *instance.Instance {
	i := &instance.Instance{
		ID: m.ID, Type: l.kind.Name, Zone: l.subnet.Zone, Spot: l.spot, Data: l.data,
		Origin: instance.Origin{
			Reservation: reservation, ClientToken: l.token, LaunchIndex: index, LaunchedAt: m.LaunchedAt.Truncate(time.Second), VisibleAt: m.VisibleAt, Fleet: l.fleet,
		},
		Connection: instance.Connection{Subnet: l.subnet.ID, Groups: l.groups},
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
func (s *Launcher) addSystemTags(i *instance.Instance, l launch) {
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
func (s *Launcher) addVolumes(i *instance.Instance, l launch, t world.Tags) {
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

func (s *Launcher) newVolume(d template.DeviceMapping, img *image.Image, t world.Tags) instance.Volume {
	e := d.EBS
	v := instance.Volume{
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
func (s *Launcher) addInterfaces(i *instance.Instance, l launch, t world.Tags) {
	specs := l.data.Interfaces
	if len(specs) == 0 {
		specs = []template.InterfaceSpec{{Groups: l.groups}}
	}
	for _, spec := range specs {
		n := instance.NetInterface{
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

func (s *Launcher) address(i *instance.Instance, sub *network.Subnet, n *instance.NetInterface, spec template.InterfaceSpec) {
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
		i.PublicIP = instance.PublicAddress(a)
	}
}

// withinQuota is how many instances of the launch the account's quota still allows, and
// what EC2 says when that is too few. The lock is held.
func (s *Launcher) withinQuota(l launch) (int, *wire.Error) {
	q, counted := world.QuotaFor(l.kind.Name, l.spot)
	most, limited := s.Quotas[q.Code]
	if !counted || !limited || l.reservation != nil {
		return math.MaxInt, nil // its reservation counts already, or has another limit
	}
	left := max(0, most-s.Used(q)) / max(1, reservation.VCPUsOf(l.kind))
	if l.spot {
		return left, wire.Errorf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	}
	return left, wire.Errorf("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", most)
}
