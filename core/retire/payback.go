package retire

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// Payback says when a move that saves money is worth what it disturbs. The zero
// value is the default.
type Payback struct {
	Off        bool          // every move that saves anything is worth it
	PodDollars float64       // what it costs to move one pod; 0 means PodDollars
	LeastShare float64       // of the price of the nodes that go, which must be saved; 0 means LeastShare
	Horizon    time.Duration // savings further ahead do not count; 0 means Horizon
}

// The defaults.
const (
	PodDollars = 0.002
	LeastShare = 0.02
	Horizon    = 24 * time.Hour
)

func (p Payback) filled() Payback {
	if p.PodDollars == 0 {
		p.PodDollars = PodDollars
	}
	if p.LeastShare == 0 {
		p.LeastShare = LeastShare
	}
	if p.Horizon == 0 {
		p.Horizon = Horizon
	}
	return p
}

// youngFor is how long a pod counts as young: it has hardly done anything since
// it was started, so starting it again costs up to twice as much.
const youngFor = time.Hour

// moveWeight is how much more than for an ordinary pod it costs to move the pod: more for what is
// young, was moved lately, has volumes that must follow it, or is dear to its owner by priority and
// deletion cost.
func moveWeight(pod *cluster.Pod, now time.Time) float64 {
	weight := EvictionCost(pod)
	if weight <= 0 {
		return 0
	}
	if age := now.Sub(pod.StartedAt); age < youngFor {
		weight *= 2 - float64(float64(max(0, age))/float64(youngFor))
	}
	if now.Sub(pod.MovedAt) < Lately {
		weight *= float64(1 + pod.Moved)
	}
	return weight * float64(1+len(pod.Shape.Volumes))
}

// startCost is what the time is worth in which the pods start anew, in dollars: what they ask for is
// paid for and of no use until they are ready.
func startCost(m market, pods []*cluster.Pod, now time.Time) float64 {
	sum := 0.0
	for _, p := range pods {
		if p.StartsFor > 0 {
			perHour := m.worthOf(p) / 1e6
			sum += float64(perHour * p.StartsFor.Hours() * moveWeight(p, now))
		}
	}
	return sum
}

