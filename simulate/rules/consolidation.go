package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

const (
	candidatesMost = 100 // nodes that are checked for going together
	spotTypesLeast = 15  // cheaper types that a spot instance in place of a single spot node needs, and is left with
	balance        = 2   // consolidationPolicy Balanced: the share of the pool's cost that is saved is at least that of its disruption divided by this
)

// candidate is a node that may go.
type candidate struct {
	*cluster.Node
	pool   *cluster.Pool
	moving []cluster.Pod // that need another place
	cost   float64       // of disrupting it
}

// command is what is to be done about some nodes.
type command struct {
	reason plan.RemovalReason
	nodes  []*candidate
	claim  *claim // in their place; nil: none
	placed []plan.Placement
	saves  quantity.MicroUSDPerHour
}

// candidates lists the nodes that may go to save money now, those that save most for their
// disruption first: none that are going, nominated, too old or protected, no pods that
// may not be evicted, and nothing happened on them for consolidateAfter.
func (k *karpenter) candidates(x *state) (out []*candidate) {
	budgets := disruption.PDBsOf(x.PDBs)
	for i := range x.Nodes {
		n := &x.Nodes[i]
		pool, found := x.Pool(n.Pool)
		switch {
		case !found || n.Claim == "" || !n.Initialized || n.Deleting || n.DoNotDisrupt || tooOld(n, x.Now):
		case pool.Catalogue == nil || pool.Static() || pool.Policy.Never || x.recent(n):
		case len(n.LaunchedFor) > 0 || x.Now.Before(k.nominated[n.Name]) || disruption.EndsWork(n.Pods) != "" || heldBy(budgets, n.Pods):
		default:
			out = append(out, &candidate{Node: n, pool: pool, moving: moving(n), cost: costOfDisruption(n)})
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(float64(b.Price)/b.cost, float64(a.Price)/a.cost), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// recent reports whether something happened on the node within consolidateAfter.
func (x *state) recent(n *cluster.Node) bool {
	pool, found := x.Pool(n.Pool)
	return found && !pool.Policy.Never && pool.Policy.After > 0 && (n.QuietSince.IsZero() || x.Now.Sub(n.QuietSince) < pool.Policy.After)
}

// heldBy reports whether some pod may not be evicted now.
func heldBy(budgets disruption.PDBs, pods []cluster.Pod) bool {
	return slices.ContainsFunc(pods, func(p cluster.Pod) bool {
		p.LastOf = "" // a rule of this product alone
		return budgets.Hold(&p) != ""
	})
}

// moving lists the pods of a node that need another place.
func moving(n *cluster.Node) (out []cluster.Pod) {
	for i := range n.Pods {
		if n.Pods[i].Moves() {
			out = append(out, n.Pods[i])
		}
	}
	return out
}

// costOfDisruption is 1 and what it costs to evict the pods of the node: about 1 for each,
// more or less by priority and pod-deletion-cost.
func costOfDisruption(n *cluster.Node) float64 {
	out := 1.0
	for _, p := range moving(n) {
		cost := 1 + float64(p.DeletionCost)/(1<<27) + float64(p.Shape.Priority)/(1<<25)
		out += max(0, min(cost, 10))
	}
	return out
}

func (c *candidate) empty() bool { return c.cost <= 1 }

// within keeps as many of the nodes as the budgets of their pools allow.
func (x *state) within(all []*candidate, reason plan.RemovalReason) (out []*candidate) {
	shares := disruption.Shares(x.Nodes)
	for _, c := range all {
		share := shares[c.Pool]
		if share.Used < disruption.Allowance(&c.pool.Policy, reason).Most {
			out = append(out, c)
		}
		if c.Ready {
			share.Used++
		}
		shares[c.Pool] = share
	}
	return out
}

// emptiness is that all empty nodes go.
func (x *state) emptiness(all []*candidate) *command {
	nodes := x.within(slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !c.empty() }), plan.Empty)
	if len(nodes) == 0 {
		return nil
	}
	return &command{reason: plan.Empty, nodes: nodes}
}

// consolidation is that the most nodes go together that can, from the first on, else a
// single one.
func (x *state) consolidation(all []*candidate) *command {
	all = x.within(slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool {
		return c.empty() || c.pool.Policy.Consolidate == cluster.WhenEmpty
	}), plan.Underutilized)
	var best *command
	for low, high := 2, min(len(all), candidatesMost); low <= high; {
		middle := (low + high) / 2
		if c := x.consolidate(all[:middle]); c != nil {
			best, low = c, middle+1
		} else {
			high = middle - 1
		}
	}
	for _, c := range interleaved(all) {
		if best != nil {
			break
		}
		best = x.consolidate([]*candidate{c})
	}
	return best
}

// interleaved takes one node of each pool in turn.
func interleaved(all []*candidate) []*candidate {
	turn, turns := map[string]int{}, map[cluster.PoolID]int{}
	for _, c := range all {
		turn[c.Name] = turns[c.Pool]
		turns[c.Pool]++
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(turn[a.Name], turn[b.Name]) })
	return out
}

