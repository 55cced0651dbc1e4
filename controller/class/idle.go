package class

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// idleFor is how long a reservation has room before an event reports it: replacements leave
// the places of the instances they replace free for a while.
const idleFor = 30 * time.Minute

// idling is since when a reservation has had room at each check, and whether that was
// reported.
type idling struct {
	since    time.Time
	reported bool
}

// reportIdle reports reservations that have had room for long, once until they are full:
// what is reserved is paid for whether it runs or not.
func (r *Reconciler) reportIdle(c *Subject, found []nodeclass.Reservation) {
	known := r.records.of(c.GetName())
	now := map[string]idling{}
	for _, f := range found {
		if f.Idle == 0 || f.Expiring {
			continue
		}
		is, seen := known.idle[f.ID]
		if !seen {
			is.since = r.Now()
		}
		if !is.reported && r.Now().Sub(is.since) >= idleFor {
			is.reported = true
			r.publish(c, "CapacityReservationIdle", idleText(f))
		}
		now[f.ID] = is
	}
	known.idle = now
}

func idleText(r nodeclass.Reservation) string {
	what := "capacity reservation"
	if r.Block {
		what = "capacity block"
	}
	return fmt.Sprintf("%s %s has had room for %v and is paid for: now for %d of %s in %s. Pools use it that allow reserved capacity, its type and its zone; or make it smaller",
		what, r.ID, idleFor, r.Idle, r.Kind, r.Zone)
}
