package rules

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// simulation finds out where pods would go if some nodes were gone.
type simulation struct {
	*state
	gone     map[string]bool // nodes
	moving   map[string]bool // pods of these, by UID
	targets  []target
	claims   []*claim
	most     int // claims that it may open
	over     bool
	limits   map[cluster.PoolID]*limits
	board    *topology.Board // nil: no rule checks other pods
	rules    map[*level]*topology.Rules
	empty    *topology.Host
	placed   []plan.Placement
	unplaced []cluster.Pod
}

// simulate prepares one for the pods, without the nodes that are gone. It may open
// so many claims.
func (x *state) simulate(gone []*candidate, pods []cluster.Pod, most int) *simulation {
	m := &simulation{state: x, gone: map[string]bool{}, moving: map[string]bool{}, most: most, limits: limitsOf(x.Pools)}
	for _, c := range gone {
		m.gone[c.Name] = true
		for i := range c.moving {
			m.moving[c.moving[i].UID] = true
		}
	}
	for _, t := range x.targets {
		if !m.gone[t.name] {
			t.ports = slices.Clip(t.ports)
			m.targets = append(m.targets, t)
		}
	}
	if x.ruled {
		m.setUpBoard(pods)
	}
	return m
}

// setUpBoard counts the pods that stay where they are.
func (m *simulation) setUpBoard(pods []cluster.Pod) {
	m.board, m.rules = topology.NewBoard(), map[*level]*topology.Rules{}
	leaves := map[string]bool{}
	for i := range pods {
		leaves[pods[i].UID] = true
		for _, lv := range m.levelsOf(pods[i].Shape) {
			if m.rules[lv] == nil {
				m.rules[lv] = m.board.Rules(lv.Preference)
			}
		}
	}
	running := map[*cluster.Shape]*topology.Rules{}
	for i := range m.Nodes {
		for j := range m.Nodes[i].Pods {
			if s := m.Nodes[i].Pods[j].Shape; running[s] == nil {
				running[s] = m.board.Rules(topology.Preference{Shape: s})
			}
		}
	}
	places := make([]int, len(m.Nodes))
	for i := range m.Nodes {
		n := &m.Nodes[i]
		places[i] = m.board.AddPlace(n.Labels, feasibility.LastingTaints(n), n.Goes() || m.gone[n.Name])
	}
	for i := range m.targets {
		t := &m.targets[i]
		if at, found := slices.BinarySearchFunc(m.Nodes, t.name, func(n cluster.Node, name string) int { return cmp.Compare(n.Name, name) }); found && t.node != nil {
			t.place = places[at]
		} else {
			t.place = m.board.AddPlace(t.labels, t.taints, false)
		}
	}
	m.board.Start()
	for i := range m.Nodes {
		for j := range m.Nodes[i].Pods {
			if p := &m.Nodes[i].Pods[j]; !leaves[p.UID] {
				m.board.Put(running[p.Shape], places[i], 1, p.Ending)
			}
		}
	}
	m.empty = m.board.NewHost()
}

// run places pods, those with much cpu first, then with much memory, then the
// oldest. Those that find no place are tried again as long as others do.
func (m *simulation) run(pods []cluster.Pod) {
	queue := slices.Clone(pods)
	slices.SortStableFunc(queue, largest)
	m.openDomains()
	for more := true; more && !m.over; {
		var left []cluster.Pod
		for i := range queue {
			if !m.place(&queue[i]) {
				left = append(left, queue[i])
			}
		}
		more, queue = len(left) < len(queue), left
	}
	m.unplaced = queue
}

func largest(a, b cluster.Pod) int {
	return cmp.Or(
		cmp.Compare(b.Shape.Requests.CPU, a.Shape.Requests.CPU),
		cmp.Compare(b.Shape.Requests.Memory, a.Shape.Requests.Memory),
		a.CreatedAt.Compare(b.CreatedAt),
		cmp.Compare(a.UID, b.UID))
}

// place finds the pod a node, else a claim with few pods, else a new claim. Where
// there is none, it gives up one preference after the other.
func (m *simulation) place(p *cluster.Pod) bool {
	for _, lv := range m.levelsOf(p.Shape) {
		if t := m.targetFor(p, lv); t != nil {
			m.sit(t, p, lv)
			return true
		}
		fewest := slices.Clone(m.claims)
		slices.SortStableFunc(fewest, func(a, b *claim) int { return cmp.Compare(len(a.pods), len(b.pods)) })
		if slices.ContainsFunc(fewest, func(c *claim) bool { return m.join(c, p, lv) }) || m.open(p, lv) {
			return true
		}
	}
	return false
}

// targetFor is the first node, or instance being launched, for the pod. A pod that
// leaves its node to save money goes to no instance that has not started, and to
// no node that its pool leaves alone yet.
func (m *simulation) targetFor(p *cluster.Pod, lv *level) *target {
	for i := range m.targets {
		t := &m.targets[i]
		if m.moving[p.UID] && (!t.stable || m.prefers && m.recent(t.node)) {
			continue
		}
		if !amount.Fits(t.free, lv.need) || !t.admits(lv.Shape).OK() || lv.shy && feasibility.Avoided(t.taints, lv.Shape.Tolerations) || conflict(lv.Shape.Ports, t.ports) {
			continue
		}
		if m.board == nil || m.board.Room(m.rules[lv], m.board.Spot(t.place)) > 0 {
			return t
		}
	}
	return nil
}

func conflict(a, b []cluster.Port) bool {
	return slices.ContainsFunc(a, func(p cluster.Port) bool { return slices.ContainsFunc(b, p.Conflicts) })
}

func (m *simulation) sit(t *target, p *cluster.Pod, lv *level) {
	if !t.owned {
		t.free, t.owned = slices.Clone(t.free), true
	}
	for i, v := range lv.need {
		t.free[i] -= v
	}
	t.ports = append(t.ports, lv.Shape.Ports...)
	if m.board != nil {
		m.board.Put(m.rules[lv], t.place, 1, false)
	}
	m.placed = append(m.placed, plan.Placement{Pod: *p, On: t.on, Target: t.name})
}

// openDomains makes every domain in which pools can launch instances one that spreads
// check.
func (m *simulation) openDomains() {
	for lv, r := range m.rules {
		if !m.prefers || len(r.Fixed()) == 0 {
			continue
		}
		for _, p := range m.pools {
			terms, _ := p.Terms(lv.Shape)
			for _, t := range terms {
				options := t.Options.Clone()
				options.And(p.available)
				for _, way := range p.Ways(options, p.Labels, m.keysOf(r)) {
					m.board.Open(r, m.spot(way, ""))
				}
			}
		}
	}
}

// keysOf lists the labels on which it matters where such pods are.
func (m *simulation) keysOf(r *topology.Rules) (out []string) {
	for _, k := range r.Fixed() {
		out = append(out, m.board.Keys()[k])
	}
	return out
}

// spot is where an instance with the labels is; host is empty where there is no
// claim for it yet.
func (m *simulation) spot(way constraint.Labels, host string) topology.Spot {
	keys := m.board.Keys()
	out := make(topology.Spot, len(keys)+1)
	for k, key := range keys {
		value, known := way.Get(key)
		switch {
		case key == cluster.LabelHostname && host == "":
			out[k] = topology.Fresh
		case key == cluster.LabelHostname:
			out[k] = m.board.Domain(k, host)
		case known:
			out[k] = m.board.Domain(k, value)
		default:
			out[k] = topology.None
		}
	}
	out[len(keys)] = topology.None
	return out
}
