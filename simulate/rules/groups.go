package rules

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/topology"
)

// expansion is how one node group would grow.
type expansion struct {
	pool   *pool
	option int
	board  *topology.Board
	claims []*claim
	left   []cluster.Pod // that do not fit
	idle   [2]float64    // shares of cpu and memory that the new nodes have free
	nodes  int           // of the type in the zone already
}

// expand chooses how the nodes grow for the pods that found no place; nil: no group helps.
func (m *simulation) expand() (best *expansion) {
	has := map[[2]string]int{}
	for _, t := range m.targets {
		kind, _ := t.labels.Get(cluster.LabelInstanceType)
		zone, _ := t.labels.Get(cluster.LabelZone)
		has[[2]string{kind, zone}]++
	}
	for _, p := range m.pools {
		for i := p.available.Next(0); i >= 0; i = p.available.Next(i + 1) {
			e := m.estimate(p, i)
			e.nodes = has[[2]string{p.InstanceType(p.Options[i]).Name, p.Offering(p.Options[i]).Zone}]
			if len(e.claims) > 0 && (best == nil || e.compare(best) < 0) {
				best = e
			}
		}
	}
	return best
}

// compare puts the less wasteful expansion first.
func (e *expansion) compare(f *expansion) int {
	a, b := e.pool.choice(e.option), f.pool.choice(f.option)
	return cmp.Or(cmp.Compare(e.idle[0], f.idle[0]), cmp.Compare(e.idle[1], f.idle[1]),
		cmp.Compare(a.Price, b.Price), cmp.Compare(e.nodes, f.nodes), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Zone, b.Zone))
}

// estimate counts pods into new nodes of a group, first fit decreasing.
func (m *simulation) estimate(p *pool, option int) *expansion {
	e := &expansion{pool: p, option: option}
	if m.board != nil {
		e.board = m.board.Clone()
	}
	limits := limitsOf(m.Pools)[p.ID]
	for i := range m.unplaced {
		pod := &m.unplaced[i]
		lv := m.levelsOf(pod.Shape)[0]
		if !e.admits(lv) || !slices.ContainsFunc(e.claims, func(c *claim) bool { return e.add(m, c, pod, lv) }) && !e.open(m, limits, pod, lv) {
			e.left = append(e.left, *pod)
		}
	}
	e.waste()
	return e
}

// admits reports whether the pod may be on nodes of the group that have room.
func (e *expansion) admits(lv *level) bool {
	k := e.pool.Options[e.option].Kind
	if !amount.Fits(e.pool.free[k], lv.need) || conflict(lv.Shape.Ports, e.pool.Kinds[k].Ports) {
		return false
	}
	terms, _ := e.pool.Terms(lv.Shape)
	for _, t := range terms {
		if t.Options.Has(e.option) {
			return true
		}
	}
	return false
}

// open adds a node for the pod, unless the limits of the pool forbid it or the pod may not be on it.
func (e *expansion) open(m *simulation, left *limits, pod *cluster.Pod, lv *level) bool {
	c := &claim{name: newName(len(e.claims)), pool: e.pool, requirements: e.pool.Requirements, options: bitset.New(len(e.pool.Options)), sum: make([]int64, m.dims.Len())}
	c.options.Add(e.option)
	if left.keep(c); c.options.Next(0) < 0 {
		return false
	}
	if e.board != nil {
		var labels constraint.Labels
		o := e.pool.Options[e.option]
		labels = e.pool.Labels.Merge(e.pool.InstanceType(o).Labels).Merge(e.pool.Offering(o).Labels).With(cluster.LabelHostname, c.name)
		c.place = e.board.AddPlace(labels, e.pool.Taints, false)
	}
	if !e.add(m, c, pod, lv) {
		return false
	}
	left.use(c)
	e.claims = append(e.claims, c)
	return true
}

// add puts the pod on a new node, if it fits.
func (e *expansion) add(m *simulation, c *claim, pod *cluster.Pod, lv *level) bool {
	free := e.pool.free[e.pool.Options[e.option].Kind]
	for i, v := range lv.need {
		if v > 0 && c.sum[i]+v > free[i] {
			return false
		}
	}
	if conflict(lv.Shape.Ports, c.ports) || e.board != nil && e.board.Room(m.rules[lv], e.board.Spot(c.place)) < 1 {
		return false
	}
	if e.board != nil {
		e.board.Put(m.rules[lv], c.place, 1, false)
	}
	for i, v := range lv.need {
		c.sum[i] += v
	}
	c.pods, c.ports = append(c.pods, *pod), append(c.ports, lv.Shape.Ports...)
	return true
}

// waste finds out how much of the new nodes stays idle.
func (e *expansion) waste() {
	free := e.pool.free[e.pool.Options[e.option].Kind]
	for d, at := range []int{amount.CPU, amount.Memory} {
		used := int64(0)
		for _, c := range e.claims {
			used += c.sum[at]
		}
		e.idle[d] = 1 - float64(used)/float64(max(1, free[at]*int64(len(e.claims))))
	}
}
