// Package fleet launches instances: it writes launch templates and requests an instant EC2 fleet over
// many types and zones at once.
//
// It promises the same call for the same request, so that EC2 can recognise a repeated one by its
// token, and that it records which offerings were unavailable. It decides neither how many instances
// are needed nor which offerings are acceptable.
package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
)

const (
	// templatesMax is how many launch templates EC2 takes in one fleet.
	templatesMax = 50
	// templatesUsual is how many one fleet has, unless variety needs more. There is
	// one for each number of pods that a type holds, and the further ones are of one
	// or two types each, while each is a call of which EC2 takes a few a second.
	templatesUsual = 8
)

// Request is one launch with all that was found for it.
type Request struct {
	Launch  cloud.LaunchRequest
	Class   nodeclass.Class
	Kinds   *catalog.Kinds
	Cluster userdata.Cluster
	Subnets []nodeclass.Subnet // one a zone, sorted by zone

	// OpenReservations lets instances on demand run in open reservations that match.
	OpenReservations bool
}

// option is the capacity type of all offerings of the request.
func (r Request) option() cluster.Option { return r.Launch.Options[0].Option }

// order is a request as EC2 reads it.
type order struct {
	templates []template
	fleet     *ec2.CreateFleetInput
	offerings []cloud.OfferingChoice // those asked for, in order
	subnets   []nodeclass.Subnet
	images    map[string]string // image by kind
	setups    map[string]catalog.Setup
	podsMin   int64 // fewest addresses that an instance may take
	placement *nodeclass.PlacementGroup
}

// group is what types must share to be launched from one template.
type group struct {
	image            int
	maxPods          int64
	reserved         string // what the kubelet keeps, where that depends on the type
	reservedCapacity string // capacity reservation; empty: none
	part             string // partition of the class's placement group; empty: none, or EC2 chooses

	dedicated bool
	fabric    catalog.Fabric // none where none asks for it
	enclaves  bool           // likewise
}

// members are the offerings of a group, which set up the kubelet alike.
type members struct {
	kubelet   nodeclass.Kubelet
	offerings []cloud.OfferingChoice
}

// build turns a request into an order. Equal requests make equal orders.
func build(r Request) (order, error) {
	offerings, groups := divide(r)
	if len(offerings) == 0 {
		return order{}, &cloud.NoCapacityError{Offerings: r.Launch.Options,
			Cause: "the class has no subnet in these zones, or no image that these types can boot"}
	}
	o := order{offerings: offerings, subnets: r.Subnets, images: map[string]string{}, setups: map[string]catalog.Setup{}, placement: r.Class.Resolved.Placement}
	var configs []types.FleetLaunchTemplateConfigRequest
	for _, g := range slices.SortedFunc(maps.Keys(groups), compareGroups) {
		t, err := templateOf(r, g, groups[g].kubelet)
		if err != nil {
			return order{}, err
		}
		if t.data != nil {
			o.templates = append(o.templates, t)
		}
		for _, offering := range groups[g].offerings {
			o.images[offering.Kind] = r.Class.Image(g.image).ID
			setup, _ := r.Kinds.Setup(offering.Kind)
			o.setups[offering.Kind] = setup
			if o.podsMin == 0 || setup.MaxPods < o.podsMin {
				o.podsMin = setup.MaxPods
			}
		}
		configs = append(configs, types.FleetLaunchTemplateConfigRequest{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{
				LaunchTemplateName: aws.String(t.name), Version: aws.String("$Latest"),
			},
			Overrides: overrides(groups[g], r),
		})
	}
	o.fleet = fleetInput(r, configs)
	return o, nil
}

