package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/commitment"
	"github.com/daemok/daemok/test/market"
)

// reservedInstances puts Reserved Instances into the account.
func reservedInstances(s *emulator.Server, order ReservedInstances) (string, error) {
	k, known := s.Market().Kind(order.Kind)
	switch {
	case !known:
		return "", noKind(s, order.Kind)
	case order.Zone != "" && !slices.Contains(k.Zones, order.Zone):
		return "", fmt.Errorf("%s is not offered in zone %q: want one of %s, or none for regional ones", order.Kind,
			order.Zone, strings.Join(k.Zones, ", "))
	case order.Machines < 1:
		return "", fmt.Errorf("%d Reserved Instances: want one or more", order.Machines)
	case order.For < 0:
		return "", fmt.Errorf("the Reserved Instances last %v: want a positive duration", order.For)
	}
	r := commitment.ReservedInstances{
		Type: order.Kind, Count: order.Machines, Zone: order.Zone, Platform: order.Platform,
		Dedicated: order.Dedicated, Convertible: order.Convertible,
	}
	if order.For > 0 {
		r.EndsAt = s.Now().Add(order.For)
	}
	return s.AddReservedInstances(r), nil
}

// savingsPlan puts a Savings Plan into the account.
func savingsPlan(s *emulator.Server, order SavingsPlan) (string, error) {
	types := []string{commitment.Compute, commitment.EC2Instance, commitment.SageMaker}
	ofFamily := order.Type == commitment.EC2Instance
	switch {
	case !slices.Contains(types, order.Type):
		return "", fmt.Errorf("there are no Savings Plans of type %q: want one of %s", order.Type,
			strings.Join(types, ", "))
	case !(order.USD > 0):
		return "", fmt.Errorf("a commitment of $%g an hour: want more than nothing", order.USD)
	case ofFamily != (order.Family != ""):
		return "", fmt.Errorf("a plan of type %s with family %q: want a family for %s alone", order.Type,
			order.Family, commitment.EC2Instance)
	case !ofFamily && order.Region != "":
		return "", fmt.Errorf("a plan of type %s with region %q: want a region for %s alone", order.Type,
			order.Region, commitment.EC2Instance)
	case ofFamily && !offersFamily(s, order.Family):
		return "", fmt.Errorf("region %s offers no types of family %q: want one such as m5", s.Account().Region,
			order.Family)
	case order.Region != "" && !slices.Contains(s.Regions(), order.Region):
		return "", fmt.Errorf("the catalogue has no region %q: want one of %s", order.Region,
			strings.Join(s.Regions(), ", "))
	case !(order.Discount >= 0 && order.Discount < 1):
		return "", fmt.Errorf("a discount of %g: want a share of the price from 0 to less than 1, such as 0.28",
			order.Discount)
	case order.For < 0:
		return "", fmt.Errorf("the plan lasts %v: want a positive duration", order.For)
	}
	p := commitment.Plan{Type: order.Type, Family: order.Family, Region: order.Region, CommitmentUSD: order.USD,
		Discount: order.Discount}
	if order.For > 0 {
		p.EndsAt = s.Now().Add(order.For)
	}
	return s.AddSavingsPlan(p), nil
}

func offersFamily(s *emulator.Server, family string) bool {
	return slices.ContainsFunc(s.Market().Kinds(),
		func(k market.Kind) bool { return strings.HasPrefix(k.Name, family+".") })
}

// noKind says that the region offers no such instance type, and which might be meant.
func noKind(s *emulator.Server, kind string) error {
	return fmt.Errorf("region %s offers no %s%s", s.Account().Region, kind,
		cmp.Or(which{kind, "*", "*"}.meant(s), ": see `aws ec2 describe-instance-types`"))
}
