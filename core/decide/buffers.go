package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/removal"
)

// headroom is where the virtual pods of buffers have their places, and what is launched for them.
type headroom struct {
	launches  []plan.Launch
	buffers   []plan.Buffer
	spotMore  quantity.MicroUSDPerHour
	steps     int64
	exhausted bool // places were not sought for all
}

// ofPlan begins what an instance is called, while places are sought for virtual pods, that the plan launches for
// others.
const ofPlan = "planned "

// headroomOf finds places for the virtual pods of buffers, after all real pods have theirs: on nodes first, then on
// instances that are coming, then on new ones. So they never take anything from a real pod, and a real pod that takes
// their room makes the next plan keep other room.
//
// Cost: that of a plan for as many pods, where there are buffers.
func headroomOf(s *cluster.Snapshot, launches []plan.Launch, taken []plan.Placement, policy Policy, effort Effort) headroom {
	if len(s.Buffers) == 0 || policy.IgnoreBuffers {
		return headroom{}
	}
	var virtual []cluster.Pod
	for i := range s.Buffers {
		virtual = append(virtual, s.Buffers[i].Virtual()...)
	}
	with := withPlaced(s, launches, taken)
	var stay []plan.Placement
	if slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool { return n.Closed }) {
		stay, virtual = onWhatStays(with, virtual, policy)
		with = withPlaced(s, launches, slices.Concat(taken, stay))
		reopen(with.Nodes)
	}
	with.Waiting = virtual
	found := homesOfVirtual(with, policy, effort)
	found.Placements = slices.Concat(stay, found.Placements)
	out := headroom{spotMore: found.SpotMore, steps: found.Steps, exhausted: found.Exhausted}
	names := map[string]string{}
	for i := range found.Launches {
		l := found.Launches[i]
		names[l.Name] = fmt.Sprintf("buffer-%d", i+1)
		l.Name, l.Joins = names[l.Name], nil
		l.PartVirtual()
		out.launches = append(out.launches, l)
	}
	for i := range s.Buffers {
		out.buffers = append(out.buffers, planned(&s.Buffers[i], &found, names))
	}
	return out
}

// homesOfVirtual finds places for virtual pods, which wait in the snapshot. Their preferences do not count: each plan
// places them anew, so that one would launch again what another, for which they gave way, has removed.
func homesOfVirtual(with *cluster.Snapshot, policy Policy, effort Effort) place.Result {
	with.SortLists()
	policy.Nominated = true // kube-scheduler puts no virtual pod elsewhere
	policy.Preferences = Ignore
	found, _, _ := homes(with, policy, effort)
	return found
}

// landed is a place that was found beside what the plan launches, as the plan says it. names are those of launches for
// virtual pods.
func landed(p plan.Placement, names map[string]string) plan.Placement {
	switch name, ofPlans := strings.CutPrefix(p.Target, ofPlan); {
	case p.On == plan.OnLaunch:
		p.Target = names[p.Target]
	case p.On == plan.OnInstance && ofPlans:
		p.On, p.Target = plan.OnLaunch, name
	}
	return p
}

// closedPools are the pools where none of them may launch anything.
func closedPools(pools []cluster.Pool, why string) []cluster.Pool {
	out := slices.Clone(pools)
	for i := range out {
		out[i].NotReady = why
	}
	return out
}

// withPlaced is the snapshot in which every real pod is where it is to go, and launches are among the instances.
func withPlaced(s *cluster.Snapshot, launches []plan.Launch, taken []plan.Placement) *cluster.Snapshot {
	out := withInstances(s, launches, ofPlan)
	out.Waiting, out.Expected = nil, nil
	onNode, onInstance := map[string][]cluster.Pod{}, map[string][]cluster.Pod{}
	for _, p := range taken {
		switch p.On {
		case plan.OnNode:
			onNode[p.Target] = append(onNode[p.Target], p.Pod.MovedTo(p.Target))
		case plan.OnInstance:
			onInstance[p.Target] = append(onInstance[p.Target], p.Pod)
		case plan.OnLaunch:
			onInstance[ofPlan+p.Target] = append(onInstance[ofPlan+p.Target], p.Pod)
		}
	}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.LaunchedFor = nil
		if slices.ContainsFunc(n.Taints, isOurs) {
			n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), isOurs)
		}
		if n.Deleting {
			n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool { return p.Moves() })
		}
		if more := onNode[n.Name]; more != nil {
			n.Pods = slices.Concat(n.Pods, more)
		}
	}
	for i := range out.Instances {
		m := &out.Instances[i]
		m.LaunchedFor, m.Pods = nil, slices.Concat(m.Pods, onInstance[m.Claim])
	}
	return out
}

