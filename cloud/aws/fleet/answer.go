package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/instance"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// answer is what EC2 said to a fleet.
type answer struct {
	instances []cloud.Instance // sorted by ID
	subnets   []string         // of each instance
	refusals  []refusal
}

// refusal is why one combination brought nothing. Kind is empty when EC2 does
// not say which.
type refusal struct {
	kind, zone, subnet string
	code, message      string
}

func read(o order, out *ec2.CreateFleetOutput, now time.Time, tags map[string]string) answer {
	a := answer{}
	for _, i := range out.Instances {
		subnet := placeOf(o, i)
		choice := o.choiceOf(string(i.InstanceType), subnet.Zone)
		m := cloud.Instance{
			Kind: string(i.InstanceType), Zone: subnet.Zone, ZoneID: subnet.ZoneID, Option: o.offerings[0].Option,
			ReservedCapacity: choice.ReservedCapacity, Partition: choice.Partition, Dedicated: choice.Dedicated,
			Image: o.images[string(i.InstanceType)], Class: tags[nodeclass.TagClass], Batch: tags[nodeclass.TagBatch],
			State: cloud.Pending, LaunchedAt: now.UTC(),
		}
		if o.placement != nil {
			m.Placement = o.placement.ID
		}
		for _, id := range i.InstanceIds {
			m.ID, m.ProviderID, m.Tags = id, instance.ProviderID(m.Zone, id), maps.Clone(tags)
			a.instances = append(a.instances, m)
			a.subnets = append(a.subnets, subnet.ID)
		}
	}
	slices.SortFunc(a.instances, func(x, y cloud.Instance) int { return cmp.Compare(x.ID, y.ID) })
	for _, e := range out.Errors {
		a.refusals = append(a.refusals, refusalOf(o, e))
	}
	return a
}

// placeOf returns the subnet of an instance.
func placeOf(o order, i types.CreateFleetInstance) nodeclass.Subnet {
	id, zone := aws.ToString(i.SubnetId), aws.ToString(i.AvailabilityZone)
	if l := i.LaunchTemplateAndOverrides; l != nil && l.Overrides != nil {
		id = cmp.Or(id, aws.ToString(l.Overrides.SubnetId))
		zone = cmp.Or(zone, aws.ToString(l.Overrides.AvailabilityZone))
	}
	return subnetOf(o, id, zone)
}

func subnetOf(o order, id, zone string) nodeclass.Subnet {
	for _, s := range o.subnets {
		if id != "" && s.ID == id || id == "" && s.Zone == zone {
			return s
		}
	}
	return nodeclass.Subnet{ID: id, Zone: zone}
}

func refusalOf(o order, e types.CreateFleetError) refusal {
	r := refusal{code: aws.ToString(e.ErrorCode), message: aws.ToString(e.ErrorMessage)}
	if l := e.LaunchTemplateAndOverrides; l != nil && l.Overrides != nil {
		s := subnetOf(o, aws.ToString(l.Overrides.SubnetId), aws.ToString(l.Overrides.AvailabilityZone))
		r.kind, r.zone, r.subnet = string(l.Overrides.InstanceType), s.Zone, s.ID
	}
	return r
}

// concerns reports whether the refusal is about an offering.
func (r refusal) concerns(o cloud.OfferingChoice) bool {
	return (r.kind == "" || r.kind == o.Kind) && (r.zone == "" || r.zone == o.Zone)
}

// taken is how many addresses the instances take, by subnet.
func (a answer) taken(each int64) map[string]int64 {
	out := map[string]int64{}
	for _, id := range a.subnets {
		out[id] += max(1, each)
	}
	return out
}

// outcome is nil when all instances were had; else it says why not. EC2's
// answer is final for its token, so even trouble that may pass is a refusal:
// another attempt may have better luck, a repetition never.
func (a answer) outcome(r Request, o order) error {
	if len(a.instances) >= r.Launch.Count {
		return nil
	}
	if len(a.refusals) == 0 {
		return &cloud.NoCapacityError{Offerings: o.offerings, Cause: "EC2 launched too few instances and gave no reason", Answered: true}
	}
	if short := a.short(o); len(short) > 0 {
		first := a.refusals[slices.IndexFunc(a.refusals, o.calledShort)]
		return &cloud.NoCapacityError{Offerings: short, Answered: true,
			Cause: fault.Advise(fault.Reason(first.code, first.message), a.cause(o.calledShort))}
	}
	first := a.refusals[0]
	reason := fault.Reason(first.code, first.message)
	return &cloud.RefusedError{Reason: reason, Cause: fault.Advise(reason, a.cause(func(refusal) bool { return true }))}
}

