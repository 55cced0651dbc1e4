package disruption

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// succeeded reports whether an instance of its own pool takes the place of the node: its pool is static, and stays.
func (c *candidate) succeeded() bool { return c.pool.Static() && c.Drifted != cluster.PoolDeleted }

// succession finds instances in place of nodes of static pools.
type succession struct{ *Search }

// succeed lets a node of a static pool go once an instance of the pool has taken its place, whether or not pods run on it.
// It reports whether there is a place for its pods; if not, it says why, and the node stays.
func (x *succession) succeed(c *candidate, reason plan.RemovalReason, note string) bool {
	answer, lacks := x.successor(c)
	stall := ""
	if answer != nil && !c.HasGrace {
		stall = x.safety.neverDrains(c, answer)
	}
	switch {
	case stall != "":
		x.keepBy(c, reason, plan.KeptByRule, stall)
	case answer != nil:
		return x.let(c, reason, note, answer)
	case reason != plan.Drifted || !AtLimit(lacks):
		x.keep(c, reason, lacks)
	default:
		return x.await(c, note, lacks)
	}
	return false
}

// await lets a drifted node go before the instance in its place, which limits forbid beside it, if its user says so
// and no other node of the pool does. It reports whether it goes.
func (x *succession) await(c *candidate, note, lacks string) bool {
	switch {
	case !c.pool.Policy.DeleteFirst:
		x.keep(c, plan.Drifted, lacks)
	case turnsOver(x.current().Snapshot(), c.Pool):
		x.keepBy(c, plan.Drifted, plan.KeptByTime, "another node of its pool is being replaced")
	default:
		return x.let(c, plan.Drifted, note+goesFirst, nil)
	}
	return false
}

// limited reports whether a limit forbids the launch as long as the node is there. A minimum of on-demand nodes does so
// without the node too.
func limited(r plan.Reason) bool {
	return r.Rule == string(feasibility.Limit) && !strings.Contains(r.Text, cluster.LimitOnDemand)
}

// successor is the instance in place of a node of a static pool, with places for the node's pods: on that instance or, if
// it has no room for all of them, wherever others have it.
func (x *succession) successor(c *candidate) (answer *place.Result, lacks string) {
	own, reasons := x.current().Successor(c.at)
	if len(own.Launches) == 0 {
		text := (&plan.Short{Reasons: reasons}).Why()
		if slices.ContainsFunc(reasons, limited) {
			return nil, atLimit + text
		}
		return nil, "its replacement cannot be launched: " + text
	}
	if len(own.Unplaced) > 0 {
		elsewhere, _ := x.homes(c, own.Launches[0])
		switch {
		case no(elsewhere) && x.limitsForbid(c, own.Launches[0]):
			return nil, atLimit + why(elsewhere)
		case no(elsewhere):
			return nil, "no place for its pods: " + why(elsewhere)
		}
		own.Launches[0].Name, own.Launches[0].Pods = "successor", nil
		own.Launches, own.Placements = append(own.Launches, elsewhere.Launches...), elsewhere.Placements
	}
	own.Unplaced = nil
	return &own, ""
}