// withInstances is the snapshot with launches among the instances being launched, under names that begin so. Its
// lists of nodes and instances are its own.
func withInstances(s *cluster.Snapshot, launches []plan.Launch, prefix string) *cluster.Snapshot {
	out := *s
	out.Nodes, out.Instances = slices.Clone(s.Nodes), slices.Clone(s.Instances)
	if len(launches) > 0 {
		out.Pools, out.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	}
	for i := range launches {
		out.Instances = append(out.Instances, removal.Coming(&out, &launches[i], prefix+launches[i].Name))
	}
	return &out
}

// onWhatStays finds places for virtual pods where no node needs to stay that is to go with a move: that may take
// long, and nothing that is needed then is withdrawn. It returns the pods that are left.
func onWhatStays(s *cluster.Snapshot, virtual []cluster.Pod, policy Policy) (stay []plan.Placement, left []cluster.Pod) {
	with := *s
	with.Waiting, with.Pools = virtual, closedPools(s.Pools, "nothing is launched while there is room")
	with.SortLists()
	options := policy.asking()
	options.Steps, options.Unproven, options.Unexplained = placeSteps, true, true
	stay = place.Place(&with, options).Placements
	has := map[string]bool{}
	for i := range stay {
		has[stay[i].Pod.UID] = true
	}
	return stay, slices.DeleteFunc(virtual, func(p cluster.Pod) bool { return has[p.UID] })
}

// reopen opens the nodes that are to go with moves: virtual pods stay there until they go, as real ones do, so that
// nothing is launched for them beside what takes the place of the nodes.
func reopen(nodes []cluster.Node) {
	for i := range nodes {
		if nodes[i].Closed {
			nodes[i].Deleting = false
		}
	}
}

// isOurs reports whether the taint keeps new pods off a node that is to go or to empty: capacity that is there
// counts until the node goes, and a node with virtual pods is not to empty.
func isOurs(t constraint.Taint) bool {
	return t.Key == cluster.TaintDisrupted || t.Key == cluster.TaintEmptying
}

// planned says where the pods of one buffer are.
func planned(b *cluster.Buffer, found *place.Result, launches map[string]string) plan.Buffer {
	out := plan.Buffer{Namespace: b.Namespace, Name: b.Name, Want: max(0, b.Pods), NotReady: b.NotReady}
	if out.NotReady != "" {
		return out
	}
	out.Missing = out.Want
	for _, p := range found.Placements {
		if !isOf(b, &p.Pod) {
			continue
		}
		out.Missing--
		out.Places = append(out.Places, landed(p, launches))
	}
	for _, u := range found.Unplaced {
		if slices.ContainsFunc(u.Pods, func(p cluster.Pod) bool { return isOf(b, &p) }) {
			out.Reasons = u.Reasons
		}
	}
	if out.Want > cluster.BufferPodsMax {
		most := fmt.Sprintf("capacity is kept for %d pods of one buffer at most", cluster.BufferPodsMax)
		out.Reasons = append(out.Reasons, plan.Reason{Text: most})
	}
	return out
}

func isOf(b *cluster.Buffer, p *cluster.Pod) bool {
	owner := plan.VirtualPods{Kind: plan.KindBuffer, Namespace: b.Namespace, Name: b.Name}
	return p.Shape.Virtual && ownerOf(p) == owner
}

// places lists where all virtual pods of buffers are.
func places(buffers []plan.Buffer) []plan.Placement {
	var out []plan.Placement
	for i := range buffers {
		out = append(out, buffers[i].Places...)
	}
	return out
}