// divide cuts the offerings of the launch, in their order, to those that can be launched at all and that one request
// takes, those needed for variety before the others, and groups them by template.
func divide(r Request) ([]cloud.OfferingChoice, map[group]*members) {
	sorted := onePerPlace(slices.Clone(r.Launch.Options))
	taken, kinds, opened := map[int]bool{}, map[string]bool{}, map[group]bool{}
	take := func(needed bool, templates int) {
		for i, choice := range sorted {
			g, ok := groupOf(r, choice)
			switch {
			case choice.Needed != needed, !ok, len(taken) == offering.Max,
				!kinds[choice.Kind] && len(kinds) == offering.TypesMax, !opened[g] && len(opened) >= templates:
			default:
				taken[i], kinds[choice.Kind], opened[g] = true, true, true
			}
		}
	}
	take(true, templatesMax)
	take(false, templatesUsual)
	var offerings []cloud.OfferingChoice
	groups := map[group]*members{}
	for i, choice := range sorted {
		if !taken[i] {
			continue
		}
		g, _ := groupOf(r, choice)
		if groups[g] == nil {
			setup, _ := r.Kinds.Setup(choice.Kind)
			groups[g] = &members{kubelet: *setup.Kubelet}
		}
		groups[g].offerings = append(groups[g].offerings, choice)
		offerings = append(offerings, choice)
	}
	return offerings, groups
}

// groupOf is the template that instances of an offering are launched from; false where
// the offering cannot be launched.
func groupOf(r Request, o cloud.OfferingChoice) (group, bool) {
	setup, ok := r.Kinds.Setup(o.Kind)
	if _, found := subnetIn(r.Subnets, o.Zone); !ok || !found {
		return group{}, false
	}
	if r.Class.Spec.LaunchTemplate != "" {
		return group{dedicated: o.Dedicated}, true
	}
	g := group{image: setup.Image, maxPods: setup.MaxPods, reserved: setup.Kubelet.Reserves(), reservedCapacity: o.ReservedCapacity, part: o.Partition, dedicated: o.Dedicated}
	if slices.Contains(r.Launch.Extended, catalog.ResourceEFA) {
		g.fabric = setup.Fabric
	}
	g.enclaves = slices.Contains(r.Launch.Extended, catalog.ResourceEnclaves)
	return g, true
}

// onePerPlace keeps the first reservation, partition and tenancy of each type and
// zone: EC2's answer tells types and zones, and not which of these it took.
func onePerPlace(sorted []cloud.OfferingChoice) []cloud.OfferingChoice {
	type place struct{ kind, zone string }
	type of struct {
		reservedCapacity, part string
		dedicated              bool
	}
	first := map[place]of{}
	return slices.DeleteFunc(sorted, func(o cloud.OfferingChoice) bool {
		at, its := place{o.Kind, o.Zone}, of{o.ReservedCapacity, o.Partition, o.Dedicated}
		if kept, seen := first[at]; seen {
			return kept != its
		}
		first[at] = its
		return false
	})
}