// EvictionCost is how much its owner minds that the pod is evicted, 1 for an
// ordinary one: 1 + deletion cost / 2^27 + priority / 2^25, from -10 to 10.
// Source: behaviour of Karpenter v1, disruption costs.
func EvictionCost(pod *cluster.Pod) float64 {
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

// verdict tells whether a move that saves so much an hour, and so many dollars
// until its pods or nodes are likely to be gone, is worth it; why says what is
// missing where it is not, with "at most " before what is saved where that is all
// that is known.
func (x *Search) verdict(nodes []*candidate, atMost string, saves quantity.MicroUSDPerHour, inAll float64) (payback time.Duration, why string) {
	price := costOf(nodes)
	p := x.payback(nodes)
	switch {
	case saves <= 0:
		return 0, "nothing is saved"
	case p.Off:
		return 0, x.unbalanced(nodes, saves)
	case float64(saves) < float64(p.LeastShare*float64(price)):
		return 0, fmt.Sprintf("%s%s would be saved, less than %.0f %% of the price", atMost, saves, 100*p.LeastShare)
	}
	cost, starts := x.movingCost(nodes, p)
	if cost > inAll && inAll < 0 {
		return 0, fmt.Sprintf("%s would be saved at first, and more than that be spent before pods and nodes are likely to be gone", saves)
	}
	if cost > inAll {
		return 0, fmt.Sprintf("%s%s would be saved, about $%.3f until pods or nodes are likely to be gone, and moving %s costs about $%.3f%s",
			atMost, saves, inAll, counted(podsOf(nodes)), cost, whileStarting(nodes, starts))
	}
	return time.Duration(float64(cost / (float64(saves) / 1e6) * float64(time.Hour))), x.unbalanced(nodes, saves)
}

// counted says how many pods, in words of an event.
func counted(pods int) string {
	if pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", pods)
}

// movingCost is what moving the pods of the nodes costs in dollars, and which part of that
// is for pods that start.
func (x *Search) movingCost(nodes []*candidate, p Payback) (dollars, starts float64) {
	for _, c := range nodes {
		starts += c.starts
		for _, pod := range c.moving {
			dollars += float64(p.PodDollars * moveWeight(pod, x.snapshot.Now))
		}
	}
	return dollars + starts, starts
}

// whileStarting says which part of what a move costs is for pods that start, and how long the slowest
// of them take; empty where none is.
func whileStarting(nodes []*candidate, dollars float64) string {
	if dollars < 0.0005 { // it would be told as nothing
		return ""
	}
	longest := time.Duration(0)
	for _, c := range nodes {
		for _, p := range c.moving {
			longest = max(longest, p.StartsFor)
		}
	}
	return fmt.Sprintf(" ($%.3f of it while they start, for up to %s)", dollars, longest)
}

// remaining is how long the node is likely to live if it is left alone: until
// it expires or is replaced at its age, as long as nodes of its pool have lived in the median, or the
// horizon, whichever is the least.
func (x *Search) remaining(c *candidate, p Payback) time.Duration {
	out := p.Horizon
	if !c.ExpiresAt.IsZero() {
		out = min(out, c.ExpiresAt.Sub(x.snapshot.Now))
	}
	if at, ever := c.renewAt(); ever {
		out = min(out, at.Sub(x.snapshot.Now))
	}
	return max(0, min(out, x.medianAge(c.Pool)))
}

func (x *Search) medianAge(pool cluster.PoolID) time.Duration {
	if age, known := x.ages[pool]; known {
		return age
	}
	var ages []time.Duration
	for i := range x.snapshot.Nodes {
		if n := &x.snapshot.Nodes[i]; n.Pool == pool && n.Claim != "" {
			ages = append(ages, x.snapshot.Now.Sub(n.CreatedAt))
		}
	}
	slices.Sort(ages)
	x.ages[pool] = ages[len(ages)/2]
	return x.ages[pool]
}

// balance is the k of the policy Balanced: what is saved, as a share of what
// the pool costs, must be worth at least the k-th part of what is disturbed, as
// a share of all that could be disturbed in the pool. Source: behaviour of
// Karpenter v1, Balanced consolidation.
const balance = 2

// unbalanced says why a pool whose policy is Balanced refuses the move; empty:
// all agree. What is saved counts for each pool by what its nodes cost.
func (x *Search) unbalanced(nodes []*candidate, saves quantity.MicroUSDPerHour) string {
	type part struct{ price, disturbed float64 }
	parts, price := map[cluster.PoolID]part{}, 0.0
	for _, c := range nodes {
		p := parts[c.Pool]
		parts[c.Pool] = part{p.price + float64(nodeCost(c)), p.disturbed + disruptionCost(c)}
		price += float64(nodeCost(c))
	}
	for _, c := range nodes {
		if c.pool.Policy.Consolidate != cluster.Balanced {
			continue
		}
		all, mine := x.wholeOf(c.Pool), parts[c.Pool]
		if price <= 0 || all.price <= 0 || all.disturbed <= 0 {
			return fmt.Sprintf("what nodes of %s cost is not known, so that nothing can be balanced", c.Pool)
		}
		saved := float64(saves) * mine.price / price / all.price
		disturbed := mine.disturbed / all.disturbed
		if float64(balance*saved) < disturbed {
			return fmt.Sprintf("%s is Balanced: %.1f %% of its cost would be saved, and %.1f %% of its pods and nodes disturbed", c.Pool, 100*saved, 100*disturbed)
		}
	}
	return ""
}

// whole is what all nodes of a pool cost, and what it would mean to disturb
// them all.
type whole struct{ price, disturbed float64 }

func (x *Search) wholeOf(pool cluster.PoolID) whole {
	if x.wholes == nil {
		x.wholes = map[cluster.PoolID]whole{}
		for _, c := range candidates(x.snapshot) {
			w := x.wholes[c.Pool]
			x.wholes[c.Pool] = whole{w.price + float64(nodeCost(c)), w.disturbed + disruptionCost(c)}
		}
	}
	return x.wholes[pool]
}

func nodeCost(c *candidate) quantity.MicroUSDPerHour { return c.pool.CostOf(c.Node) }

func costOf(nodes []*candidate) quantity.MicroUSDPerHour {
	var sum quantity.MicroUSDPerHour
	for _, c := range nodes {
		sum += nodeCost(c)
	}
	return sum
}

// savings is what nodes cost less what is bought in their place.
func savings(nodes []*candidate, a *place.Result) quantity.MicroUSDPerHour {
	out := costOf(nodes)
	for i := range a.Launches {
		out -= a.Launches[i].Choice.Cost()
	}
	return out
}

// podsOf counts the pods that would have to move.
func podsOf(nodes []*candidate) int {
	n := 0
	for _, c := range nodes {
		n += len(c.moving)
	}
	return n
}

func movingOf(nodes []*candidate) []cluster.Pod {
	var out []cluster.Pod
	for _, c := range nodes {
		out = append(out, c.copies()...)
	}
	return out
}
