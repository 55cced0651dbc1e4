package cloudtest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

func byPrice(offers []cloud.OfferChoice) {
	slices.SortStableFunc(offers, func(a, b cloud.OfferChoice) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Zone, b.Zone))
	})
}

// ids lists the machines' IDs in their order.
func ids(machines []cloud.Machine) []string {
	out := make([]string, len(machines))
	for i, m := range machines {
		out[i] = m.ID
	}
	return out
}

func sameIDs(t *testing.T, what string, got []cloud.Machine, want []string) {
	t.Helper()
	if !slices.Equal(ids(got), want) {
		t.Errorf("%s: machines %v, want %v", what, ids(got), want)
	}
}

// isOf reports whether the machine came from the offer.
func isOf(m cloud.Machine, o cloud.OfferChoice) bool {
	return m.Kind == o.Kind && m.Zone == o.Zone && m.Option == o.Option
}

// find returns an offer of a catalogue.
func find(t *testing.T, c *cluster.Catalogue, want cloud.OfferChoice) cluster.Offer {
	t.Helper()
	for _, k := range c.Kinds {
		for _, o := range k.Offers {
			if k.Name == want.Kind && o.Zone == want.Zone && o.Option == want.Option {
				return o
			}
		}
	}
	t.Fatalf("the catalogue does not have %s %s in %s any more", want.Option, want.Kind, want.Zone)
	return cluster.Offer{}
}

// names tells whether the error lists the offer.
func names(e *cloud.NoCapacityError, o cloud.OfferChoice) bool {
	return slices.ContainsFunc(e.Offers, func(x cloud.OfferChoice) bool {
		return x.Kind == o.Kind && x.Zone == o.Zone && x.Option == o.Option
	})
}

func kindsInOrder(kinds []cluster.Kind) bool {
	return slices.IsSortedFunc(kinds, func(a, b cluster.Kind) int { return strings.Compare(a.Name, b.Name) })
}

func offersInOrder(offers []cluster.Offer) bool {
	return slices.IsSortedFunc(offers, func(a, b cluster.Offer) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Option, b.Option))
	})
}
