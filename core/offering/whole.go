package offering

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

func wholeOf(available []Named, unavailable []LeftOut, want constraint.Requirements) uint64 {
	h := fnv.New64a()
	write := func(k *cluster.InstanceType, o *cluster.Offering) {
		partition, _ := o.Labels.Get(labelPartition)
		for _, word := range []string{k.Name, o.Zone, string(o.Option), o.Reservation(), partition, o.Unless.Key} {
			h.Write([]byte(word + " "))
		}
	}
	for _, n := range available {
		write(n.Type, n.Offering)
	}
	h.Write([]byte("\n"))
	for _, l := range unavailable {
		write(l.Type, l.Offering)
	}
	for _, r := range want {
		if r.MinValues > 0 {
			fmt.Fprintln(h, "\n", r.Key, r.MinValues)
		}
	}
	return h.Sum64()
}

// FallbackTypes is from how many types on on-demand instances may well take the place of spot ones.
const FallbackTypes = 5

// fewOnDemand lists the types, by price, where on-demand instances of few types take the place of spot ones.
func fewOnDemand(named []Named, want constraint.Requirements) []string {
	if len(named) == 0 || named[0].Offering.Option != cluster.OnDemand || !want.Get(cluster.LabelCapacityType).Allows(string(cluster.Spot)) {
		return nil
	}
	var types []string
	for _, n := range named {
		if !slices.Contains(types, n.Type.Name) {
			types = append(types, n.Type.Name)
		}
		if len(types) == FallbackTypes {
			return nil
		}
	}
	return types
}