func compareGroups(a, b group) int {
	return cmp.Or(cmp.Compare(a.image, b.image), cmp.Compare(a.maxPods, b.maxPods), cmp.Compare(a.reserved, b.reserved), cmp.Compare(a.reservedCapacity, b.reservedCapacity), cmp.Compare(a.part, b.part), cmp.Compare(rank(a.dedicated), rank(b.dedicated)),
		cmp.Compare(a.fabric.Count, b.fabric.Count), cmp.Compare(a.fabric.First, b.fabric.First),
		cmp.Compare(rank(a.enclaves), rank(b.enclaves)))
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// overrides are the types and subnets of a group. Beside a launch template of the user's
// own they also say that hardware is to be dedicated, which it need not.
func overrides(m *members, r Request) []types.FleetLaunchTemplateOverridesRequest {
	out := make([]types.FleetLaunchTemplateOverridesRequest, 0, len(m.offerings))
	for _, o := range m.offerings {
		s, _ := subnetIn(r.Subnets, o.Zone)
		over := types.FleetLaunchTemplateOverridesRequest{
			InstanceType: types.InstanceType(o.Kind), SubnetId: aws.String(s.ID),
			AvailabilityZone: aws.String(o.Zone), Priority: aws.Float64(priority(r.Launch, o)),
		}
		if r.Class.Spec.LaunchTemplate != "" && o.Dedicated {
			over.Placement = &types.Placement{Tenancy: types.TenancyDedicated}
		}
		out = append(out, over)
	}
	return out
}

// priority is that of an offering. Where it decides, EC2 takes whole numbers from 0: its rank among those of the
// request.
func priority(r cloud.LaunchRequest, o cloud.OfferingChoice) float64 {
	if !r.Ordered {
		return o.Priority
	}
	below := map[float64]bool{}
	for _, other := range r.Options {
		if other.Priority < o.Priority {
			below[other.Priority] = true
		}
	}
	return float64(len(below))
}

func subnetIn(subnets []nodeclass.Subnet, zone string) (nodeclass.Subnet, bool) {
	i := slices.IndexFunc(subnets, func(s nodeclass.Subnet) bool { return s.Zone == zone })
	if i < 0 {
		return nodeclass.Subnet{}, false
	}
	return subnets[i], true
}

func fleetInput(r Request, configs []types.FleetLaunchTemplateConfigRequest) *ec2.CreateFleetInput {
	tags := ec2Tags(allTags(r))
	in := &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant, ClientToken: aws.String(r.Launch.Token), LaunchTemplateConfigs: configs,
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(int32(r.Launch.Count)),
		},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: tags},
			{ResourceType: types.ResourceTypeVolume, Tags: tags},
			{ResourceType: types.ResourceTypeFleet, Tags: tags},
		},
	}
	if r.Class.Spec.Context != "" && !r.Launch.Relaxed {
		in.Context = aws.String(r.Class.Spec.Context)
	}
	if r.option() == cluster.Spot {
		in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeSpot
		in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyPriceCapacityOptimized}
		if r.Launch.Ordered { // the price that the strategy weighs is AWS's own
			in.SpotOptions.AllocationStrategy = types.SpotAllocationStrategyCapacityOptimizedPrioritized
		}
		return in
	}
	switch marketOf(r, r.Launch.Options[0].ReservedCapacity) {
	case types.MarketTypeCapacityBlock:
		in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeCapacityBlock
		return in
	case types.MarketTypeInterruptibleCapacityReservation:
		in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeReservedCapacity
		in.ReservedCapacityOptions = &types.ReservedCapacityOptionsRequest{
			ReservationTypes: []types.FleetReservationType{types.FleetReservationTypeInterruptibleCapacityReservation},
		}
		return in
	}
	in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeOnDemand
	in.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyLowestPrice}
	if r.Launch.Ordered {
		in.OnDemandOptions.AllocationStrategy = types.FleetOnDemandAllocationStrategyPrioritized
	}
	return in
}

// allTags are those of an instance of this very launch. The request's count
// before the class's; those that tell whose an instance is cannot be replaced.
func allTags(r Request) map[string]string {
	tags := maps.Clone(r.Launch.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	for k, v := range lastingTags(r) {
		if _, given := tags[k]; !given {
			tags[k] = v
		}
	}
	maps.Copy(tags, ownTags(r))
	if r.Launch.Batch != "" {
		tags[nodeclass.TagBatch] = r.Launch.Batch
	}
	return tags
}

// lastingTags are those that all launches of a class for a pool share; what
// a template carries, since it is used again.
func lastingTags(r Request) map[string]string {
	tags := map[string]string{}
	maps.Copy(tags, r.Class.Spec.Tags)
	maps.Copy(tags, ownTags(r))
	return tags
}

// ownTags tell whose an instance is.
func ownTags(r Request) map[string]string {
	pool := cmp.Or(r.Launch.Tags[nodeclass.TagPool], r.Launch.Node.Labels[nodeclass.TagPool])
	return OwnTags(r.Class, r.Cluster, map[string]string{nodeclass.TagPool: pool})
}

// OwnTags are the tags given and those that tell whose an instance of the class is; a pool
// without a name has none.
func OwnTags(class nodeclass.Class, cluster userdata.Cluster, given map[string]string) map[string]string {
	tags := maps.Clone(given)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[nodeclass.TagClass], tags[nodeclass.TagEKS], tags[nodeclass.TagOwned+cluster.Name] = class.Name, cluster.Name, nodeclass.ClusterOwned
	if cluster.UID != "" {
		tags[nodeclass.TagUID] = cluster.UID
	}
	if tags[nodeclass.TagPool] == "" {
		delete(tags, nodeclass.TagPool)
	}
	return tags
}

func ec2Tags(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}

// retryToken is the token of the nth repetition of a call whose answer was
// final but is to be had again. It depends on the first token alone.
func retryToken(token string, n int) string {
	if n == 0 {
		return token
	}
	suffix := "-" + strconv.Itoa(n)
	return token[:min(len(token), tokenMax-len(suffix))] + suffix
}

// tokenMax is how many characters EC2 reads of a token.
const tokenMax = 64
