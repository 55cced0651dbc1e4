package launch

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
)

// TestNoMoreIsAskedForThanAReservationHas: claims that may come from any of several
// reservations are launched for from one after another, at once and without a refusal.
func TestNoMoreIsAskedForThanAReservationHas(t *testing.T) {
	for name, dies := range map[string]bool{"in one go": false, "with a restart in between": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("c1", "c2", "c3"), newEmulated()
				s.room = 2
				var asked []time.Time
				s.before = refusesMoreThan(s.room, &asked)
				if dies {
					launch(t, store, s, func(string) bool { return true }, 500*time.Millisecond)
				}
				launch(t, store, s, nil, time.Minute)
				owners(t, store)
				if len(s.instances) != 3 || len(s.answers) != 2 {
					t.Errorf("%d machines bought by %d requests, want 3 by 2", len(s.instances), len(s.answers))
				}
				if last := len(asked) - 1; !dies && (last != 1 || !asked[last].Equal(asked[0])) {
					t.Errorf("asked at %v, want twice in one moment", asked)
				}
			})
		})
	}
}

// TestAThousandInstancesAreAskedForAtATime: a plan may order more equal instances than the
// cloud takes a request for. The rest is asked for at once, and not again after a restart
// in between.
func TestAThousandInstancesAreAskedForAtATime(t *testing.T) {
	for name, dies := range map[string]bool{"in one go": false, "with a restart in between": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const claims = offering.InstancesMax + 2
				names := make([]string, claims)
				for i := range names {
					names[i] = fmt.Sprintf("c%04d", i)
				}
				store, s := storeWith(names...), newEmulated()
				s.reservedCapacity[cluster.Spot] = claims
				var asked []time.Time
				s.before = refusesMoreThan(offering.InstancesMax, &asked)
				if dies {
					launch(t, store, s, func(string) bool { return true }, 500*time.Millisecond)
				}
				launch(t, store, s, nil, time.Minute)
				owners(t, store)
				if len(s.instances) != claims || len(s.answers) != 2 || s.reservedCapacity[cluster.OnDemand] != offering.InstancesMax {
					t.Errorf("SC-426: %d machines bought by %d requests, want %d by 2", len(s.instances), len(s.answers), claims)
				}
				if last := len(asked) - 1; !dies && (last != 1 || !asked[last].Equal(asked[0])) {
					t.Errorf("SC-426: asked at %v, want twice in one moment", asked)
				}
			})
		})
	}
}

// refusesMoreThan is a cloud that launches so many at once, and notes when it was asked.
func refusesMoreThan(most int, asked *[]time.Time) func(cloud.LaunchRequest) error {
	return func(r cloud.LaunchRequest) error {
		*asked = append(*asked, time.Now())
		if r.Count > most {
			return &cloud.RefusedError{Reason: "LaunchFailed", Cause: fmt.Sprintf("%d are too many", r.Count)}
		}
		return nil
	}
}
