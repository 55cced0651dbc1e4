package settle

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// game is one Play.
type game struct {
	world   *World
	opening Opening
	chance  uint64
	board   *topology.Board
	left    []*waiter
	spots   []*spot
	open    [][]*spot          // by kind: those that let it in and may have room
	sums    [][]int64          // by counter and domain: pods there
	values  []map[string]int32 // by counter: the domain of a label value
	steps   int64

	marked  [][]int // by counter and domain
	mark    int
	fitting []*spot
	total   []int64
	raw     []int64
	factors []float64
	on      map[string][]cluster.Pod
	turns   []Turn
}

func newGame(w *World, o Opening) *game {
	g := &game{world: w, opening: o, chance: o.Seed*0x9e3779b97f4a7c15 + 1, board: w.board, open: make([][]*spot, len(w.kinds)),
		sums: make([][]int64, len(w.counters)), marked: make([][]int, len(w.counters)),
		values: make([]map[string]int32, len(w.counters)), on: map[string][]cluster.Pod{}}
	if w.counted {
		g.board = w.board.Clone()
	}
	for i := range w.queue {
		g.left = append(g.left, &w.queue[i])
	}
	g.mingle()
	for i := range g.values {
		g.values[i] = map[string]int32{}
	}
	return g
}

// mingle draws the order of pods with equal priority and age: those that come
// within the same second stand in the queue as controllers happened to make them.
func (g *game) mingle() {
	for from := 0; from < len(g.left); {
		to := from + 1
		for to < len(g.left) && equals(g.left[from], g.left[to]) {
			to++
		}
		for i := to - 1; i > from; i-- {
			j := from + g.draw(i-from+1)
			g.left[i], g.left[j] = g.left[j], g.left[i]
		}
		from = to
	}
}

func equals(a, b *waiter) bool {
	return a.Shape.Priority == b.Shape.Priority && a.CreatedAt.Equal(b.CreatedAt)
}

// draw returns a number below n.
func (g *game) draw(n int) int {
	g.chance += 0x9e3779b97f4a7c15
	z := g.chance
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// step is machines that join the cluster, and those that let pods come then.
type step struct{ joins, opens []*spot }

// order sorts machines into steps. They join by chance, those ordered before
// first; one that is in a group opens when each domain of the group has joined.
func (g *game) order(machines []*spot) []step {
	if g.opening.Together {
		return []step{{machines, machines}}
	}
	for i := len(machines) - 1; i > 0; i-- {
		j := g.draw(i + 1)
		machines[i], machines[j] = machines[j], machines[i]
	}
	slices.SortStableFunc(machines, func(a, b *spot) int { return cmp.Compare(rank(a.ordered), rank(b.ordered)) })
	missing := missingOf(machines)
	var steps []step
	var waiting []*spot
	for i, x := range machines {
		for _, j := range x.joins {
			delete(missing[j.Group], x.domain(j))
		}
		next := step{joins: []*spot{x}}
		waiting = slices.DeleteFunc(append(waiting, x), func(w *spot) bool {
			held := i < len(machines)-1 && slices.ContainsFunc(w.joins, func(j plan.Join) bool { return waited(missing[j.Group]) })
			if !held {
				next.opens = append(next.opens, w)
			}
			return !held
		})
		steps = append(steps, next)
	}
	return steps
}

// missingOf lists by group the domains of its machines, and whether no node
// has them yet.
func missingOf(machines []*spot) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, x := range machines {
		for _, j := range x.joins {
			if out[j.Group] == nil {
				out[j.Group] = map[string]bool{}
			}
			out[j.Group][x.domain(j)] = j.Opens || out[j.Group][x.domain(j)]
		}
	}
	return out
}

// domain is the spot's value for the label of the group; without a label the spot
// is one of its own.
func (x *spot) domain(j plan.Join) string {
	if j.Key == "" {
		return x.node.Name
	}
	value, _ := x.node.Labels.Get(j.Key)
	return value
}

