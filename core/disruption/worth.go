package disruption

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// payback is what a move of the node must save: what its pool asks for and, where it says nothing, what the controller is
// set to.
func (x *economy) payback(c *candidate) cluster.Payback {
	if said := c.pool.Policy.Payback; said != (cluster.Payback{}) {
		return said
	}
	return cluster.Payback{Off: x.options.EverySaving}
}

// paysBackWithin is how long a move may take to save what moving its pods costs.
const paysBackWithin = 24 * time.Hour

// unworthy says why letting the node go is not worth it where so much an hour is saved, with "at most " before that where
// no more is known; empty: it is. Moving pods costs nothing unless the pool's owner says what it does.
func (x *economy) unworthy(c *candidate, atMost string, saves quantity.MicroUSDPerHour) string {
	switch {
	case saves <= 0:
		return "nothing is saved"
	case x.paysBackIn(c, saves) > paysBackWithin:
		return fmt.Sprintf("%s%s would be saved, and moving %s costs about $%.3f, which takes more than a day to pay back",
			atMost, saves, counted(len(c.moving)), movingCost(c, x.payback(c)))
	}
	return x.unbalanced(c, saves)
}

// paysBackIn is how long it takes to save what moving the pods of the node costs.
func (x *economy) paysBackIn(c *candidate, saves quantity.MicroUSDPerHour) time.Duration {
	return time.Duration(float64(movingCost(c, x.payback(c)) / (float64(saves) / 1e6) * float64(time.Hour)))
}

// movingCost is what moving the pods of the node costs in dollars: of each what the pool's owner says, times how much the
// pod's owner minds.
func movingCost(c *candidate, p cluster.Payback) (dollars float64) {
	for _, pod := range c.moving {
		dollars += float64(p.PodDollars * max(0, EvictionCost(pod)))
	}
	return dollars
}

// counted says how many pods, in words of an event.
func counted(pods int) string {
	if pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", pods)
}

// EvictionCost is how much its owner minds that the pod is evicted, 1 for an
// ordinary one: 1 + deletion cost / 2^27 + priority / 2^25, from -10 to 10. No one minds
// that virtual pods move.
// Source: behaviour of Karpenter v1, disruption costs.
func EvictionCost(pod *cluster.Pod) float64 {
	if pod.Shape.Virtual {
		return -10
	}
	cost := 1 + float64(float64(pod.DeletionCost)/(1<<27)) + float64(float64(pod.Shape.Priority)/(1<<25))
	return min(10, max(-10, cost))
}

// disruptionCost is what it means to disturb the node: 1 for the node itself,
// and for its pods what their owners mind. Source: as EvictionCost.
func disruptionCost(c *candidate) float64 {
	cost := 1.0
	for _, p := range c.moving {
		cost += max(0, EvictionCost(p))
	}
	return cost
}

// balance is the k of the policy Balanced: what is saved, as a share of what
// the pool costs, must be worth at least the k-th part of what is disturbed, as
// a share of all that could be disturbed in the pool. Source: behaviour of
// Karpenter v1, Balanced consolidation.
const balance = 2

// unbalanced says why a pool whose policy is Balanced refuses the move; empty: it does not.
func (x *economy) unbalanced(c *candidate, saves quantity.MicroUSDPerHour) string {
	if c.pool.Policy.Consolidate != cluster.Balanced {
		return ""
	}
	all := x.wholeOf(c.Pool)
	if all.price <= 0 || all.disturbed <= 0 {
		return fmt.Sprintf("what nodes of %s cost is not known, so that nothing can be balanced", c.Pool)
	}
	saved, disturbed := float64(saves)/all.price, disruptionCost(c)/all.disturbed
	if float64(balance*saved) < disturbed {
		return fmt.Sprintf("%s is Balanced: %.1f %% of its cost would be saved, and %.1f %% of its pods and nodes disturbed", c.Pool, 100*saved, 100*disturbed)
	}
	return ""
}

// whole is what all nodes of a pool cost, and what it would mean to disturb
// them all.
type whole struct{ price, disturbed float64 }

func (x *economy) wholeOf(pool cluster.PoolID) whole {
	if x.wholes == nil {
		x.wholes = map[cluster.PoolID]whole{}
		for _, c := range candidates(x.snapshot) {
			w := x.wholes[c.Pool]
			x.wholes[c.Pool] = whole{w.price + float64(c.pool.CostOf(c.Node)), w.disturbed + disruptionCost(c)}
		}
	}
	return x.wholes[pool]
}

// cost is what is saved once the node is gone.
func (x *economy) cost(c *candidate) quantity.MicroUSDPerHour { return saved(x.bill, c) }

// saved is what a bill falls by once the node is gone: what it costs, but for what commitments pay for it that no other
// node takes over.
func saved(b *coverage.Bill, c *candidate) quantity.MicroUSDPerHour {
	if c.pool.Uncommitted {
		return c.pool.CostOf(c.Node)
	}
	return c.pool.CostOf(c.Node) - b.Covered(c.Name)
}

// savings is by how much the bill falls where the node goes and an answer's instances come, if any.
func (x *economy) savings(c *candidate, a *place.Result) quantity.MicroUSDPerHour {
	out := c.pool.CostOf(c.Node)
	if a == nil {
		return x.cost(c)
	}
	if c.pool.Uncommitted { // what its node uses of commitments does not count, and what others may use does
		for i := range a.Launches {
			out -= a.Launches[i].Choice.Cost()
		}
		return out
	}
	for i := range a.Launches {
		out -= a.Launches[i].Choice.ListCost()
	}
	return out + x.bill.Pays(changeOf(c, a))
}

func changeOf(c *candidate, a *place.Result) coverage.Change {
	out := coverage.Change{Nodes: []string{c.Name}}
	if a != nil {
		out.Launches = a.Launches
	}
	return out
}
