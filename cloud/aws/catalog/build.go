package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/image"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/price"
	"github.com/daemok/daemok/cloud/aws/quota"
	"github.com/daemok/daemok/cloud/aws/reservation"
	"github.com/daemok/daemok/cloud/aws/risk"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Setup is how instances of one instance type are launched for a class.
type Setup struct {
	Image   int                // position in Class.Resolved.Images
	MaxPods int64              // for the kubelet
	Kubelet *nodeclass.Kubelet // without expressions; instance types may share it
	CPUs    int64
	Quota   Quota
	Fabric  Fabric // for those who ask for ResourceEFA
}

// Kinds is what a class can become, without prices: the part that changes
// seldom. Setups go with Kinds by position.
type Kinds struct {
	InstanceTypes []cluster.InstanceType // without offerings, sorted by name
	Setups        []Setup
	types         []*Type

	Unsized nodeclass.Unsized
	Crowded nodeclass.Crowded
}

// Setup returns how an instance type is launched; false for instance types that the class
// cannot become.
func (k *Kinds) Setup(name string) (Setup, bool) {
	i, found := slices.BinarySearchFunc(k.InstanceTypes, name, func(x cluster.InstanceType, n string) int { return cmp.Compare(x.Name, n) })
	if !found {
		return Setup{}, false
	}
	return k.Setups[i], true
}

// For returns the instance types that the class can become: those that one of its images
// can boot and that have what its settings need.
func For(all []Type, class nodeclass.Class, s Settings) *Kinds {
	out := &Kinds{}
	limits := volumeLimits{}
	windows := windowsLabels(class.Spec.EffectiveFamily())
	sizes := sizesFor(class.Spec, s)
	for i := range all {
		t := &all[i]
		labels := t.Labels // shared by all classes where there is nothing to merge
		if len(windows) > 0 {
			labels = labels.Merge(windows)
		}
		img, ok := class.Booting(labels)
		if !ok || !t.supports(class) || s.IPv6 && !t.Nitro {
			continue
		}
		spec, err := sizes.of(t)
		if err != nil {
			unsized(&out.Unsized, t.Name, err)
			continue
		}
		total, fabric := capacityOf(*t, *spec, class.Image(img).ID, s), fabricOf(*t, *spec)
		if class.Spec.OlderLabels {
			labels = labels.Merge(olderLabels(t, total, class.Image(img).ID))
		}
		out.InstanceTypes = append(out.InstanceTypes, cluster.InstanceType{
			Name: t.Name, Labels: labels, Capacity: total, LastResort: strings.Contains(t.Name, "metal"), Allocatable: allocatable(*t, *spec, total),
			Sustained: t.Sustained, Surplus: surplus(t, class.Spec, s), Attachable: limits.of(t.Attachments.attachable(class.Spec)), OnRequest: onRequest(*t, *spec, fabric),
		})
		out.Setups = append(out.Setups, Setup{Image: img, MaxPods: MaxPods(*t, *spec, s), Kubelet: &spec.Kubelet, CPUs: t.CPUs, Quota: t.Quota, Fabric: fabric})
		out.types = append(out.types, t)
		if may, has := MaxPods(*t, *spec, s), addressed(*t, *spec, s); may > has {
			crowd(&out.Crowded, t.Name, may, has)
		}
	}
	out.Crowded.Of = len(out.InstanceTypes)
	out.Unsized.Of = len(out.InstanceTypes) + out.Unsized.Types
	return out
}

// crowd notes a type that may run more pods than it has addresses for.
func crowd(c *nodeclass.Crowded, kind string, may, has int64) {
	if c.Types == 0 {
		c.First, c.Pods, c.Addresses = kind, may, has
	}
	c.Types++
}

// surplus is the price of a core of a burstable type above its baseline; 0
// where it is not to be used.
func surplus(t *Type, spec nodeclass.Spec, s Settings) quantity.MicroUSDPerHour {
	if t.Sustained == 0 || !s.SurplusCredits {
		return 0
	}
	return quantity.USDPerHour(ec2data.SurplusUSD(t.Name, spec.EffectiveFamily().Windows()))
}

