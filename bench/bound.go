package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/quantity"
)

// LowerBound returns the dollars an hour below which no new instances can hold the waiting
// pods: fractions of instances cover their cpu, memory and pod slots, and no other rule
// counts. Instances count with what they have for pods, their own overhead and daemon pods
// taken off. What nodes that exist have left takes its part for nothing.
//
// Proof: in any plan, pods on nodes that exist take at most what is free there, so new
// instances hold at least the rest; counting each instance of the plan once is then a
// solution of this covering problem, at the plan's price.
func LowerBound(s *cluster.Snapshot) float64 { return newCover(s).cost() }

// Constrained returns a bound that also knows which pods refuse each other's host and how
// many must be in each zone; ok is false where the work has no such rule that asks for new
// instances. It is never below LowerBound.
//
// Each rule adds rows that every plan fulfils, so the problem's solution stays
// a lower bound; see slots and zones for the proofs.
func Constrained(s *cluster.Snapshot) (dollars float64, ok bool) {
	c := newCover(s)
	plain := c.cost()
	c.slots(s)
	c.zones(s)
	if len(c.rows) == resources {
		return 0, false
	}
	return max(plain, c.cost()), true
}

// resources is how many rows there are for amounts: cpu, memory, pod slots.
const resources = 3

// cover is the problem of what to launch, row by row. The first rows are the
// amounts of all pods.
type cover struct {
	rows    []row
	columns []column
	nodes   []cluster.Node
	free    []quantity.Resources // of nodes
}

// row asks that what the instances launched have of it is at least the demand.
type row struct {
	demand float64
	has    func(column) float64
}

// column is a way to launch an instance.
type column struct {
	free  quantity.Resources
	zone  string
	price float64
}

func newCover(s *cluster.Snapshot) *cover {
	c := &cover{nodes: s.Nodes}
	var sum, there quantity.Resources
	for _, p := range s.Waiting {
		sum = sum.Add(p.Shape.Requests)
	}
	for i := range s.Nodes {
		c.free = append(c.free, feasibility.Free(&s.Nodes[i], s.Daemons).ClampNegative())
		there = there.Add(c.free[i])
	}
	for i := range s.Instances {
		there = there.Add(s.Instances[i].Allocatable.ClampNegative())
	}
	c.amounts(sum.Sub(there), func(column) bool { return true })
	c.offer(s)
	return c
}

// offer lists every different thing that can be launched, at its least price.
func (c *cover) offer(s *cluster.Snapshot) {
	for _, x := range floor.Columns(s.Pools, s.Daemons) {
		c.columns = append(c.columns, column{x.Free, x.Zone, x.Price})
	}
}

func amountsOf(r quantity.Resources) [resources]int64 {
	return [resources]int64{int64(r.CPU), int64(r.Memory), r.Pods}
}

// amounts adds a row for each resource, to be covered by some of the columns.
func (c *cover) amounts(demand quantity.Resources, by func(column) bool) {
	for i, n := range amountsOf(demand) {
		c.rows = append(c.rows, row{float64(max(0, n)), func(x column) float64 {
			if !by(x) {
				return 0
			}
			return float64(amountsOf(x.free)[i])
		}})
	}
}

func (c *cover) cost() float64 {
	dollars, _ := c.solve()
	return dollars
}

// solve returns the cost in dollars, and what one unit of each row is worth.
func (c *cover) solve() (dollars float64, worth []float64) {
	demand, columns := make([]float64, len(c.rows)), make([]bound.Column, len(c.columns))
	for i, r := range c.rows {
		demand[i] = r.demand
	}
	for j, x := range c.columns {
		columns[j] = bound.Column{Price: x.price, Has: make([]float64, len(c.rows))}
		for i, r := range c.rows {
			columns[j].Has[i] = r.has(x)
		}
	}
	answer := bound.Cover(demand, columns)
	return answer.Cost / 1e6, answer.Worth
}

// Most rows that are added for pods that refuse each other's host.
const (
	crowdsMax = 4 // the largest groups
	slotsMax  = 8 // sizes of each
)

// slots adds rows for pods of which no two may share a host.
//
// Proof: where n waiting pods refuse each other, no instance takes more than one of them,
// and of the nodes that exist only those that hold none of the pods refused take one at
// all. So at least n less those nodes are new instances, and each of these has room for the
// pod it takes. The same holds for any part of the n pods, such as those too large for some
// type: they need as many instances that are larger.
func (c *cover) slots(s *cluster.Snapshot) {
	groups := crowds(s)
	for _, g := range groups[:min(crowdsMax, len(groups))] {
		spare := len(s.Instances)
		for i := range c.nodes {
			if !slices.ContainsFunc(c.nodes[i].Pods, func(p cluster.Pod) bool { return chooses(g.term, p.Shape) }) {
				spare++
			}
		}
		for _, part := range g.parts(c.columns) {
			if n := part.count - spare; n > 0 {
				c.rows = append(c.rows, row{float64(n), part.slot})
			}
		}
	}
}

// crowd is waiting pods of which each two refuse each other's host.
type crowd struct {
	term   *cluster.Neighbours
	shapes []*cluster.Shape
	sizes  []size
	count  int
}

// size is pods with equal requests.
type size struct {
	requests quantity.Resources
	count    int
}

// crowds lists the groups of pods that own one term and are chosen by it, the
// largest first.
func crowds(s *cluster.Snapshot) []*crowd {
	known, at := map[string]*crowd{}, map[string]int{}
	var out []*crowd
	for i := range s.Waiting {
		shape := s.Waiting[i].Shape
		for j := range shape.Neighbours {
			n := &shape.Neighbours[j]
			if !n.Apart || n.Weight > 0 || n.Key != cluster.LabelHostname || !chooses(n, shape) {
				continue
			}
			text := neighbourText(n)
			g := known[text]
			if g == nil {
				g = &crowd{term: n}
				known[text], out = g, append(out, g)
			}
			key := text + fmt.Sprint(amountsOf(shape.Requests), shape.Requests.Extended)
			if _, found := at[key]; !found {
				at[key] = len(g.sizes)
				g.sizes = append(g.sizes, size{requests: shape.Requests})
			}
			if len(g.shapes) == 0 || g.shapes[len(g.shapes)-1] != shape {
				g.shapes = append(g.shapes, shape)
			}
			g.sizes[at[key]].count++
			g.count++
		}
	}
	slices.SortStableFunc(out, func(a, b *crowd) int { return cmp.Compare(b.count, a.count) })
	return out
}

// parts returns the whole group and some parts of it that are too large for
// one of the columns, the largest parts first and no two of one count.
func (g *crowd) parts(columns []column) []*crowd {
	byCount := map[int]*crowd{g.count: g}
	for _, x := range columns {
		part := &crowd{term: g.term}
		for _, z := range g.sizes {
			if !z.requests.FitsIn(x.free) {
				part.sizes, part.count = append(part.sizes, z), part.count+z.count
			}
		}
		if part.count > 0 && byCount[part.count] == nil {
			byCount[part.count] = part
		}
	}
	var out []*crowd
	for _, part := range byCount {
		out = append(out, part)
	}
	slices.SortFunc(out, func(a, b *crowd) int { return cmp.Compare(b.count, a.count) })
	return thinned(out, slotsMax)
}

// thinned keeps at most n of the list, evenly.
func thinned[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}

// slot is 1 for an instance that can take one of the pods.
func (g *crowd) slot(x column) float64 {
	if slices.ContainsFunc(g.sizes, func(z size) bool { return z.requests.FitsIn(x.free) }) {
		return 1
	}
	return 0
}
