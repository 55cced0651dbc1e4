package disruption

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// drift lets nodes go that are no longer what their pools and classes ask for, after instances that
// take their place have come. In each pool those without pods come first, then those that drifted
// first; pools take turns, so that one whose nodes cannot be replaced does not hold up the others.
func (x *Search) drift(all []*candidate) task {
	return x.inTurns(all, func(c *candidate) (time.Time, bool) { return c.DriftedAt, c.Drifted != "" }, x.replaceDrifted)
}

// inTurns replaces the nodes that are due, in each pool those without pods first and
// then those that became so first, a pool after the other.
func (x *Search) inTurns(all []*candidate, due func(*candidate) (since time.Time, is bool), replace func(*candidate)) task {
	turns, at := map[cluster.PoolID][]*candidate{}, map[*candidate]time.Time{}
	var pools []cluster.PoolID
	for _, c := range all {
		since, is := due(c)
		if !is {
			continue
		}
		if turns[c.Pool] == nil {
			pools = append(pools, c.Pool)
		}
		turns[c.Pool], at[c] = append(turns[c.Pool], c), since
	}
	slices.SortFunc(pools, func(a, b cluster.PoolID) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
	for _, list := range turns {
		slices.SortStableFunc(list, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(min(1, len(a.moving)), min(1, len(b.moving))), at[a].Compare(at[b]), cmp.Compare(a.Name, b.Name))
		})
	}
	return func() bool {
		for len(pools) > 0 {
			id := pools[0]
			pools = pools[1:]
			if len(turns[id]) == 0 {
				continue
			}
			c := turns[id][0]
			turns[id] = turns[id][1:]
			pools = append(pools, id)
			if !x.stays(c) {
				replace(c)
				return true
			}
		}
		return false
	}
}

// mayBeReplaced reports whether nothing is in the way of removing the node gracefully, places for
// its pods aside; what is, it records.
func (x *Search) mayBeReplaced(c *candidate, reason plan.RemovalReason) bool {
	if why := cmp.Or(x.safety.leaderless(c, true), c.hindrance(x.snapshot, x.pdbs, reason)); why != "" {
		x.keepBy(c, reason, plan.KeptByRule, why)
		return false
	}
	if why := x.budgets.closed(c, reason); why != "" {
		x.keepBy(c, reason, plan.KeptByBudget, why)
		return false
	}
	return true
}

func (x *Search) replaceDrifted(c *candidate) {
	if !x.mayBeReplaced(c, plan.Drifted) {
		return
	}
	if c.succeeded() {
		x.succession.succeed(c, plan.Drifted, c.Drifted)
		return
	}
	if len(c.moving) == 0 && x.safety.lacksOnDemand(c, nil) == "" {
		x.let(c, plan.Drifted, c.Drifted, nil)
		return
	}
	answer, preferences := x.homes(c)
	lacks := ""
	if !no(answer) {
		if answer, lacks = x.succession.keepingOnDemand(c, answer); AtLimit(lacks) {
			x.succession.await(c, c.Drifted, lacks)
			return
		} else if lacks != "" {
			x.keepBy(c, plan.Drifted, plan.KeptByRule, lacks)
			return
		}
	}
	stall := ""
	if !no(answer) && !c.HasGrace {
		stall = x.safety.neverDrains(c, answer)
	}
	switch {
	case stall != "":
		x.keepBy(c, plan.Drifted, plan.KeptByRule, stall)
	case !no(answer):
		x.let(c, plan.Drifted, c.Drifted, answer)
		x.economy.setAside(c, preferences)
	case c.mayGoFirst() && !turnsOver(x.current().Snapshot(), c.Pool) && x.limitsForbid(c):
		x.let(c, plan.Drifted, c.Drifted+goesFirst, nil)
	case !c.mayGoFirst() && x.limitsForbid(c):
		x.keep(c, plan.Drifted, atLimit+why(answer))
	default:
		x.keep(c, plan.Drifted, "no place for its pods: "+why(answer))
	}
}

// mayGoFirst reports whether the node may go before an instance in its place comes: its user says so, or no pod on it is
// a real one.
func (c *candidate) mayGoFirst() bool { return c.pool.Policy.DeleteFirst || c.heldByBuffers() }

// goesFirst ends what is said of a drifted node that goes before an instance in its place comes.
const goesFirst = "; it goes before its replacement comes, since limits do not allow both"

// atLimit begins what is said of a drifted node that waits at the limit of its pool.
const atLimit = "limits do not allow its replacement beside it: "

// AtLimit reports whether a drifted node stays, by what was said of it, since limits alone forbid
// to have an instance in its place beside it.
func AtLimit(why string) bool { return strings.HasPrefix(why, atLimit) }

// limitsForbid reports whether limits alone are in the way of instances for the node's pods, beside
// what is launched in any event. Where its user lets nodes go before these, one node of a pool does
// at a time, so that what it frees is for its own pods.
func (x *Search) limitsForbid(c *candidate, beside ...plan.Launch) bool {
	q := removal.Question{Leave: []int{c.at}, Below: removal.Any, Freed: true, Beside: beside}
	q.Open = x.ofPoolsThatStay()
	return !no(x.ask(q))
}

// turnsOver reports whether nodes of the pool are going or starting, or instances being launched
// for it.
func turnsOver(s *cluster.Snapshot, id cluster.PoolID) bool {
	turns := func(n cluster.Node) bool { return n.Pool == id && (n.Deleting || !n.Initialized) }
	return slices.ContainsFunc(s.Nodes, turns) || slices.ContainsFunc(s.Instances, func(m cluster.Instance) bool { return m.Pool == id })
}