// waited reports whether some domain that has no node yet has not joined.
func waited(domains map[string]bool) bool {
	for _, opens := range domains {
		if opens {
			return true
		}
	}
	return false
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// join makes domains of spots before pods may come there: a node that is held
// back, or not ready, counts for spreads all the same.
func (g *game) join(spots []*spot) {
	for _, x := range spots {
		if g.world.counted && !slices.Contains(g.world.nodes, x) {
			x.place = g.board.AddPlace(x.node.Labels, fit.LastingTaints(x.node), false)
		}
	}
}

// admit opens spots that have joined for pods.
func (g *game) admit(spots []*spot) {
	for _, from := range spots {
		x := *from
		x.free, x.counts = slices.Clone(from.free), slices.Clone(from.counts)
		g.locate(&x)
		g.spots = append(g.spots, &x)
		for _, k := range g.world.kinds {
			g.steps++
			if fits(x.free, k.need) && fit.NodeAdmits(k.shape, x.node).OK() {
				g.open[k.at] = append(g.open[k.at], &x)
			}
		}
	}
}

// locate finds the domains of the spot and counts the pods that are there.
func (g *game) locate(x *spot) {
	x.domains = make([]int32, len(g.world.counters))
	for c := range g.world.counters {
		value, there := x.node.Labels.Get(g.world.counters[c].key)
		if !there {
			x.domains[c] = -1
			continue
		}
		d, known := g.values[c][value]
		if !known {
			d = int32(len(g.sums[c]))
			g.values[c][value] = d
			g.sums[c], g.marked[c] = append(g.sums[c], 0), append(g.marked[c], 0)
		}
		x.domains[c] = d
		g.sums[c][d] += x.counts[c]
	}
}

// count is how many pods of the counter are in the spot's domain.
func (g *game) count(x *spot, counter int) (n int64, there bool) {
	d := x.domains[counter]
	if d < 0 {
		return 0, false
	}
	return g.sums[counter][d], true
}

// fill tries all pods that are left until so many have got a node, again while
// some go that others may have to be near.
func (g *game) fill(most int) {
	for again := true; again; {
		again = false
		kept := g.left[:0]
		for i, p := range g.left {
			if most == 0 {
				kept = append(kept, g.left[i:]...)
				break
			}
			x := g.best(p)
			if x == nil {
				kept = append(kept, p)
				continue
			}
			g.put(p, x)
			most--
			again = g.world.counted && most > 0
		}
		g.left = kept
	}
}

// best returns the spot that the pod gets; nil where there is none.
func (g *game) best(p *waiter) *spot {
	fitting := g.fitting[:0]
	open := g.open[p.kind.at][:0]
	for _, x := range g.open[p.kind.at] {
		g.steps++
		if !fits(x.free, p.kind.need) {
			continue
		}
		open = append(open, x)
		if g.portsFree(x, p.Shape) && (!g.world.counted || g.board.Room(p.kind.rules, g.board.Spot(x.place)) > 0) {
			fitting = append(fitting, x)
		}
	}
	g.open[p.kind.at], g.fitting = open, fitting
	switch len(fitting) {
	case 0:
		return nil
	case 1:
		return fitting[0]
	}
	return g.highest(fitting, g.score(p, fitting))
}

func (g *game) portsFree(x *spot, s *cluster.Shape) bool {
	for _, p := range s.Ports {
		if slices.ContainsFunc(x.ports, p.Conflicts) {
			return false
		}
	}
	return true
}

// highest returns the spot with the most points, one of equals by chance.
func (g *game) highest(spots []*spot, points []int64) *spot {
	best, equals := 0, 1
	for i := 1; i < len(spots); i++ {
		switch {
		case points[i] > points[best]:
			best, equals = i, 1
		case points[i] == points[best]:
			if equals++; g.draw(equals) == 0 {
				best = i
			}
		}
	}
	return spots[best]
}

func (g *game) put(p *waiter, x *spot) {
	for d, v := range p.kind.need {
		x.free[d] -= v
	}
	for d := range x.taken {
		x.taken[d] += p.kind.need[d]
		x.count[d] += p.kind.scored[d]
	}
	x.ports = append(slices.Clip(x.ports), p.Shape.Ports...)
	if g.world.counted {
		g.board.Put(p.kind.rules, x.place, 1, false)
	}
	for _, c := range p.kind.counts {
		g.add(x, c)
	}
	for _, s := range p.defaults {
		g.add(x, s.counter)
	}
	g.on[x.node.Name] = append(g.on[x.node.Name], *p.Pod)
	g.turns = append(g.turns, Turn{*p.Pod, x.node.Name})
}

func (g *game) add(x *spot, counter int) {
	if d := x.domains[counter]; d >= 0 {
		g.sums[counter][d]++
	}
}

func (g *game) outcome() Outcome {
	out := Outcome{On: g.on, Turns: g.turns, Steps: g.steps, world: g.world, spots: g.spots}
	for _, p := range g.left {
		out.Left = append(out.Left, *p.Pod)
	}
	return out
}
