package conformance

import (
	"errors"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

var catalogueTests = []conformance{
	{"answers are sorted", func(t *testing.T, b *bench) {
		c := b.kinds(t)
		if len(c.InstanceTypes) == 0 || c.Revision == 0 {
			t.Fatalf("%d instance types at revision %d; want some, at a revision that is not 0", len(c.InstanceTypes), c.Revision)
		}
		if !instanceTypesInOrder(c.InstanceTypes) {
			t.Error("instance types are not sorted by name")
		}
		for _, k := range c.InstanceTypes {
			if !offeringsInOrder(k.Offerings) {
				t.Errorf("offerings of %s are not sorted by zone and capacity type: %+v", k.Name, k.Offerings)
			}
		}
	}},
	{"instance types have capacity, allocatable and labels", func(t *testing.T, b *bench) {
		for _, k := range b.kinds(t).InstanceTypes {
			if name, _ := k.Labels.Get(cluster.LabelInstanceType); name != k.Name {
				t.Errorf("%s has the label %s=%s", k.Name, cluster.LabelInstanceType, name)
			}
			if k.Capacity.CPU <= 0 || k.Capacity.Memory <= 0 || k.Capacity.Pods <= 0 {
				t.Errorf("%s has capacity %v", k.Name, k.Capacity)
			}
			if !k.Allocatable.FitsIn(k.Capacity) {
				t.Errorf("%s has allocatable %v of capacity %v", k.Name, k.Allocatable, k.Capacity)
			}
		}
	}},
	{"offerings have labels, and prices where they are available", func(t *testing.T, b *bench) {
		for _, k := range b.kinds(t).InstanceTypes {
			for _, o := range k.Offerings {
				zone, _ := o.Labels.Get(cluster.LabelZone)
				option, _ := o.Labels.Get(cluster.LabelCapacityType)
				if zone != o.Zone || option != string(o.Option) {
					t.Errorf("%s %s in %s is labelled %v", o.Option, k.Name, o.Zone, o.Labels)
				}
				if o.Available && !o.Priced || o.Priced && o.Price <= 0 {
					t.Errorf("%s %s in %s costs %v (priced %v)", o.Option, k.Name, o.Zone, o.Price, o.Priced)
				}
			}
		}
	}},
	{"dedicated offerings exist beside the usual, and cost no less", func(t *testing.T, b *bench) {
		special := 0
		for _, k := range b.kinds(t).InstanceTypes {
			for _, o := range k.Offerings {
				if o.Asked(nil) {
					continue
				}
				special++
				usual := find(t, b.kinds(t), cloud.OfferingChoice{Kind: k.Name, Zone: o.Zone, Option: o.Option})
				if value, known := o.Labels.Get(o.Unless.Key); value == o.Unless.Value || !known || !usual.Asked(nil) || o.Price < usual.Price {
					t.Errorf("%s is offered as %+v where %s=%s is excluded, otherwise as %+v", k.Name, o, o.Unless.Key, o.Unless.Value, usual)
				}
			}
		}
		if special == 0 && b.Dedicated {
			t.Error("no offering has dedicated tenancy")
		}
	}},
	{"nothing changed, same revision", func(t *testing.T, b *bench) {
		if first, second := b.kinds(t), b.kinds(t); first.Revision != second.Revision {
			t.Errorf("revision %d became %d though nothing happened", first.Revision, second.Revision)
		}
	}},
	{"insufficient capacity makes an offering unavailable", func(t *testing.T, b *bench) {
		before, offering := b.kinds(t), b.offerings(t, cluster.OnDemand, 1)[0]
		shortOf(t, b, offering)
		after := b.kinds(t)
		if find(t, after, offering).Available {
			t.Errorf("%s in %s had insufficient capacity and is still available", offering.Kind, offering.Zone)
		}
		if after.Revision == before.Revision {
			t.Errorf("availability changed and the revision is still %d", after.Revision)
		}
		if !find(t, before, offering).Available {
			t.Error("the earlier answer was written; answers are shared and immutable")
		}
	}},
	{"an unavailable offering becomes available again after a while", func(t *testing.T, b *bench) {
		if b.ShortageFor == 0 {
			t.Skip("the subject does not say how long offerings stay unavailable")
		}
		offering := b.offerings(t, cluster.OnDemand, 1)[0]
		shortOf(t, b, offering)
		b.Advance(b.ShortageFor)
		if !find(t, b.kinds(t), offering).Available {
			t.Errorf("%s in %s is still unavailable after %v", offering.Kind, offering.Zone, b.ShortageFor)
		}
	}},
	{"a new price is a new revision", func(t *testing.T, b *bench) {
		if b.SetPrice == nil {
			t.Skip("the subject cannot set prices")
		}
		before, offering := b.kinds(t), b.offerings(t, cluster.Spot, 1)[0]
		b.SetPrice(offering, 2*offering.Priority)
		after := b.kinds(t)
		if got := float64(find(t, after, offering).Price) / 1e6; got < 1.9*offering.Priority || got > 2.1*offering.Priority {
			t.Errorf("the offering costs %v, want twice %v", got, offering.Priority)
		}
		if after.Revision == before.Revision {
			t.Errorf("a price changed and the revision is still %d", after.Revision)
		}
	}},
}

// shortOf leaves an offering without capacity and tries to launch it.
func shortOf(t *testing.T, b *bench, offering cloud.OfferingChoice) {
	t.Helper()
	b.exhaust(t, offering, 0)
	_, err := b.Instances.Launch(t.Context(), b.request(1, offering))
	if _, short := errors.AsType[*cloud.NoCapacityError](err); !short {
		t.Fatalf("Launch from an offering without capacity = %v, want *NoCapacityError", err)
	}
}