// withVirtual is the snapshot with virtual pods on the nodes that have room for them, as a search for nodes that
// may go sees it. It returns their other places.
func withVirtual(s *cluster.Snapshot, places []plan.Placement) (out *cluster.Snapshot, others []plan.Placement) {
	on := map[string][]cluster.Pod{}
	for _, p := range places {
		if p.On == plan.OnNode {
			on[p.Target] = append(on[p.Target], p.Pod.MovedTo(p.Target))
		} else {
			others = append(others, p)
		}
	}
	if len(on) == 0 {
		return s, others
	}
	with := *s
	with.Nodes = slices.Clone(s.Nodes)
	for i := range with.Nodes {
		if more := on[with.Nodes[i].Name]; more != nil {
			with.Nodes[i].Pods = slices.Concat(with.Nodes[i].Pods, more)
		}
	}
	return &with, others
}

// withoutVirtual takes virtual pods out of moves, which are about real ones: the next plan finds places for
// virtual pods.
func withoutVirtual(moves []plan.Move) {
	virtual := func(p cluster.Pod) bool { return p.Shape.Virtual }
	for i := range moves {
		m := &moves[i]
		for j := range m.Removals {
			m.Removals[j].Pods = slices.DeleteFunc(slices.Clone(m.Removals[j].Pods), virtual)
		}
		for j := range m.Launches {
			m.Launches[j].PartVirtual()
		}
		m.Placements = slices.DeleteFunc(slices.Clone(m.Placements), func(p plan.Placement) bool { return virtual(p.Pod) })
	}
}

// keptForBuffers is why a node stays that would go to save money.
const keptForBuffers = "without it an instance would be launched for CapacityBuffers"

// keepRoom drops moves that are to save money where the plan after them would launch instances for buffers: places for
// their pods are sought again then, and differ from those that the search for nodes found. Moves of nodes with virtual
// pods are dropped first, and others only if that does not suffice.
func (h *headroom) keepRoom(s *cluster.Snapshot, p *plan.Plan, taken []plan.Placement, policy Policy, effort Effort) {
	if len(h.buffers) == 0 {
		return
	}
	holds := map[string]bool{}
	for _, x := range places(h.buffers) {
		holds[x.Target] = holds[x.Target] || x.On == plan.OnNode
	}
	saves := func(m plan.Move) bool { return m.Removals[0].Reason == plan.Underutilized }
	ofHolders := func(m plan.Move) bool {
		return saves(m) && slices.ContainsFunc(m.Removals, func(r plan.Removal) bool { return holds[r.Node] })
	}
	effort.Pack = 0 // whether anything is launched does not depend on it
	for _, drop := range []func(plan.Move) bool{ofHolders, saves} {
		if !slices.ContainsFunc(p.Moves, saves) || !launchesAfter(s, p, taken, policy, effort) {
			return
		}
		for _, m := range p.Moves {
			if drop(m) {
				kept := plan.Kept{Node: m.Removals[0].Node, Reason: plan.Underutilized, Why: keptForBuffers}
				p.Kept = append(p.Kept, kept)
			}
		}
		slices.SortFunc(p.Kept, func(a, b plan.Kept) int { return strings.Compare(a.Node, b.Node) })
		p.Moves = slices.DeleteFunc(p.Moves, drop)
	}
}

// launchesAfter reports whether the plan after this one would launch instances for buffers. Pods that moves place go
// where kube-scheduler is likely to put them, since it does not know what capacity is kept.
func launchesAfter(
	s *cluster.Snapshot, p *plan.Plan, taken []plan.Placement, policy Policy, effort Effort,
) bool {
	after, launches, gone := *s, slices.Clone(p.Launches), map[string]bool{}
	var moved []cluster.Pod
	planned := map[string]plan.Placement{}
	for i := range p.Moves {
		launches = append(launches, p.Moves[i].Launches...)
		for _, to := range p.Moves[i].Placements {
			moved = append(moved, to.Pod)
			planned[to.Pod.UID] = to
		}
		for _, r := range p.Moves[i].Removals {
			gone[r.Node] = true
		}
	}
	after.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n cluster.Node) bool { return gone[n.Name] })
	with := withPlaced(&after, launches, taken)
	with.Waiting = moved
	end := forecast.New(with, moved).Simulate(nil, nil, forecast.Opening{Together: true, Most: simulationSteps})
	var left []plan.Placement
	for i := range end.Left {
		to := planned[end.Left[i].UID]
		if to.On == plan.OnLaunch {
			to.Target = ofPlan + to.Target
		}
		to.On = plan.OnNode // its instance is one after the simulation
		left = append(left, to)
	}
	return len(headroomOf(end.After(), nil, left, policy, effort).launches) > 0
}
