package launch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/ec2/placement"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// resolver settles step by step what a launch comes to in the account.
type resolver struct{ *Launcher }

// resolve checks launch data against the account, as EC2 does for every
// combination of its own.
func (s *Launcher) resolve(d template.LaunchData, spot bool, now time.Time) (launch, error) {
	l := launch{data: d, spot: spot}
	kind, known := s.Data.Type(d.InstanceType)
	if !known {
		return l, wire.Errorf("InvalidParameterValue", "Invalid value '%s' for InstanceType.", d.InstanceType)
	}
	l.kind = kind
	r := resolver{s}
	for _, step := range []func(*launch, time.Time) error{
		r.resolveSubnet, r.resolveImage, r.resolveProfile, r.resolveGroups, r.resolveTenancy, r.resolvePlacement, r.resolveIsolation,
	} {
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
	if err := r.chooseReservation(&l, now); err != nil {
		return l, err
	}
	if !spot && len(world.TagsFor(d.Tags, "spot-instances-request")) > 0 {
		return l, wire.Errorf("InvalidParameterValue", "You cannot specify tags for Spot instances requests if there are no Spot instances requests being created by the request.")
	}
	return l, world.CheckTagCount(world.TagsFor(d.Tags, "instance"))
}

// dedicated reports whether the instances get hardware that runs those of one account alone.
func (l launch) dedicated() bool {
	return l.data.Placement != nil && l.data.Placement.Tenancy == reservation.TenancyDedicated
}

// tenancies are those that a launch may ask for.
var tenancies = []string{"", reservation.TenancyDefault, reservation.TenancyDedicated}

// resolveTenancy refuses what is no tenancy, and hosts: the account has none.
func (s resolver) resolveTenancy(l *launch, _ time.Time) error {
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
func (s resolver) resolveSubnet(l *launch, _ time.Time) error {
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

func (s resolver) resolveImage(l *launch, _ time.Time) error {
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
func (s resolver) resolveProfile(l *launch, now time.Time) error {
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

func (s resolver) resolveGroups(l *launch, _ time.Time) error {
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

// resolveIsolation refuses enclaves and processor features that the type does not have.
func (s resolver) resolveIsolation(l *launch, _ time.Time) error {
	if e := l.data.Enclave; e != nil && e.Enabled && !l.kind.Enclaves() {
		return wire.Errorf("InvalidParameterCombination", "The instance type '%s' does not support Nitro Enclaves.", l.kind.Name)
	}
	for _, f := range l.data.CPU.Features() {
		if f.Value == "enabled" && !slices.Contains(l.kind.ProcessorFeatures(), f.Feature) {
			return wire.Errorf("InvalidParameterCombination", "The instance type '%s' does not have the processor feature %s, which cpuOptions.%s enables.",
				l.kind.Name, f.Feature, f.Parameter)
		}
	}
	return nil
}

// chooseReservation settles which reservation a launch draws on, by what it
// says of reservations: a named one, any open one that matches, or none.
func (s resolver) chooseReservation(l *launch, now time.Time) error {
	s.ReturnReclaimed(now)
	spec := l.data.Reservation
	if spec == nil {
		spec = &template.ReservationSpec{Preference: reservation.MatchOpen}
	}
	if l.spot || spec.Preference == "none" {
		return nil
	}
	if spec.Target != nil && spec.Target.ID != "" {
		r, err := s.Reservation(spec.Target.ID)
		if err != nil {
			return err
		}
		if s.Denies(faults.OnReservations) || s.Denies(faults.OnReservation(r.ID)) {
			return s.Unauthorized(s.Settings, "RunInstances", s.ReservationARN(r))
		}
		if state := r.State(now); state != "active" {
			return wire.Errorf("InvalidCapacityReservationState", "The capacity reservation '%s' is %s.", r.ID, state)
		}
		if r.Type != l.kind.Name || r.Zone.Name != l.subnet.Zone.Name {
			return wire.Errorf("InvalidParameterValue", "The attributes of the instance (%s in %s) do not match those of capacity reservation '%s' (%s in %s).",
				l.kind.Name, l.subnet.Zone.Name, r.ID, r.Type, r.Zone.Name)
		}
		if l.dedicated() != r.Dedicated {
			return wire.Errorf("InvalidParameterCombination", "The tenancy of the instance does not match that of capacity reservation '%s'.", r.ID)
		}
		if r.Placement != l.placed() {
			return wire.Errorf("InvalidParameterCombination", "The placement group of the instance does not match that of capacity reservation '%s'.", r.ID)
		}
		if r.Market() != l.market() {
			return wire.Errorf("InvalidParameterCombination", "The market type of capacity reservation '%s' is '%s', and that of the request is '%s'.", r.ID, r.Market(), l.market())
		}
		l.reservation = r
		return nil
	}
	for _, r := range s.SortedReservations() {
		if l.dedicated() == r.Dedicated && r.Criteria == reservation.MatchOpen && r.Market() == l.market() && r.State(now) == "active" && r.Type == l.kind.Name && r.Zone.Name == l.subnet.Zone.Name && r.Placement == l.placed() && s.Market().Capacity(r.Pool()) > 0 {
			l.reservation = r
			return nil
		}
	}
	if l.reservedOnly() {
		return wire.Errorf("ReservationCapacityExceeded", "There is no open capacity reservation with room for a %s in %s.", l.kind.Name, l.subnet.Zone.Name)
	}
	return nil
}

// placed is the placement group that a launch goes into; empty: into none.
func (l launch) placed() string {
	if l.placement == nil {
		return ""
	}
	return l.placement.ID
}

// reservedOnly reports whether the launch may run in a reservation alone.
func (l launch) reservedOnly() bool {
	spec := l.data.Reservation
	return spec != nil && (spec.Preference == "capacity-reservations-only" || spec.Target != nil)
}

// resolvePlacement finds the group that a launch names, and refuses what it cannot
// hold.
func (s resolver) resolvePlacement(l *launch, now time.Time) error {
	p := l.data.Placement
	if p == nil || p.GroupID == "" && p.GroupName == "" {
		if p != nil && p.Partition != 0 {
			return wire.Errorf("InvalidParameterCombination", "The parameter PartitionNumber requires a placement group.")
		}
		return nil
	}
	g, err := s.PlacementNamed(p.GroupID, p.GroupName)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains(l.kind.PlacementGroups, g.Strategy):
		return wire.Errorf("InvalidParameterCombination", "%s placement groups are not supported by the '%s' instance type. Specify a supported instance type or change the placement group strategy, and try again.",
			g.Strategy, l.kind.Name)
	case g.Strategy == placement.StrategySpread && l.dedicated():
		return wire.Errorf("InvalidParameterCombination", "Spread placement groups are not supported for Dedicated Instances.")
	case g.Strategy == placement.StrategyPartition && l.dedicated() && g.Partitions > placement.PartitionsDedicated:
		return wire.Errorf("InvalidParameterCombination", "A partition placement group with Dedicated Instances can have a maximum of %d partitions.", placement.PartitionsDedicated)
	case p.Partition != 0 && g.Strategy != placement.StrategyPartition:
		return wire.Errorf("InvalidParameterCombination", "The parameter PartitionNumber may only be used with placement groups that have the partition strategy.")
	case p.Partition < 0 || p.Partition > g.Partitions:
		return wire.Errorf("InvalidParameterValue", "Value (%d) for parameter PartitionNumber is invalid. The placement group '%s' has %d partitions.", p.Partition, g.Name, g.Partitions)
	}
	if zone := s.ClusterZone(g, now); zone != "" && zone != l.subnet.Zone.Name {
		return wire.Errorf("InvalidParameterCombination", "Instances in the placement group '%s' must be launched in the %s Availability Zone. Specify the %s Availability Zone and try again.",
			g.Name, zone, zone)
	}
	l.placement = g
	return nil
}