// windowsLabels are those that differ under Windows; none for other families.
func windowsLabels(f nodeclass.Family) constraint.Labels {
	if !f.Windows() {
		return nil
	}
	return constraint.NewLabels(map[string]string{
		nodeclass.LabelOS: "windows", nodeclass.LabelWindowsBuild: image.WindowsBuild(f),
	})
}

// Market is what the availability of offerings depends on at the moment.
type Market struct {
	Prices             price.View
	Short              capacity.View
	Risk               risk.View
	ReservedCapacities reservation.View
	Quotas             quota.View
	Free               func(subnet string) (addresses int64, known bool) // nil: nothing is known
	IPv6               bool                                              // pods have addresses of IPv6
}

// wayOutOfFull is what helps where subnets are full.
const wayOutOfFull = ": free some of their addresses, or add subnets to what the class selects"

// Offered returns the instance types with the offerings of the moment: one for each
// capacity type in each zone where the type is offered and the class has a subnet, and one
// for each capacity reservation of the class; of a class with a partition group, one for
// each partition; each once more for instances of dedicated tenancy, where EC2 has such. An
// offering is available unless it has no price, work is shifted away from its zone, or it,
// all subnets of its zone, the account's vCPUs for it or the placement group's room are
// short, or it has more vCPUs than the account may run.
func (k *Kinds) Offered(class nodeclass.Class, now Market) []cluster.InstanceType {
	zones := zonesOf(class, now)
	group := class.Resolved.Placement
	ways := waysInto(group)
	out := slices.Clone(k.InstanceTypes)
	reserved := reservedBy(class.Resolved.Reservations)
	for i, t := range k.types {
		options := t.offeredAs()
		offerings := make([]cluster.Offering, 0, len(zones)*len(options)*len(ways))
		for _, z := range zones {
			if _, found := slices.BinarySearch(t.Zones, z.name); !found {
				continue
			}
			taken := group.Counts() && now.ReservedCapacities.Left(group.ReservedCapacity(z.name)) == 0
			for _, option := range options {
				for _, w := range ways {
					w.option = option
					o := z.offering(t, w, now)
					place := group.Place(w.part, w.dedicated)
					o.Available = o.Available && !taken && !now.Short.Offering(t.Name, z.name, option, place)
					o.Doubtful = o.Available && now.Short.Doubtful(t.Name, z.name, option, place)
					offerings = append(offerings, o)
				}
			}
			for _, r := range reserved[place{t.Name, z.name}] {
				o := z.reserved(r, now)
				o.Available = o.Available && !taken && !now.Short.Reservation(r.ID)
				offerings = append(offerings, o)
			}
		}
		if len(reserved) > 0 {
			slices.SortStableFunc(offerings, func(a, b cluster.Offering) int {
				return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Option, b.Option))
			})
		}
		out[i].Offerings = offerings
	}
	return out
}

// zone is one zone of a class. Its labels are shared by all offerings in it.
type zone struct {
	name               string
	subnet             nodeclass.Subnet // one of its subnets
	full               string           // why no instance finds an address in any of its subnets; empty: one does
	away               string           // how work is shifted away from it; empty: it is not
	labels             map[way]constraint.Labels
	group              *nodeclass.PlacementGroup
	reservedCapacities []cluster.ReservedCapacity // that all instances in the zone are taken from
}

// way is how an instance is launched in a zone.
type way struct {
	option    cluster.Option
	part      string // of the placement group
	dedicated bool
}

// waysInto are the ways to launch instances that are put into a placement group, by any
// option: those of default tenancy first.
func waysInto(group *nodeclass.PlacementGroup) []way {
	var out []way
	for _, dedicated := range []bool{false, true} {
		for _, part := range group.Parts() {
			if !dedicated || group.TakesDedicated() {
				out = append(out, way{part: part, dedicated: dedicated})
			}
		}
	}
	return out
}

// unlessDefault is the pods that instances of dedicated tenancy are for: those that ask for
// them.
var unlessDefault = constraint.Label{Key: nodeclass.LabelTenancy, Value: nodeclass.TenancyDefault}

