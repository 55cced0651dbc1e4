package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
)

// claim is a NodeClaim that pods are gathered for. It grows as long as some
// instance type holds all of them, whatever that costs.
type claim struct {
	name         string
	pool         *pool
	requirements constraint.Requirements
	options      bitset.Set // offerings that it may become
	sum          []int64    // that its pods need
	ports        []cluster.Port
	pods         []cluster.Pod
	place        int // on the board
}

// join adds the pod to the claim, unless no offering is left with it.
func (m *simulation) join(c *claim, p *cluster.Pod, lv *level) bool {
	if lv.shy && feasibility.Avoided(c.pool.Taints, lv.Shape.Tolerations) || conflict(lv.Shape.Ports, c.ports) {
		return false
	}
	sum := slices.Clone(c.sum)
	for i, v := range lv.need {
		sum[i] += v
	}
	terms, _ := c.pool.Terms(lv.Shape)
	for _, t := range terms {
		if _, no := c.requirements.Conflict(t.Requirements); no {
			continue
		}
		options := c.options.Clone()
		options.And(t.Options)
		c.pool.holding(options, sum, lv.Shape.Ports)
		way, ok := m.domains(c, options, lv)
		if !ok || options.Next(0) < 0 || !c.pool.keepsValues(options) {
			continue
		}
		c.options, c.sum, c.pods, c.ports = options, sum, append(c.pods, *p), append(c.ports, lv.Shape.Ports...)
		c.requirements = c.requirements.AndAll(t.Requirements)
		m.count(c, way, lv)
		return true
	}
	return false
}

// open opens a claim for the pod, from the pool of the highest weight that can.
func (m *simulation) open(p *cluster.Pod, lv *level) bool {
	if m.most == 0 {
		return false
	}
	for _, from := range m.pools {
		c := &claim{pool: from, requirements: from.Requirements, options: from.available.Clone(), sum: make([]int64, m.dims.Len()), place: -1}
		m.limits[from.ID].keep(c)
		if !m.join(c, p, lv) {
			continue
		}
		if len(m.claims) == m.most {
			m.over = true
			return false
		}
		m.claims = append(m.claims, c)
		m.limits[from.ID].use(c)
		return true
	}
	return false
}

// domains narrows the options down to the domains in which the pod may be: those
// with the fewest pods that its spreads count. They are decided once they matter
// for a pod.
func (m *simulation) domains(c *claim, options bitset.Set, lv *level) (way constraint.Labels, ok bool) {
	if m.board == nil {
		return nil, true
	}
	r, least := m.rules[lv], int64(0)
	if c.name == "" && m.empty.Room(r) < 1 {
		return nil, false
	}
	keys := m.keysOf(r)
	for _, w := range c.pool.Ways(options, c.pool.Labels, keys) {
		at := m.spot(w, c.name)
		if m.board.Room(r, at) < 1 {
			continue
		}
		if n := m.board.Count(r, at); !ok || n < least {
			way, least, ok = w, n, true
		}
	}
	for _, key := range keys {
		if !ok || !c.pool.Defines(key) {
			continue
		}
		set := constraint.Absent()
		if value, has := way.Get(key); has {
			set = constraint.Values(value)
		}
		options.And(c.pool.Matching(constraint.Requirement{Key: key, Set: set}))
	}
	return way, ok
}

// count counts the pod that joined last.
func (m *simulation) count(c *claim, way constraint.Labels, lv *level) {
	if c.name == "" {
		c.name = newName(len(m.claims))
	}
	if m.board == nil {
		return
	}
	if len(way) > 0 || c.place < 0 {
		c.place = m.board.AddPlace(c.pool.Labels.Merge(way).With(cluster.LabelHostname, c.name), c.pool.Taints, false)
	}
	m.board.Put(m.rules[lv], c.place, 1, false)
}

func newName(claims int) string { return fmt.Sprintf("new-%d", claims+1) }

// typesMost is how many instance types CreateFleet is given.
const typesMost = 60

// launch is what is asked of the cloud: offerings of one capacity type, reserved
// before spot before on-demand; no spot instance that costs more than the cheapest
// on-demand one; no accelerators and bare metal, unless nothing else will do; and of
// the rest the cheapest types.
func (c *claim) launch() plan.Launch {
	options := c.pool.ofOneCapacityType(c.options)
	if plain := c.pool.without(options, c.pool.exotic); plain.Next(0) >= 0 && !c.pool.varied() {
		options = plain
	}
	types := c.pool.types(options)
	types = types[:min(len(types), typesMost)]
	out := plan.Launch{Name: c.name, Pool: c.pool.ID, Pods: slices.Clone(c.pods), Choice: c.pool.choice(options.Next(0)), Reason: "pods wait",
		Requests: c.pool.Kinds[c.pool.Options[options.Next(0)].Kind].Daemons}
	slices.SortFunc(out.Pods, func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range out.Pods {
		out.Requests = out.Requests.Add(out.Pods[i].Shape.Requests)
	}
	for _, r := range c.requirements {
		switch value, ok := c.pool.decided(r); {
		case c.pool.Defines(r.Key):
			out.Requirements = out.Requirements.And(r)
		case ok:
			out.Labels = out.Labels.With(r.Key, value)
			out.Requirements = out.Requirements.And(constraint.Requirement{Key: r.Key, Set: constraint.Values(value)})
		}
	}
	out.Requirements = out.Requirements.AndAll(constraint.NewRequirements(
		constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values(types...)},
		constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(c.pool.values(options, cluster.LabelZone)...)},
		constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(string(out.Choice.Option))}))
	return out
}
