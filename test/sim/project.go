package sim

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
)

// project shows what was seen as it will be once all that the controller has
// done is seen: this is the ledger of the product.
func (c *controller) project(seen *cluster.Snapshot) *cluster.Snapshot {
	out := *seen
	out.Now = c.world.now
	out.Nodes, out.Instances, out.Pools = slices.Clone(seen.Nodes), slices.Clone(seen.Instances), slices.Clone(seen.Pools)
	out.Quotas = slices.Clone(seen.Quotas)
	c.orders = slices.DeleteFunc(c.orders, func(m *instance) bool { return m.gone || shows(seen, m.claim) })
	for _, m := range c.orders {
		if !c.withdrawn[m.claim] {
			one := c.world.instance(m)
			one.Launched = false
			out.Instances = append(out.Instances, one)
			out.Charge(&one)
		}
	}
	for i := range out.Instances {
		out.Instances[i].Deleting = out.Instances[i].Deleting || c.withdrawn[out.Instances[i].Claim]
	}
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if c.world.now.Before(c.kept[n.Name]) {
			n.DoNotDisrupt = true
		}
	}
	c.launchedFor.Name(&out)
	c.closeNodes(&out)
	out.Sort()
	return &out
}

func shows(s *cluster.Snapshot, claim string) bool {
	return slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool { return n.Claim == claim }) ||
		slices.ContainsFunc(s.Instances, func(m cluster.Instance) bool { return m.Claim == claim })
}

// closeNodes shows nodes of moves as closed, whether they are seen so by now or
// not, and their pods where the moves put them, so that none gives that room
// away.
func (c *controller) closeNodes(s *cluster.Snapshot) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; c.leaving[n.Name] && !n.Deleting {
			n.Close()
		}
	}
	for _, v := range c.moves {
		for _, o := range v.launches() {
			one := c.world.instance(o)
			s.Charge(&one)
		}
		for _, r := range v.Removals {
			if at := slices.IndexFunc(s.Nodes, func(n cluster.Node) bool { return n.Name == r.Node }); at >= 0 {
				n := &s.Nodes[at]
				n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool {
					return !p.Returns && p.OneOff == "" && !p.Ending && !p.Daemon && !p.Mirror && !p.DoNotDisrupt && v.sit(s, p)
				})
			}
		}
	}
}

// sit shows a pod where the move puts it; false: nowhere.
func (v *move) sit(s *cluster.Snapshot, p cluster.Pod) bool {
	if to, known := v.targets[p.UID]; known {
		return target(s, p, to, false)
	}
	return slices.ContainsFunc(v.claims, func(m *instance) bool { return target(s, p, m.claim, true) })
}

func target(s *cluster.Snapshot, p cluster.Pod, target string, roomy bool) bool {
	p.Returns = true
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Name == target && !n.Deleting && (!roomy || p.Shape.Requests.FitsIn(feasibility.Free(n, s.Daemons))) {
			p = p.MovedTo(n.Name)
			n.Pods = append(slices.Clip(n.Pods), p)
			n.LaunchedFor = append(n.LaunchedFor, p)
			return true
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; m.Claim == target && !m.Deleting && (!roomy || p.Shape.Requests.FitsIn(m.Allocatable)) {
			m.Allocatable = m.Allocatable.Sub(p.Shape.Requests)
			m.LaunchedFor = append(m.LaunchedFor, p)
			return true
		}
	}
	return false
}

// takeTargets notes where pods are to go, by UID.
func (v *move) takeTargets(names map[string]string) {
	v.targets = map[string]string{}
	for _, p := range v.Placements {
		v.targets[p.Pod.UID] = p.Target
		if p.On == plan.OnLaunch {
			v.targets[p.Pod.UID] = names[p.Target]
		}
	}
}
