package conformance

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

func byPrice(offerings []cloud.OfferingChoice) {
	slices.SortStableFunc(offerings, func(a, b cloud.OfferingChoice) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Zone, b.Zone))
	})
}

// ids lists the instances' IDs in their order.
func ids(instances []cloud.Instance) []string {
	out := make([]string, len(instances))
	for i, m := range instances {
		out[i] = m.ID
	}
	return out
}

func sameIDs(t *testing.T, what string, got []cloud.Instance, want []string) {
	t.Helper()
	if !slices.Equal(ids(got), want) {
		t.Errorf("%s: instances %v, want %v", what, ids(got), want)
	}
}

// isOf reports whether the instance came from the offering.
func isOf(m cloud.Instance, o cloud.OfferingChoice) bool {
	return m.Kind == o.Kind && m.Zone == o.Zone && m.Option == o.Option
}

// find returns an offering of a catalogue.
func find(t *testing.T, c *cluster.Catalogue, want cloud.OfferingChoice) cluster.Offering {
	t.Helper()
	for _, k := range c.InstanceTypes {
		for _, o := range k.Offerings {
			if k.Name == want.Kind && o.Zone == want.Zone && o.Option == want.Option {
				return o
			}
		}
	}
	t.Fatalf("the catalogue does not have %s %s in %s any more", want.Option, want.Kind, want.Zone)
	return cluster.Offering{}
}

// names tells whether the error lists the offering.
func names(e *cloud.NoCapacityError, o cloud.OfferingChoice) bool {
	return slices.ContainsFunc(e.Offerings, func(x cloud.OfferingChoice) bool {
		return x.Kind == o.Kind && x.Zone == o.Zone && x.Option == o.Option
	})
}

func instanceTypesInOrder(instanceTypes []cluster.InstanceType) bool {
	return slices.IsSortedFunc(instanceTypes, func(a, b cluster.InstanceType) int { return strings.Compare(a.Name, b.Name) })
}

func offeringsInOrder(offerings []cluster.Offering) bool {
	return slices.IsSortedFunc(offerings, func(a, b cluster.Offering) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Option, b.Option))
	})
}
