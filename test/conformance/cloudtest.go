// Package conformance is the specification of the cloud port as tests, which every provider must pass,
// the in-memory one included. It tests what the port's doc comments promise, line by line.
//
// It promises to require only what the port says, to launch only a few instances, and to wait only
// through the clock of the provider under test. It does not test how a provider interprets a class.
package conformance

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

// Subject is a provider to be tested, with a cloud that the tests may break.
// Fields marked optional leave tests out where they are nil or zero.
type Subject struct {
	Catalog              cloud.Catalog
	Instances            cloud.Instances
	InterruptionMessages cloud.InterruptionMessages // optional
	Other                cloud.Instances            // optional: the same cloud, for another cluster
	Class                cloud.Class

	Name      string // begins tokens and batches, where several subjects share a cloud; optional
	Dedicated bool   // instances of dedicated tenancy may be launched, which may cost much; optional

	// Advance lets that much of the cloud's time pass and returns when the
	// provider had a chance to notice.
	Advance func(d time.Duration)
	// Exhaust leaves n instances of an offering. Optional.
	Exhaust func(o cloud.OfferingChoice, n int)
	// SetPrice changes the price of an offering. Optional.
	SetPrice func(o cloud.OfferingChoice, dollars float64)
	// Reserve reserves n instances of a kind in a zone for the class, and returns what they
	// have as their Capacity reservation; EndReservation cancels that. Optional.
	Reserve        func(kind, zone string, n int) (reservedCapacity string)
	EndReservation func(reservedCapacity string)
	// Ended sends the message that an instance has terminated, where the cloud does not do so by
	// itself. Optional.
	Ended func(instanceID string)
	// Interrupt makes the cloud take a spot instance back. Optional.
	Interrupt func(instanceID string)

	LagMax      time.Duration // after it, a new instance and its tags are seen by all calls
	EndMax      time.Duration // after it, an instance terminated is terminated
	ShortageFor time.Duration // how long an offering without capacity stays unavailable; optional
	RedeliverIn time.Duration // how soon a message comes again that is not acknowledged; optional
}

// Run tests a provider. Open is called once a test and returns a fresh one,
// which offers on-demand and spot instances of several kinds.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	for _, group := range []struct {
		name  string
		tests []conformance
	}{{"catalogue", catalogueTests}, {"launch", launchTests}, {"reserved", reservedTests}, {"instances", instanceTests}, {"interruptions", interruptionMessageTests}} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) { c.test(t, &bench{Subject: open(t)}) })
			}
		})
	}
}

// conformance is one promise.
type conformance struct {
	name string
	test func(t *testing.T, b *bench)
}

// bench is a subject with what the tests do to it repeatedly.
type bench struct {
	Subject
	requests atomic.Int64
}

// kinds reads the catalogue.
func (b *bench) kinds(t *testing.T) *cluster.Catalogue {
	t.Helper()
	c, err := b.Catalog.Kinds(t.Context(), b.Class)
	if err != nil {
		t.Fatalf("Kinds(%s): %v", b.Class.ID, err)
	}
	return c
}

// offerings picks n offerings of one capacity type, each of another instance type or zone,
// the cheapest first.
func (b *bench) offerings(t *testing.T, option cluster.Option, n int) []cloud.OfferingChoice {
	t.Helper()
	var out []cloud.OfferingChoice
	for _, k := range b.kinds(t).InstanceTypes {
		for _, o := range k.Offerings {
			if o.Option == option && o.Available && o.Priced && o.Asked(nil) {
				out = append(out, cloud.OfferingChoice{Kind: k.Name, Zone: o.Zone, Option: option, Priority: float64(o.Price) / 1e6})
			}
		}
	}
	if len(out) < n {
		t.Fatalf("the catalogue has %d %s offerings, the test needs %d", len(out), option, n)
	}
	byPrice(out)
	return out[:n]
}

// request asks for count instances of the given offerings, under a token and a
// batch of its own.
func (b *bench) request(count int, offerings ...cloud.OfferingChoice) cloud.LaunchRequest {
	n := b.requests.Add(1)
	return cloud.LaunchRequest{
		Class: b.Class, Token: fmt.Sprintf("%stoken-%d", b.Name, n), Batch: fmt.Sprintf("%sbatch-%d", b.Name, n), Count: count,
		Options: offerings, Tags: map[string]string{"team": "blue", "env": "test", "karpenter.sh/nodepool": "conformance"},
	}
}

// launch launches and expects all that was asked for.
func (b *bench) launch(t *testing.T, r cloud.LaunchRequest) []cloud.Instance {
	t.Helper()
	got, err := b.Instances.Launch(t.Context(), r)
	if err != nil {
		t.Fatalf("Launch(%d of %v): %v", r.Count, r.Options, err)
	}
	if len(got) != r.Count {
		t.Fatalf("Launch(%d) returned %d instances and no error", r.Count, len(got))
	}
	return got
}

// exhaust leaves n instances of an offering, where the subject can do so.
func (b *bench) exhaust(t *testing.T, o cloud.OfferingChoice, n int) {
	t.Helper()
	if b.Exhaust == nil {
		t.Skip("the subject's capacity cannot be changed")
	}
	b.Exhaust(o, n)
}

// list waits until new instances are to be seen and lists.
func (b *bench) list(t *testing.T, f cloud.Filter) []cloud.Instance {
	t.Helper()
	b.Advance(b.LagMax)
	got, err := b.Instances.List(t.Context(), f)
	if err != nil {
		t.Fatalf("List(%+v): %v", f, err)
	}
	return got
}
