package disruption

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// renewAt is when the node is as old as its pool has nodes become before it replaces them
// gracefully; ever is false where it does not.
func (c *candidate) renewAt() (at time.Time, ever bool) {
	after := c.pool.Policy.Renew
	return c.CreatedAt.Add(after), after > 0
}

// outlived reports whether that is over. One whose pool is being deleted goes for that.
func (c *candidate) outlived(now time.Time) bool {
	at, ever := c.renewAt()
	return ever && !at.After(now) && c.Drifted != cluster.PoolDeleted
}

// renewal replaces nodes that are too old for their pools, gracefully: never by force, in turns and
// within budgets as those that drifted, and before these.
func (x *Search) renewal(all []*candidate) task {
	return x.inTurns(all, func(c *candidate) (time.Time, bool) { return c.CreatedAt, c.outlived(x.snapshot.Now) }, x.renew)
}

func (x *Search) renew(c *candidate) {
	if !x.mayBeReplaced(c, plan.Expired) {
		return
	}
	note := fmt.Sprintf("it is replaced at the age of %s", c.pool.Policy.Renew)
	if c.succeeded() {
		x.succession.succeed(c, plan.Expired, note)
		return
	}
	if len(c.moving) == 0 && x.safety.lacksOnDemand(c, nil) == "" {
		x.let(c, plan.Expired, note, nil)
		return
	}
	answer, preferences := x.homes(c)
	if no(answer) {
		x.keep(c, plan.Expired, "no place for its pods: "+why(answer))
		return
	}
	answer, lacks := x.succession.keepingOnDemand(c, answer)
	if lacks != "" {
		x.keepBy(c, plan.Expired, plan.KeptByRule, lacks)
		return
	}
	if stall := x.safety.neverDrains(c, answer); stall != "" && !c.HasGrace {
		x.keepBy(c, plan.Expired, plan.KeptByRule, stall)
		return
	}
	x.let(c, plan.Expired, note, answer)
	x.economy.setAside(c, preferences)
}
