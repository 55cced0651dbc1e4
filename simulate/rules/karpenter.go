package rules

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// How long Karpenter waits.
const (
	loopEvery     = 10 * time.Second // between two searches for nodes to disrupt
	validateAfter = 15 * time.Second // until a command that saves money is computed again and carried out
	nominatedFor  = 20 * time.Second // a node that pending pods are to come to is not disrupted
	idleFor       = 5 * time.Minute  // consolidation that found nothing checks again after so long, though nothing changed
)

// karpenter is what its controller remembers.
type karpenter struct {
	command   *command // computed, and yet to be validated
	dueAt     time.Time
	loopAt    time.Time // no search for nodes to disrupt before
	nominated map[string]time.Time
	idle      quiet
	options   KarpenterOptions
}

// KarpenterOptions is what users set. The zero value is as by default.
type KarpenterOptions struct {
	SpotToSpot bool // the feature gate SpotToSpotConsolidation
}

// quiet is a state in which there was nothing to consolidate, and until when that counts.
type quiet struct {
	revision     uint64
	consolidable int
	until        time.Time
}

// Karpenter returns a decider that follows Karpenter 1.14.
//
// Pending pods, in the order of their size, go to the first node that has room, else to the
// claim with the fewest pods that some instance type can still be found for, else to a new
// claim of the heaviest NodePool. While a claim is not launched, nothing is decided. Every 10
// seconds it searches for empty nodes, then the most nodes, among the 100 that save most for
// each unit of disruption, that go together with at most one cheaper node in their place,
// then a single such node. What was found is computed once more after 15 seconds. Spot nodes
// are not replaced by spot nodes, as by default.
//
// Left out: drift, static NodePools, node repair, buffers, and the timeouts of
// consolidation, which a simulation does not need.
func Karpenter() func(*cluster.Snapshot) plan.Plan { return KarpenterWith(KarpenterOptions{}) }

// KarpenterWith is Karpenter with the options. With SpotToSpot, spot nodes are replaced by a
// spot node that costs less; a single one if 15 types do, and by one of the 15 cheapest.
func KarpenterWith(o KarpenterOptions) func(*cluster.Snapshot) plan.Plan {
	k := &karpenter{nominated: map[string]time.Time{}, options: o}
	return k.decide
}

func (k *karpenter) decide(s *cluster.Snapshot) plan.Plan {
	out := plan.Plan{Basis: s.Revision, Moves: expired(s)}
	if slices.ContainsFunc(s.Instances, func(m cluster.Instance) bool { return !m.Launched && !m.Deleting }) {
		return out
	}
	x := newState(s, true)
	x.spotToSpot = k.options.SpotToSpot
	k.provision(x, &out)
	if len(out.Launches) == 0 {
		out.Moves = append(out.Moves, k.disrupt(x)...)
	}
	return out
}

// expired lets nodes go that are older than their pool allows, whatever budgets say.
func expired(s *cluster.Snapshot) (out []plan.Move) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if tooOld(n, s.Now) && n.Claim != "" && n.Initialized && !n.Deleting {
			c := candidate{Node: n, moving: moving(n)}
			out = append(out, plan.Move{Removals: []plan.Removal{c.removal(plan.Expired, "it is older than expireAfter")}})
		}
	}
	return out
}

func tooOld(n *cluster.Node, now time.Time) bool {
	return !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now)
}

// provision finds places for pods that wait, and for those of nodes that go.
func (k *karpenter) provision(x *state, out *plan.Plan) {
	pods := place.Waiting(x.Snapshot)
	if len(pods) == 0 {
		return
	}
	m := x.simulate(nil, pods, len(pods))
	m.run(pods)
	m.report(out)
	for _, p := range m.placed {
		k.nominated[p.Target] = x.Now.Add(nominatedFor)
	}
}

// report adds what came of the simulation to the plan.
func (m *simulation) report(out *plan.Plan) {
	out.Placements = m.placed
	for _, c := range m.claims {
		out.Launches = append(out.Launches, c.launch())
		for i := range c.pods {
			out.Placements = append(out.Placements, plan.Placement{Pod: c.pods[i], On: plan.OnLaunch, Target: c.name})
		}
	}
	for _, p := range m.unplaced {
		out.Unplaced = append(out.Unplaced, plan.Unplaced{Shape: p.Shape, Pods: []cluster.Pod{p}, Reasons: []plan.Reason{{Text: "no node and no instance type that can be launched has all that it requires"}}})
	}
}

// disrupt searches for nodes that can go, or carries out what was found before.
func (k *karpenter) disrupt(x *state) []plan.Move {
	if c := k.command; c != nil {
		if x.Now.Before(k.dueAt) {
			return nil
		}
		k.command, k.loopAt = nil, x.Now
		if c = k.validated(x, c); c != nil {
			return []plan.Move{c.move()}
		}
		return nil
	}
	if x.Now.Before(k.loopAt) || x.Freeze != "" {
		return nil
	}
	k.loopAt = x.Now.Add(loopEvery)
	all := k.candidates(x)
	now := quiet{x.Revision, len(all), x.Now.Add(idleFor)}
	if k.idle.revision == now.revision && k.idle.consolidable == now.consolidable && x.Now.Before(k.idle.until) {
		return nil
	}
	if k.command = x.emptiness(all); k.command == nil {
		k.command = x.consolidation(all)
	}
	if k.dueAt = x.Now.Add(validateAfter); k.command == nil {
		k.idle = now
	}
	return nil
}

// validated is the command as things are now: nil where its nodes may not all go any
// more, or would be replaced otherwise. Of empty nodes those that may go do.
func (k *karpenter) validated(x *state, was *command) *command {
	var nodes []*candidate
	for _, c := range x.within(k.candidates(x), was.reason) {
		if slices.ContainsFunc(was.nodes, func(o *candidate) bool { return o.Name == c.Name }) {
			nodes = append(nodes, c)
		}
	}
	if was.reason == plan.Empty {
		nodes = slices.DeleteFunc(nodes, func(c *candidate) bool { return !c.empty() })
		if len(nodes) == 0 {
			return nil
		}
		return &command{reason: plan.Empty, nodes: nodes}
	}
	if len(nodes) < len(was.nodes) {
		return nil
	}
	is := x.consolidate(nodes)
	if is == nil || (is.claim == nil) != (was.claim == nil) {
		return nil
	}
	if is.claim != nil && !is.claim.narrow(was.claim) {
		return nil
	}
	return is
}

// narrow leaves the claim open to the instance types of another one; false: it does not allow
// them all.
func (c *claim) narrow(to *claim) bool {
	types := to.pool.types(to.options)
	all := c.pool.types(c.options)
	if c.pool.ID != to.pool.ID || slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(all, t) }) {
		return false
	}
	c.options = c.pool.without(c.options, func(i int) bool { return !slices.Contains(types, c.pool.InstanceType(c.pool.Options[i]).Name) })
	return true
}
