package forecast

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
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
	fields  []*field           // by model
	open    [][]*field         // by shape: those that let it in and may have room
	full    []int              // by shape: when there was no room for it, see now
	sums    [][]int64          // by counter and domain: pods there
	values  []map[string]int32 // by key of counters: the domain of a label value
	steps   int64

	marked  []int // by domain
	mark    int
	fitting []*crowd
	one     []*spot // of each that fits
	size    int     // spots of all of these
	total   []int64
	raw     []int64
	factors []float64
	on      map[string][]cluster.Pod
	turns   []Turn
}

func newGame(w *World, o Opening) *game {
	g := &game{world: w, opening: o, chance: o.Seed*0x9e3779b97f4a7c15 + 1, board: w.board, open: make([][]*field, len(w.kinds)),
		full: make([]int, len(w.kinds)), sums: make([][]int64, len(w.counters)), values: make([]map[string]int32, len(w.keys)),
		on: map[string][]cluster.Pod{}}
	if w.counted {
		g.board = w.board.Clone()
	}
	for i := range w.queue {
		g.left = append(g.left, &w.queue[i])
	}
	g.fields = make([]*field, len(w.models))
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

// join makes domains of spots before pods may come there: a node that is held
// back, or not ready, counts for spreads all the same.
func (g *game) join(spots []*spot) {
	for _, x := range spots {
		if g.world.counted && x.place < 0 {
			x.place = g.board.AddPlace(x.node.Labels, feasibility.LastingTaints(x.node), false)
		}
	}
}

// admit opens spots that have joined for pods.
func (g *game) admit(spots []*spot) {
	for _, from := range spots {
		x := *from
		x.free = slices.Clone(from.free)
		g.locate(&x)
		g.spots = append(g.spots, &x)
		g.enlist(&x)
	}
}

// locate finds the domains of the spot and counts the pods that are there.
func (g *game) locate(x *spot) {
	x.domains = make([]int32, len(g.world.keys))
	for i, key := range g.world.keys {
		value, there := x.node.Labels.Get(key)
		if !there {
			x.domains[i] = -1
			continue
		}
		d, known := g.values[i][value]
		if !known {
			d = int32(len(g.values[i]))
			g.values[i][value] = d
		}
		x.domains[i] = d
	}
	for c, n := range x.counts {
		if n > 0 {
			g.add(x, c, n)
		}
	}
}

// domain is that of the spot for the counter; negative for none.
func (g *game) domain(x *spot, counter int) int32 { return x.domains[g.world.counters[counter].at] }

// count is how many pods of the counter are in the spot's domain.
func (g *game) count(x *spot, counter int) (n int64, there bool) {
	d := g.domain(x, counter)
	if d < 0 {
		return 0, false
	}
	if int(d) >= len(g.sums[counter]) {
		return 0, true
	}
	return g.sums[counter][d], true
}

func (g *game) add(x *spot, counter int, n int64) {
	d := g.domain(x, counter)
	if d < 0 {
		return
	}
	if more := int(d) + 1 - len(g.sums[counter]); more > 0 {
		g.sums[counter] = append(g.sums[counter], make([]int64, more)...)
	}
	g.sums[counter][d] += n
}

// spent reports whether all steps are used up.
func (g *game) spent() bool { return g.opening.Most > 0 && g.steps >= g.opening.Most }

// fill tries all pods that are left until so many have got a node, again while
// some go that others may have to be near.
func (g *game) fill(most int) {
	for again := most > 0; again; {
		again = false
		kept := g.left[:0]
		for i, p := range g.left {
			if most == 0 || g.spent() {
				kept = append(kept, g.left[i:]...)
				break
			}
			if c, at := g.best(p); c != nil {
				g.put(p, c, at)
				most--
				again = g.world.counted && most > 0
				continue
			}
			kept = append(kept, p)
		}
		g.left = kept
	}
}

// now is a number that grows whenever there may be room for pods of the shape where there was none:
// an instance is open, or pods are where some must be first.
func (g *game) now(k *kind) int {
	if k.follows {
		return 1 + len(g.spots) + len(g.turns)
	}
	return 1 + len(g.spots)
}

// best returns the spot that the pod gets, one of a crowd; nil where there is
// none.
func (g *game) best(p *waiter) (*crowd, int) {
	k := p.kind
	if g.full[k.at] == g.now(k) {
		return nil, 0
	}
	fitting, open := g.fitting[:0], g.open[k.at][:0]
	for _, f := range g.open[k.at] {
		shut := true
		for _, c := range f.crowds {
			g.steps++
			x := c.spots[0]
			if !amount.Fits(x.free, k.need) || !x.attaches(g.world.dims, k) || g.barred(x, k) {
				continue
			}
			shut = false
			if !g.world.counted || g.board.Room(k.rules, g.board.Spot(x.place)) > 0 {
				fitting = append(fitting, c)
			}
		}
		if shut {
			f.shut = append(f.shut, k)
		} else {
			open = append(open, f)
		}
	}
	g.open[k.at], g.fitting = open, fitting
	if len(fitting) == 0 {
		g.full[k.at] = g.now(k)
		return nil, 0
	}
	return g.highest(p, fitting)
}

// barred reports whether pods on the spot keep pods of the shape away for good.
func (g *game) barred(x *spot, k *kind) bool {
	for _, p := range k.shape.Ports {
		if slices.ContainsFunc(x.ports, p.Conflicts) {
			return true
		}
	}
	return g.world.counted && g.board.Bars(k.rules, g.board.Spot(x.place))
}

// highest returns the spot with the most points, one of equals by chance.
func (g *game) highest(p *waiter, fitting []*crowd) (*crowd, int) {
	if len(fitting) == 1 && len(fitting[0].spots) == 1 {
		return fitting[0], 0
	}
	points := g.score(p, fitting)
	most, equals := slices.Max(points), 0
	for i, c := range fitting {
		if points[i] == most {
			equals += len(c.spots)
		}
	}
	at := g.draw(equals)
	for i, c := range fitting {
		if points[i] != most {
			continue
		}
		if at < len(c.spots) {
			return c, at
		}
		at -= len(c.spots)
	}
	return nil, 0
}

func (g *game) put(p *waiter, c *crowd, at int) {
	x := c.spots[at]
	for d, v := range p.kind.need {
		x.free[d] -= v
	}
	x.attach(g.world.dims, p.kind.shared)
	for d := range x.taken {
		x.taken[d] += p.kind.need[d]
		x.count[d] += p.kind.scored[d]
	}
	if len(p.Shape.Ports) > 0 {
		x.ports = append(slices.Clip(x.ports), p.Shape.Ports...)
	}
	if g.world.counted {
		g.board.Put(p.kind.rules, x.place, 1, false)
	}
	for _, c := range p.kind.counts {
		g.add(x, c, 1)
	}
	for _, s := range p.defaults {
		g.add(x, s.counter, 1)
	}
	c.leave(at, p)
	g.on[x.node.Name] = append(g.on[x.node.Name], *p.Pod)
	g.turns = append(g.turns, Turn{*p.Pod, x.node.Name})
}

func (g *game) outcome() Outcome {
	out := Outcome{On: g.on, Turns: g.turns, Steps: g.steps, Exhausted: g.spent(), world: g.world, spots: g.spots}
	for _, p := range g.left {
		out.Left = append(out.Left, *p.Pod)
	}
	return out
}