// short lists the offerings that EC2 calls short, in the order asked.
func (a answer) short(o order) []cloud.OfferingChoice {
	var out []cloud.OfferingChoice
	for _, offering := range o.offerings {
		if slices.ContainsFunc(a.refusals, func(r refusal) bool { return o.calledShort(r) && r.concerns(offering) }) {
			out = append(out, offering)
		}
	}
	return out
}

// calledShort reports whether EC2 says that something cannot be had now, be it in the
// placement group alone.
func (o order) calledShort(r refusal) bool {
	return fault.Short(r.code) || o.placement != nil && fault.OfPlacement(r.code, r.message)
}

// cause joins what EC2 said, each sentence once.
func (a answer) cause(which func(refusal) bool) string {
	var words []string
	for _, r := range a.refusals {
		if text := r.code + ": " + r.message; which(r) && !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(words) > 3 {
		words = append(words[:3], "and more")
	}
	return strings.Join(words, "; ")
}

// remember keeps in mind what was short.
func (b *Launcher) remember(o order, a answer) {
	for _, m := range a.instances {
		b.Shortage.Had(m.Kind, m.Zone, m.Option, o.placement.Place(m.Partition, m.Dedicated))
	}
	for _, r := range a.refusals {
		switch {
		case fault.NoSpotRole(r.code):
			b.Shortage.AddOption(cluster.Spot)
		case o.calledShort(r):
			b.recordShort(o, r)
		}
	}
	if len(a.instances) == 0 && len(a.refusals) == 0 {
		b.recordShort(o, refusal{})
	}
}

// recordShort keeps in mind the offerings that a refusal is about. A limit of the account
// is not one of the offering: whatever is as large, and counts against the same limit,
// would be refused too, and no family is the worse for it.
func (b *Launcher) recordShort(o order, r refusal) {
	if fault.NoAddresses(r.code) {
		b.recordFull(o, r)
		return
	}
	for _, offering := range o.offerings {
		if !r.concerns(offering) {
			continue
		}
		if offering.ReservedCapacity != "" && fault.OfReservation(r.code) {
			b.Reserved.Full(offering.ReservedCapacity) // others of its type and zone may have room
			continue
		}
		if fault.OverQuota(r.code) && offering.Option != cluster.Reserved { // what is reserved is held to other limits
			setup := o.setups[offering.Kind]
			b.Shortage.AddQuota(setup.Quota.By(offering.Option), setup.CPUs, offering.Option)
			continue
		}
		if offering.ReservedCapacity != "" {
			b.Shortage.AddReservation(offering.ReservedCapacity)
			continue
		}
		b.Shortage.AddOffering(offering.Kind, offering.Zone, offering.Option, o.placement.Place(offering.Partition, offering.Dedicated))
	}
}

// recordFull keeps in mind the subnets that a refusal is about: all that were asked for
// where EC2 does not say which.
func (b *Launcher) recordFull(o order, r refusal) {
	if r.subnet != "" {
		b.Shortage.AddSubnet(r.subnet)
		return
	}
	for _, s := range o.subnets {
		b.Shortage.AddSubnet(s.ID)
	}
}

// reservedCapacities are the reservations that the order may draw on, and the zones of its
// placement group where that counts.
func (o order) reservedCapacities() []string {
	var out []string
	for _, offering := range o.offerings {
		out = append(out, o.reservedCapacitiesOf(offering.ReservedCapacity, offering.Zone)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reservedCapacitiesOf is what an instance from the reservation in the zone is counted under.
func (o order) reservedCapacitiesOf(reservedCapacity, zone string) []string {
	var out []string
	if reservedCapacity != "" {
		out = append(out, reservedCapacity)
	}
	if o.placement.Counts() {
		out = append(out, o.placement.ReservedCapacity(zone))
	}
	return out
}

// choiceOf is the choice that instances of a type in a zone come from.
func (o order) choiceOf(kind, zone string) cloud.OfferingChoice {
	for _, offering := range o.offerings {
		if offering.Kind == kind && offering.Zone == zone {
			return offering
		}
	}
	return cloud.OfferingChoice{}
}

// fromReservedCapacities is how many instances are counted under each name.
func (a answer) fromReservedCapacities(o order) map[string]int64 {
	out := map[string]int64{}
	for _, m := range a.instances {
		for _, name := range o.reservedCapacitiesOf(m.ReservedCapacity, m.Zone) {
			out[name]++
		}
	}
	return out
}

// resolveZone keeps in mind that a cluster group is in the zone of the instances that
// it has.
func (b *Launcher) resolveZone(r Request, o order, a answer) {
	if o.placement == nil || o.placement.Strategy != nodeclass.Cluster || len(a.instances) == 0 {
		return
	}
	closed := map[string]int64{}
	for _, s := range r.Class.Resolved.Subnets {
		if s.Zone != a.instances[0].Zone {
			closed[o.placement.ReservedCapacity(s.Zone)] = 0
		}
	}
	b.Reserved.Saw(closed)
}
