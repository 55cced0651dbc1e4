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

// fittingOffers lists everything that could be bought for a claim now, and what
// could be if it were not sold out.
// wellKnown tells which labels the cloud sets; the others are the pool's own
// and say nothing about machines.
func fittingOffers(want constraint.Requirements, requests quantity.Resources, kinds []cluster.Kind, wellKnown func(key string) bool) (fitting, soldOut []priced) {
	types := want.Get(api.LabelInstanceType)
	for i := range kinds {
		k := &kinds[i]
		if !types.Allows(k.Name) || !requests.FitsIn(k.Allocatable) {
			continue // most kinds have no offer that need be looked at
		}
		for j := range k.Offers {
			o := &k.Offers[j]
			switch p := (priced{kind: k, offer: o}); {
			case !p.meets(want, wellKnown), !o.Asked(want):
			case o.Available:
				fitting = append(fitting, p)
			default:
				soldOut = append(soldOut, p)
			}
		}
	}
	return fitting, soldOut
}

// choose lists what to name in a request, best first: offers of one purchase
// option, the first in optionOrder of which any can be had, by price with
// unknown prices last and ties by type and zone, of at most typesMax types and
// at most offersMax in all, which keep minValues where all that fit do.
func choose(fitting, soldOut []priced, want constraint.Requirements, requests quantity.Resources) []cloud.OfferChoice {
	fitting = onePartition(fitting)
	all := fitting
	if !asksVariety(want) { // or what is dropped might be what minValues counts
		fitting = nearSpot(withoutExpensiveSpot(withoutExotic(fitting, requests)), soldOut)
	}
	for _, option := range optionOrder {
		choice := ofOption(fitting, option)
		if option == cluster.Reserved {
			choice = oneSort(choice)
		}
		if len(choice) > 0 {
			return firstOffers(choice, all, want)
		}
	}
	return nil
}

// asksVariety reports whether some key must keep several values open.
func asksVariety(want constraint.Requirements) bool {
	return slices.ContainsFunc(want, func(r constraint.Requirement) bool { return r.MinValues > 0 })
}

type priced struct {
	kind      *cluster.Kind
	offer     *cluster.Offer
	partition string // that is asked for; empty: none, or whichever the cloud chooses
}

// dedicated reports whether it is of dedicated tenancy.
func (p priced) dedicated() bool {
	tenancy, _ := p.offer.Labels.Get(api.LabelTenancy)
	return tenancy == api.TenancyDedicated
}

// label is what the node will carry under the key.
func (p priced) label(key string) (value string, present bool) {
	if value, present = p.offer.Labels.Get(key); present {
		return value, true
	}
	return p.kind.Labels.Get(key)
}

// meets reports whether a machine of the offer has every label asked for.
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
		if count, _ := p.kind.Labels.Get(api.LabelGPUCount); count == partOfGPU || strings.Contains(p.kind.Name, "metal") {
			return false
		}
		return !slices.ContainsFunc(p.kind.Capacity.Extended, func(e quantity.Extended) bool {
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

// withoutExpensiveSpot drops spot offers more expensive than the cheapest on-demand one.
func withoutExpensiveSpot(list []priced) []priced {
	cheapest := quantity.MicroUSDPerHour(-1)
	for _, p := range list {
		if p.offer.Option == cluster.OnDemand && p.offer.Priced && (cheapest < 0 || p.offer.Price < cheapest) {
			cheapest = p.offer.Price
		}
	}
	if cheapest < 0 {
		return list
	}
	return keep(list, func(p priced) bool {
		return p.offer.Option != cluster.Spot || !p.offer.Priced || p.offer.Price <= cheapest
	})
}

func ofOption(list []priced, option cluster.Option) []priced {
	out := keep(list, func(p priced) bool { return p.offer.Option == option })
	slices.SortFunc(out, func(a, b priced) int {
		if a.offer.Priced != b.offer.Priced {
			if a.offer.Priced {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.offer.Ranked(), b.offer.Ranked()), cmp.Compare(a.kind.Name, b.kind.Name), cmp.Compare(a.offer.Zone, b.offer.Zone), cmp.Compare(a.offer.Reservation(), b.offer.Reservation()))
	})
	return out
}

func keep(list []priced, wanted func(priced) bool) []priced {
	return slices.DeleteFunc(slices.Clone(list), func(p priced) bool { return !wanted(p) })
}
