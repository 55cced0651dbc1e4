package conformance

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

var launchTests = []conformance{
	{"instances come from the requested offerings, sorted", func(t *testing.T, b *bench) {
		r := b.request(3, b.offerings(t, cluster.OnDemand, 2)...)
		got := b.launch(t, r)
		if !slices.IsSorted(ids(got)) || len(slices.Compact(ids(got))) != 3 {
			t.Errorf("IDs %v are not three in order", ids(got))
		}
		for _, m := range got {
			if !slices.ContainsFunc(r.Options, func(o cloud.OfferingChoice) bool { return isOf(m, o) }) {
				t.Errorf("%s %s in %s was not asked for", m.Option, m.Kind, m.Zone)
			}
			if m.ProviderID == "" {
				t.Errorf("instance %s has no provider ID", m.ID)
			}
		}
	}},
	{"an ordered request is launched in its order, whatever offerings cost", func(t *testing.T, b *bench) {
		offerings := b.offerings(t, cluster.OnDemand, 2)
		for i := range offerings {
			r := b.request(1, offerings...)
			r.Ordered = true
			for j := range r.Options {
				r.Options[j].Priority = 0.5
			}
			r.Options[i].Priority = 0.25
			if got := b.launch(t, r); !isOf(got[0], offerings[i]) {
				t.Errorf("launched %+v, want the first by priority: %+v", got[0], offerings[i])
			}
		}
	}},
	{"spot instances have the capacity type spot", func(t *testing.T, b *bench) {
		offering := b.offerings(t, cluster.Spot, 1)[0]
		got := b.launch(t, b.request(1, offering))
		listed := b.list(t, cloud.Filter{IDs: ids(got)})
		if len(listed) != 1 || !isOf(got[0], offering) || !isOf(listed[0], offering) {
			t.Errorf("launched %+v and listed %+v, want %+v", got, listed, offering)
		}
	}},
	{"dedicated instances are launched only when requested", func(t *testing.T, b *bench) {
		if !b.Dedicated {
			t.Skip("the subject launches no dedicated instances")
		}
		usual := b.offerings(t, cluster.OnDemand, 1)[0]
		alone := usual
		alone.Dedicated = true
		for _, o := range []cloud.OfferingChoice{usual, alone} {
			got := b.launch(t, b.request(1, o))
			listed := b.list(t, cloud.Filter{IDs: ids(got)})
			if len(listed) != 1 || got[0].Dedicated != o.Dedicated || listed[0].Dedicated != o.Dedicated {
				t.Errorf("launched %+v and listed %+v, want %+v", got, listed, o)
			}
		}
	}},
	{"an equal token launches once", func(t *testing.T, b *bench) {
		r := b.request(2, b.offerings(t, cluster.OnDemand, 2)...)
		first := b.launch(t, r)
		sameIDs(t, "the second answer", b.launch(t, r), ids(first))
		sameIDs(t, "what the batch has", b.list(t, cloud.Filter{Batch: r.Batch}), ids(first))
	}},
	{"an equal token in concurrent requests launches once", func(t *testing.T, b *bench) {
		r := b.request(1, b.offerings(t, cluster.OnDemand, 1)...)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if _, err := b.Instances.Launch(t.Context(), r); err != nil {
					t.Errorf("Launch: %v", err)
				}
			})
		}
		wait.Wait()
		if got := b.list(t, cloud.Filter{Batch: r.Batch}); len(got) != 1 {
			t.Errorf("four equal requests launched %v", ids(got))
		}
	}},
	{"an equal token with other parameters is refused", func(t *testing.T, b *bench) {
		r := b.request(1, b.offerings(t, cluster.OnDemand, 1)...)
		first := b.launch(t, r)
		r.Count = 2
		_, err := b.Instances.Launch(t.Context(), r)
		if mismatch, ok := errors.AsType[*cloud.TokenMismatchError](err); !ok || mismatch.Token != r.Token {
			t.Errorf("Launch = %v, want *TokenMismatchError for %s", err, r.Token)
		}
		sameIDs(t, "what the batch has", b.list(t, cloud.Filter{Batch: r.Batch}), ids(first))
	}},
	{"equal requests under two tokens launch twice", func(t *testing.T, b *bench) {
		offerings := b.offerings(t, cluster.OnDemand, 1)
		first, second := b.launch(t, b.request(1, offerings...)), b.launch(t, b.request(1, offerings...))
		if first[0].ID == second[0].ID {
			t.Errorf("two launches returned the same instance %s", first[0].ID)
		}
	}},
	{"the next offering serves what one has no capacity for", func(t *testing.T, b *bench) {
		offerings := b.offerings(t, cluster.OnDemand, 2)
		b.exhaust(t, offerings[0], 0)
		for _, m := range b.launch(t, b.request(2, offerings...)) {
			if !isOf(m, offerings[1]) {
				t.Errorf("%s %s in %s came from an offering without capacity", m.ID, m.Kind, m.Zone)
			}
		}
	}},
	{"Prepare launches nothing, and a launch works after it", func(t *testing.T, b *bench) {
		r := b.request(2, b.offerings(t, cluster.OnDemand, 2)...)
		hint := r
		hint.Token, hint.Batch, hint.Count = "", "", 0
		for range 2 {
			if err := b.Instances.Prepare(t.Context(), hint); err != nil {
				t.Fatalf("Prepare(%v): %v", hint.Options, err)
			}
		}
		if got := b.list(t, cloud.Filter{}); len(got) != 0 {
			t.Fatalf("Prepare launched %v", ids(got))
		}
		launched := ids(b.launch(t, r))
		sameIDs(t, "what there is after the launch", b.list(t, cloud.Filter{}), launched)
	}},
	{"a launch of too few returns those with an error", func(t *testing.T, b *bench) {
		offering := b.offerings(t, cluster.OnDemand, 1)[0]
		b.exhaust(t, offering, 1)
		r := b.request(3, offering)
		got, err := b.Instances.Launch(t.Context(), r)
		short, ok := errors.AsType[*cloud.NoCapacityError](err)
		if !ok || !names(short, offering) {
			t.Errorf("Launch(3) with 1 left = %v, want *NoCapacityError naming %+v", err, offering)
		}
		if len(got) != 1 {
			t.Fatalf("Launch(3) with 1 left returned %d instances", len(got))
		}
		sameIDs(t, "what the batch has", b.list(t, cloud.Filter{Batch: r.Batch}), ids(got))
	}},
	{"a token keeps its answer of insufficient capacity", func(t *testing.T, b *bench) {
		offering := b.offerings(t, cluster.OnDemand, 1)[0]
		b.exhaust(t, offering, 1)
		r := b.request(3, offering)
		first, _ := b.Instances.Launch(t.Context(), r)
		b.exhaust(t, offering, 10)
		again, err := b.Instances.Launch(t.Context(), r)
		if short, ok := errors.AsType[*cloud.NoCapacityError](err); !ok || !short.Answered {
			t.Errorf("Launch = %v, want the *NoCapacityError of before, answered", err)
		}
		sameIDs(t, "the second answer", again, ids(first))
		sameIDs(t, "what the batch has", b.list(t, cloud.Filter{Batch: r.Batch}), ids(first))
	}},
	{"the error names every offering, in the requested order", func(t *testing.T, b *bench) {
		offerings := b.offerings(t, cluster.Spot, 3)
		for _, o := range offerings {
			b.exhaust(t, o, 0)
		}
		got, err := b.Instances.Launch(t.Context(), b.request(1, offerings...))
		short, ok := errors.AsType[*cloud.NoCapacityError](err)
		if !ok || len(got) != 0 || len(short.Offerings) != 3 {
			t.Fatalf("Launch = %v, %v; want nothing and *NoCapacityError naming three offerings", ids(got), err)
		}
		for i, o := range offerings {
			if short.Offerings[i].Kind != o.Kind || short.Offerings[i].Zone != o.Zone {
				t.Errorf("offering %d of the error is %+v, want %+v", i, short.Offerings[i], o)
			}
		}
	}},
}
