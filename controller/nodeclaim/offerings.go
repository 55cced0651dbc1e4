package nodeclaim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

// optionOrder is which way to pay is tried first where several may be used.
var optionOrder = []cluster.Option{cluster.Reserved, cluster.Spot, cluster.OnDemand}

// fittingOfferings lists everything that could be launched for a claim now, and what
// could be if it were not unavailable.
// wellKnown tells which labels the cloud sets; the others are the pool's own
// and say nothing about machines.
func fittingOfferings(want constraint.Requirements, requests quantity.Resources, instanceTypes []cluster.InstanceType, wellKnown func(key string) bool) (fitting, unavailable []priced) {
	types := want.Get(api.LabelInstanceType)
	for i := range instanceTypes {
		k := &instanceTypes[i]
		if !types.Allows(k.Name) || !requests.FitsIn(k.Allocatable) {
			continue // most kinds have no offering that need be looked at
		}
		for j := range k.Offerings {
			o := &k.Offerings[j]
			switch p := (priced{instanceType: k, offering: o}); {
			case !p.meets(want, wellKnown), !o.Asked(want):
			case o.Available:
				fitting = append(fitting, p)
			default:
				unavailable = append(unavailable, p)
			}
		}
	}
	return fitting, unavailable
}

// choose lists what to name in a request, best first: offers of one launch
// option, the first in optionOrder of which any can be had, by price with
// unknown prices last and ties by type and zone, of at most typesMax types and
// at most offeringsMax in all, which keep minValues where all that fit do.
func choose(fitting, unavailable []priced, want constraint.Requirements, requests quantity.Resources) []cloud.OfferingChoice {
	fitting = onePartition(fitting)
	all := fitting
	if !asksVariety(want) { // or what is dropped might be what minValues counts
		fitting = nearSpot(withoutExpensiveSpot(withoutExotic(fitting, requests)), unavailable)
	}
	for _, option := range optionOrder {
		choice := ofOption(fitting, option)
		if option == cluster.Reserved {
			choice = oneSort(choice)
		}
		if len(choice) > 0 {
			return firstOfferings(choice, all, want)
		}
	}
	return nil
}

// asksVariety reports whether some key must keep several values open.
func asksVariety(want constraint.Requirements) bool {
	return slices.ContainsFunc(want, func(r constraint.Requirement) bool { return r.MinValues > 0 })
}

type priced struct {
	instanceType *cluster.InstanceType
	offering     *cluster.Offering
	partition    string // that is asked for; empty: none, or whichever the cloud chooses
}

// dedicated reports whether it is of dedicated tenancy.
func (p priced) dedicated() bool {
	tenancy, _ := p.offering.Labels.Get(api.LabelTenancy)
	return tenancy == api.TenancyDedicated
}

// label is what the node will carry under the key.
func (p priced) label(key string) (value string, present bool) {
	if value, present = p.offering.Labels.Get(key); present {
		return value, true
	}
	return p.instanceType.Labels.Get(key)
}

// meets reports whether a machine of the offering has every label asked for.
func (p priced) meets(want constraint.Requirements, wellKnown func(string) bool) bool {
	for _, r := range want {
		value, present := p.label(r.Key)
		if !present && !wellKnown(r.Key) {
			continue
		}
		if present && !r.Set.Allows(value) || !present && !r.Set.AllowsAbsent() {
			return false
		}
	}
	return true
}

// partOfGPU is the number of GPUs, by its label, of a type that has a part of one: no pod
// can ask for it as a resource.
const partOfGPU = "0"

// withoutExotic drops bare metal and machines with accelerators nobody asked
// for, unless nothing else is left.
func withoutExotic(list []priced, requests quantity.Resources) []priced {
	plain := keep(list, func(p priced) bool {
		if count, _ := p.instanceType.Labels.Get(api.LabelGPUCount); count == partOfGPU || strings.Contains(p.instanceType.Name, "metal") {
			return false
		}
		return !slices.ContainsFunc(p.instanceType.Capacity.Extended, func(e quantity.Extended) bool {
			return isAccelerator(e.Name) && requests.Get(e.Name) == 0
		})
	})
	if len(plain) == 0 {
		return list
	}
	return plain
}

func isAccelerator(resource string) bool {
	switch resource {
	case "nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "habana.ai/gaudi":
		return true
	}
	return false
}

// withoutExpensiveSpot drops spot offerings more expensive than the cheapest on-demand one.
func withoutExpensiveSpot(list []priced) []priced {
	cheapest := quantity.MicroUSDPerHour(-1)
	for _, p := range list {
		if p.offering.Option == cluster.OnDemand && p.offering.Priced && (cheapest < 0 || p.offering.Price < cheapest) {
			cheapest = p.offering.Price
		}
	}
	if cheapest < 0 {
		return list
	}
	return keep(list, func(p priced) bool {
		return p.offering.Option != cluster.Spot || !p.offering.Priced || p.offering.Price <= cheapest
	})
}

func ofOption(list []priced, option cluster.Option) []priced {
	out := keep(list, func(p priced) bool { return p.offering.Option == option })
	slices.SortFunc(out, func(a, b priced) int {
		if a.offering.Priced != b.offering.Priced {
			if a.offering.Priced {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.offering.Ranked(), b.offering.Ranked()), cmp.Compare(a.instanceType.Name, b.instanceType.Name), cmp.Compare(a.offering.Zone, b.offering.Zone), cmp.Compare(a.offering.Reservation(), b.offering.Reservation()))
	})
	return out
}

func keep(list []priced, wanted func(priced) bool) []priced {
	return slices.DeleteFunc(slices.Clone(list), func(p priced) bool { return !wanted(p) })
}