// consolidate simulates that the nodes go: nil unless all their pods have places, with
// at most one new node that costs less.
func (x *state) consolidate(nodes []*candidate) *command {
	pods := place.Waiting(x.Snapshot)
	for _, c := range nodes {
		pods = append(pods, c.moving...)
	}
	m := x.simulate(nodes, pods, 1)
	m.run(pods)
	if m.over || slices.ContainsFunc(m.unplaced, func(p cluster.Pod) bool { return m.moving[p.UID] }) {
		return nil
	}
	out := &command{reason: plan.Underutilized, nodes: nodes, placed: m.placed}
	for _, c := range nodes {
		out.saves += c.Price
	}
	if len(m.claims) == 1 {
		out.claim = m.claims[0]
		if !out.claim.cheaper(nodes, out.saves, x.spotToSpot) {
			return nil
		}
		out.saves -= out.claim.launch().Choice.Price
	}
	if out.saves <= 0 || !x.balanced(out) {
		return nil
	}
	return out
}

// cheaper keeps the types of the claim that cost less than the nodes whatever offering of
// them is launched; false: none. In place of several nodes it is of no type of theirs
// that does not cost less than each of that type. It is a spot instance where it may be, in
// place of on-demand ones.
func (c *claim) cheaper(nodes []*candidate, price quantity.MicroUSDPerHour, spotToSpot bool) bool {
	c.options = c.pool.ofOneCapacityType(c.options)
	isSpot := func(n *candidate) bool {
		value, _ := n.Labels.Get(cluster.LabelCapacityType)
		return value == string(cluster.Spot)
	}
	amongSpot := c.onSpot() && !slices.ContainsFunc(nodes, func(n *candidate) bool { return !isSpot(n) })
	if amongSpot && !spotToSpot {
		return false
	}
	worst := c.worstPrices()
	below := func(price quantity.MicroUSDPerHour) {
		c.options = c.pool.without(c.options, func(i int) bool { return worst[c.pool.InstanceType(c.pool.Options[i]).Name] >= price })
	}
	below(price)
	same := quantity.MicroUSDPerHour(-1)
	for _, n := range nodes {
		kind, _ := n.Labels.Get(cluster.LabelInstanceType)
		if slices.Contains(c.pool.types(c.options), kind) && (same < 0 || n.Price < same) {
			same = n.Price
		}
	}
	if len(nodes) > 1 && same >= 0 {
		below(same)
	}
	if amongSpot && len(nodes) == 1 && !c.cheapestTypes(spotTypesLeast) {
		return false
	}
	return c.options.Next(0) >= 0 && c.pool.keepsValues(c.options)
}

// cheapestTypes leaves the claim open to so many types; false: there are fewer.
func (c *claim) cheapestTypes(n int) bool {
	types := c.pool.types(c.options)
	if len(types) < n {
		return false
	}
	c.options = c.pool.without(c.options, func(i int) bool { return !slices.Contains(types[:n], c.pool.InstanceType(c.pool.Options[i]).Name) })
	return true
}

// onSpot reports whether the claim is for a spot instance.
func (c *claim) onSpot() bool {
	i := c.options.Next(0)
	return i >= 0 && c.pool.Offering(c.pool.Options[i]).Option == cluster.Spot
}

// worstPrices is the highest price of each type among what the claim may become.
func (c *claim) worstPrices() map[string]quantity.MicroUSDPerHour {
	out := map[string]quantity.MicroUSDPerHour{}
	for i := c.options.Next(0); i >= 0; i = c.options.Next(i + 1) {
		o := c.pool.Options[i]
		out[c.pool.InstanceType(o).Name] = max(out[c.pool.InstanceType(o).Name], c.pool.Offering(o).Price)
	}
	return out
}

// balanced reports whether each pool with the policy Balanced saves enough of its cost for
// how much of it is disrupted. What is saved is split among pools by what their nodes cost.
func (x *state) balanced(c *command) bool {
	price := map[cluster.PoolID]float64{}
	cost, all := map[cluster.PoolID]float64{}, 0.0
	for _, n := range c.nodes {
		price[n.Pool] += float64(n.Price)
		cost[n.Pool] += n.cost
		all += float64(n.Price)
	}
	for _, n := range c.nodes {
		if n.pool.Policy.Consolidate != cluster.Balanced {
			continue
		}
		prices, costs := 0.0, 0.0
		for i := range x.Nodes {
			if o := &x.Nodes[i]; o.Pool == n.Pool {
				prices, costs = prices+float64(o.Price), costs+costOfDisruption(o)
			}
		}
		saved := float64(c.saves) * price[n.Pool] / all / prices
		if saved/(cost[n.Pool]/costs) < 1.0/balance {
			return false
		}
	}
	return true
}

// move is the command as plans have it.
func (c *command) move() plan.Move {
	out := plan.Move{Saves: c.saves, Placements: c.placed}
	note := "it is empty"
	if c.reason == plan.Underutilized {
		note = fmt.Sprintf("%d nodes go together and their pods fit on others", len(c.nodes))
	}
	if c.claim != nil {
		l := c.claim.launch()
		l.Reason, note = "it replaces nodes that cost more", fmt.Sprintf("%d nodes are replaced by a cheaper one", len(c.nodes))
		out.Launches = []plan.Launch{l}
		for i := range c.claim.pods {
			out.Placements = append(out.Placements, plan.Placement{Pod: c.claim.pods[i], On: plan.OnLaunch, Target: l.Name})
		}
	}
	for _, n := range c.nodes {
		out.Removals = append(out.Removals, n.removal(c.reason, note))
	}
	return out
}

func (c *candidate) removal(reason plan.RemovalReason, note string) plan.Removal {
	return plan.Removal{Node: c.Name, Claim: c.Claim, Pool: c.Pool, Reason: reason, Note: note, Pods: c.moving}
}
