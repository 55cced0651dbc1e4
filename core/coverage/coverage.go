// Package coverage says what commitments pay for the instances of a cluster, and which instances they would pay for.
//
// It promises to divide Reserved Instances and Savings Plans as core/commitment does, among all instances that the
// snapshot shows, those being launched included. Instances of Windows and of dedicated tenancy use no commitment.
//
//	Offered  the snapshot with offerings that commitments would pay for, at what is left to pay
//	Fleet    who uses commitments, and what is left of each, as such offerings count it
//	Bill     what commitments pay, and how that changes with nodes that go and instances that come
package coverage

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// counter names what is left of a commitment among reserved capacities.
func counter(id string) string { return "commitment " + id }

// share is what of its price an instance counts as costing that a commitment pays for: it is paid for whether it runs
// or not, so that it comes before all others, and yet small instances before large ones.
const share = 10_000

// Offered returns the snapshot with one more offering for each that a commitment would pay for: the same at what is
// left to pay, for as many instances as the commitment has room for. A part of an instance is paid for where less is left.
// Pools that plan without commitments are as they were, and so is a snapshot without any. A Compute Savings Plan pays
// for all on-demand instances alike, so that only pools that may launch spot instances have such offerings of it: among
// others it would do no more than favour small instances. A pool with minValues has them only of commitments that pay for
// that many values: a launch leaves only what one commitment pays for open, or nothing pays for it.
//
// Cost: offerings x commitments.
func Offered(s *cluster.Snapshot) *cluster.Snapshot {
	f := FleetOf(s)
	if f == nil {
		return s
	}
	rooms := f.Rooms()
	type of struct {
		*cluster.Catalogue
		rooms string
	}
	made := map[of]*cluster.Catalogue{}
	out := *s
	out.Pools = slices.Clone(s.Pools)
	for i := range out.Pools {
		p := &out.Pools[i]
		if p.Uncommitted || p.Catalogue == nil {
			continue
		}
		spot := p.Requirements.Get(cluster.LabelCapacityType).Allows(string(cluster.Spot))
		own := slices.DeleteFunc(slices.Clone(rooms), func(r commitment.Room) bool {
			return r.ForAll() && !spot || !keepsMinValues(p, &r)
		})
		key := of{p.Catalogue, ""}
		for i := range own {
			key.rooms += own[i].ID + "\n"
		}
		if made[key] == nil {
			made[key] = offered(p.Catalogue, own)
		}
		p.Catalogue = made[key]
	}
	return &out
}

// keepsMinValues reports whether what the commitment covers of the pool's offerings has as many values as each minValues
// of the pool asks for.
func keepsMinValues(p *cluster.Pool, room *commitment.Room) bool {
	for _, q := range p.Requirements {
		if q.MinValues <= 1 {
			continue
		}
		values, defined := map[string]bool{}, false
		for k := range p.Catalogue.InstanceTypes {
			t := &p.Catalogue.InstanceTypes[k]
			for i := range t.Offerings {
				o := &t.Offerings[i]
				labels := t.Labels.Merge(o.Labels).With(cluster.LabelInstanceType, t.Name).With(cluster.LabelZone, o.Zone).
					With(cluster.LabelCapacityType, string(o.Option))
				value, has := labels.Get(q.Key)
				defined = defined || has
				if u, may := usageOf(t, o); has && may && q.Set.Allows(value) {
					if _, covered := coveredBy(o, u, room); covered {
						values[value] = true
					}
				}
			}
		}
		if defined && len(values) < q.MinValues {
			return false
		}
	}
	return true
}

func offered(c *cluster.Catalogue, rooms []commitment.Room) *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk, Base: c.Base}
	out.InstanceTypes = slices.Clone(c.InstanceTypes)
	for k := range out.InstanceTypes {
		t := &out.InstanceTypes[k]
		var more []cluster.Offering
		for i := range t.Offerings {
			o := &t.Offerings[i]
			u, may := usageOf(t, o)
			for r := 0; may && r < len(rooms); r++ {
				if covered, ok := coveredBy(o, u, &rooms[r]); ok {
					more = append(more, covered)
				}
			}
		}
		t.Offerings = slices.Concat(t.Offerings, more)
	}
	return out
}

// usageOf is the usage of an instance of the offering; ok is false where it is none that commitments cover.
func usageOf(t *cluster.InstanceType, o *cluster.Offering) (u commitment.Usage, ok bool) {
	if o.Option != cluster.OnDemand || !o.Priced || o.Covered() || !mayUse(t.Labels) || !mayUse(o.Labels) {
		return u, false
	}
	return commitment.Usage{InstanceType: t.Name, Zone: o.Zone, OnDemand: o.Price}, true
}

// coveredBy is the offering at what is left to pay where the commitment covers it; ok is false where it does not.
func coveredBy(o *cluster.Offering, u commitment.Usage, room *commitment.Room) (out cluster.Offering, ok bool) {
	units, ok := room.Takes(u)
	if !ok || units > room.All && room.Left == 0 {
		return out, false
	}
	out = *o
	out.Cover = cluster.Cover{By: room.ID, Listed: o.Price}
	out.Price = max(cluster.LeastPrice, o.Price/share)
	if 0 < room.Left && room.Left < units {
		paid := float64(o.Price) * (float64(room.Left) / float64(units))
		out.Price, units = max(out.Price, o.Price-quantity.MicroUSDPerHour(paid)), room.Left
	}
	by := cluster.ReservedCapacity{Name: counter(room.ID), Left: room.Left, Units: units}
	out.ReservedCapacities = append(slices.Clone(o.ReservedCapacities), by)
	slices.SortFunc(out.ReservedCapacities, func(a, b cluster.ReservedCapacity) int {
		return cmp.Compare(a.Name, b.Name)
	})
	return out, true
}

// Labels by which instances are known that use no commitment.
const (
	labelOS      = "kubernetes.io/os"
	labelTenancy = "karpenter.k8s.aws/instance-tenancy"

	labelReservationType = "karpenter.k8s.aws/capacity-reservation-type" // Capacity Blocks are paid for in advance
)

func mayUse(labels constraint.Labels) bool {
	system, _ := labels.Get(labelOS)
	tenancy, _ := labels.Get(labelTenancy)
	reservation, _ := labels.Get(labelReservationType)
	return system != "windows" && tenancy != "dedicated" && reservation != "capacity-block"
}
