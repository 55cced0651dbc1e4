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
	machines []cloud.Machine // sorted by ID
	subnets  []string        // of each machine
	refusals []refusal
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
		m := cloud.Machine{
			Kind: string(i.InstanceType), Zone: subnet.Zone, ZoneID: subnet.ZoneID, Option: o.offers[0].Option,
			Stock: o.stockOf(string(i.InstanceType), subnet.Zone),
			Image: o.images[string(i.InstanceType)], Class: tags[nodeclass.TagClass], Batch: tags[nodeclass.TagBatch],
			State: cloud.Pending, LaunchedAt: now.UTC(),
		}
		for _, id := range i.InstanceIds {
			m.ID, m.ProviderID, m.Tags = id, instance.ProviderID(m.Zone, id), maps.Clone(tags)
			a.machines = append(a.machines, m)
			a.subnets = append(a.subnets, subnet.ID)
		}
	}
	slices.SortFunc(a.machines, func(x, y cloud.Machine) int { return cmp.Compare(x.ID, y.ID) })
	for _, e := range out.Errors {
		a.refusals = append(a.refusals, refusalOf(o, e))
	}
	return a
}

// placeOf returns the subnet of a machine.
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

// concerns reports whether the refusal is about an offer.
func (r refusal) concerns(o cloud.OfferChoice) bool {
	return (r.kind == "" || r.kind == o.Kind) && (r.zone == "" || r.zone == o.Zone)
}

// taken is how many addresses the machines take, by subnet.
func (a answer) taken(each int64) map[string]int64 {
	out := map[string]int64{}
	for _, id := range a.subnets {
		out[id] += max(1, each)
	}
	return out
}

// outcome is nil when all machines were had; else it says why not. EC2's
// answer is final for its token, so even trouble that may pass is a refusal:
// another attempt may have better luck, a repetition never.
func (a answer) outcome(r Request, o order) error {
	if len(a.machines) >= r.Launch.Count {
		return nil
	}
	if len(a.refusals) == 0 {
		return &cloud.NoCapacityError{Offers: o.offers, Cause: "EC2 delivered too few machines and gave no reason", Answered: true}
	}
	if short := a.short(o.offers); len(short) > 0 {
		first := a.refusals[slices.IndexFunc(a.refusals, func(r refusal) bool { return fault.Short(r.code) })]
		return &cloud.NoCapacityError{Offers: short, Answered: true,
			Cause: fault.Advise(fault.Reason(first.code, first.message), a.cause(func(r refusal) bool { return fault.Short(r.code) }))}
	}
	first := a.refusals[0]
	reason := fault.Reason(first.code, first.message)
	return &cloud.RefusedError{Reason: reason, Cause: fault.Advise(reason, a.cause(func(refusal) bool { return true }))}
}

// short lists the offers that EC2 calls short, in the order asked.
func (a answer) short(offers []cloud.OfferChoice) []cloud.OfferChoice {
	var out []cloud.OfferChoice
	for _, o := range offers {
		if slices.ContainsFunc(a.refusals, func(r refusal) bool { return fault.Short(r.code) && r.concerns(o) }) {
			out = append(out, o)
		}
	}
	return out
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
func (b *Buyer) remember(o order, a answer) {
	for _, r := range a.refusals {
		switch {
		case fault.NoSpotRole(r.code):
			b.Shortage.AddOption(cluster.Spot)
		case fault.NoAddresses(r.code) && r.subnet != "":
			b.Shortage.AddSubnet(r.subnet)
		case fault.Short(r.code):
			b.noteShort(o, r)
		}
	}
	if len(a.machines) == 0 && len(a.refusals) == 0 {
		b.noteShort(o, refusal{})
	}
}

// noteShort keeps in mind the offers that a refusal is about. A limit of the account
// is not one of the offer: whatever is as large, and counts against the same limit,
// would be refused too.
func (b *Buyer) noteShort(o order, r refusal) {
	for _, offer := range o.offers {
		if !r.concerns(offer) {
			continue
		}
		if offer.Stock != "" && fault.OfReservation(r.code) {
			b.Reserved.Full(offer.Stock) // others of its type and zone may have room
			continue
		}
		b.Shortage.AddOffer(offer.Kind, offer.Zone, offer.Option)
		if setup := o.setups[offer.Kind]; fault.OverQuota(r.code) {
			b.Shortage.AddQuota(setup.Quota, setup.CPUs, offer.Option)
		}
	}
}

// stocks are the reservations that the order may draw on.
func (o order) stocks() []string {
	var out []string
	for _, offer := range o.offers {
		if offer.Stock != "" && !slices.Contains(out, offer.Stock) {
			out = append(out, offer.Stock)
		}
	}
	return out
}

// stockOf is the reservation that machines of a type in a zone are from.
func (o order) stockOf(kind, zone string) string {
	for _, offer := range o.offers {
		if offer.Kind == kind && offer.Zone == zone {
			return offer.Stock
		}
	}
	return ""
}

// fromStocks is how many machines are from each reservation.
func (a answer) fromStocks() map[string]int64 {
	out := map[string]int64{}
	for _, m := range a.machines {
		if m.Stock != "" {
			out[m.Stock]++
		}
	}
	return out
}