func zonesOf(class nodeclass.Class, now Market) []zone {
	short, found, need := now.Short, class.Resolved, class.Spec.Addresses(now.IPv6)
	sorted := slices.Clone(found.Subnets)
	slices.SortFunc(sorted, func(a, b nodeclass.Subnet) int { return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.ID, b.ID)) })
	var out []zone
	for _, s := range sorted {
		if n := len(out); n > 0 && out[n-1].name == s.Zone {
			continue
		}
		z := zone{name: s.Zone, subnet: s, full: now.full(s.Zone, sorted, need), away: away(s, short), labels: map[way]constraint.Labels{}, group: found.Placement}
		if z.group != nil && z.group.Strategy == nodeclass.Spread {
			room := z.group.ReservedCapacity(z.name)
			z.reservedCapacities = []cluster.ReservedCapacity{{Name: room, Left: now.ReservedCapacities.Left(room)}}
		}
		for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
			for _, w := range waysInto(z.group) {
				w.option = option
				z.labels[w] = z.offeringLabels(w)
			}
		}
		out = append(out, z)
	}
	return out
}

// full says that all subnets of a zone have too few free addresses for an instance, of
// those of the class; empty where one has enough.
func (m Market) full(zone string, subnets []nodeclass.Subnet, need int64) string {
	var of []nodeclass.Subnet
	for _, s := range subnets {
		if s.Zone != zone {
			continue
		}
		if !m.Short.Subnet(s.ID) {
			return ""
		}
		if m.Free != nil {
			s.Free, _ = m.Free(s.ID)
		}
		of = append(of, s)
	}
	return nodeclass.TooFewAddresses(of, need) + wayOutOfFull
}

// away says until when work is shifted away from the zone of a subnet, and what helps;
// empty: it is not.
func away(s nodeclass.Subnet, short capacity.View) string {
	switch until, away := short.Shifted(s.ZoneID); {
	case !away:
		return ""
	case until.IsZero():
		return "zone " + s.Zone + " is shifted away from until AWS ends the autoshift: let pods run in other zones"
	default:
		return "zone " + s.Zone + " is shifted away from until " + until.UTC().Format(time.RFC3339) + ": cancel the zonal shift, or let pods run in other zones"
	}
}

func (z zone) offeringLabels(w way) constraint.Labels {
	m := map[string]string{cluster.LabelZone: z.name, cluster.LabelCapacityType: string(w.option), nodeclass.LabelTenancy: nodeclass.TenancyDefault}
	if w.dedicated {
		m[nodeclass.LabelTenancy] = nodeclass.TenancyDedicated
	}
	if z.subnet.ZoneID != "" {
		m[nodeclass.LabelZoneID] = z.subnet.ZoneID
	}
	if z.group != nil {
		m[nodeclass.LabelPlacementGroup] = z.group.ID
	}
	if w.part != "" {
		m[nodeclass.LabelPlacementPartition] = w.part
	}
	return constraint.NewLabels(m)
}

func (z zone) offering(t *Type, w way, now Market) cluster.Offering {
	o := cluster.Offering{Zone: z.name, Option: w.option, Labels: z.labels[w], ReservedCapacities: z.reservedCapacities}
	if w.dedicated {
		o.Unless = unlessDefault
	}
	switch {
	case w.option == cluster.Spot: // whatever its tenancy
		o.Price, o.Priced = now.Prices.Spot(t.Name, z.name)
		o.Risk = now.Risk.Of(t.Name, z.name)
	case w.dedicated:
		o.Price, o.Priced = now.Prices.Dedicated(t.Name)
	default:
		o.Price, o.Priced = now.Prices.OnDemand(t.Name)
	}
	o.Available = o.Priced && !now.Short.Quota(t.Quota.By(w.option), t.CPUs, w.option)
	if o.Why = cmp.Or(z.away, z.full, now.Quotas.Beyond(t.Quota.By(w.option), t.CPUs, w.option)); o.Why != "" {
		o.Available = false
	}
	return o
}
