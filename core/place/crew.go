package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
)

// crew is pods that are to share one machine because of where they must be:
// those that one pod needs beside it on its host, and of all that can only be
// beside these their share, so that what is left finds room with the others
// that it could be beside.
type crew struct {
	parts   []member // each may come when those before it are there
	sum     []int64
	options []bitset.Set // by buyer: what all of them allow, sizes aside
	pods    int64
}

type member struct {
	g *group
	n int64
}

// crewOf returns the crew of the row's next pod, and nil for one that may come
// alone and that nobody must be beside.
func (r *run) crewOf(g *group, left []int64) *crew {
	switch {
	case g.bond == nil:
		return nil
	case g.bond.head(left) != g:
		return r.gather(g, left)
	case g.bond.crewAt != g.bond.version:
		g.bond.crewAt, g.bond.crew = g.bond.version, r.gather(g, left)
	}
	return g.bond.crew
}

// gathering is a crew in the making.
type gathering struct {
	crew
	r     *run
	root  *group
	left  []int64
	at    map[*group]int // position among the parts
	hosts map[hostsKey]int64
	done  map[int]bool // tallies whose seekers have come
	lost  map[*group]bool
	worth map[int]float64 // by tally: of the seekers that are in the crew
}

// hostsKey asks on how many machines pods of a tally can be beside pods that
// want machines of a market.
type hostsKey struct {
	tally  int
	market *market
}

func newGathering(r *run, root *group, left []int64) *gathering {
	return &gathering{r: r, root: root, left: left, at: map[*group]int{}, hosts: map[hostsKey]int64{}, done: map[int]bool{},
		lost: map[*group]bool{}, worth: map[int]float64{}}
}

// gather puts a crew together around one pod of the row.
func (r *run) gather(g *group, left []int64) *crew {
	r.gatherer.reset()
	c := newGathering(r, g, left)
	c.sum = make([]int64, r.dims.Len())
	c.options = make([]bitset.Set, len(r.buyers))
	if !c.bring(g) {
		return nil
	}
	c.follow()
	for _, p := range c.parts {
		c.pods += p.n
	}
	return &c.crew
}

// bring adds one pod of the row, and before it the pods that it needs.
func (c *gathering) bring(g *group) bool {
	if c.lost[g] {
		return false
	}
	for _, s := range g.seeks {
		if c.r.gatherer.host.Has(s.Tally) || c.r.exempt(s) {
			continue
		}
		if !c.bringOne(c.r.givers[s.Tally], g) {
			c.lost[g] = true
			return false
		}
	}
	return c.add(g, 1) > 0
}

func (c *gathering) bringOne(givers []*group, g *group) bool {
	for _, o := range givers {
		if o.steps < g.steps && c.free(o) > 0 && c.r.meet(o.from.market, g.from.market) && c.bring(o) {
			return true
		}
	}
	return false
}

func (c *gathering) free(g *group) int64 {
	if at, known := c.at[g]; known {
		return c.left[g.at] - c.parts[at].n
	}
	return c.left[g.at]
}

// add adds up to n pods of the row, as many as may be on one host.
func (c *gathering) add(g *group, n int64) int64 {
	there := &c.r.gatherer
	n = min(n, c.free(g), there.room(g.kin, g.level))
	if exclusive(g.kin) {
		n = min(n, 1)
	}
	if n <= 0 || !c.narrow(g) {
		return 0
	}
	if first := c.r.attaches(g, there); first != nil {
		take(c.sum, first, -1)
	}
	take(c.sum, g.need, -n)
	there.add(g.kin, g.level, n)
	for _, s := range g.seeks {
		c.worth[s.Tally] += float64(float64(n) * value(c.r.worth, g.need))
	}
	if at, known := c.at[g]; known {
		c.parts[at].n += n
		return n
	}
	c.at[g] = len(c.parts)
	c.parts = append(c.parts, member{g, n})
	return n
}

// narrow keeps what machines of the row may be; it changes nothing where
// none would be left.
func (c *gathering) narrow(g *group) bool {
	if _, known := c.at[g]; known {
		return true
	}
	out, some := make([]bitset.Set, len(c.options)), false
	for i, b := range c.r.buyers {
		set := b.ask(g, len(c.r.groups)).any
		if len(c.parts) > 0 && set != nil && c.options[i] != nil {
			set = set.Clone()
			set.And(c.options[i])
		} else if len(c.parts) > 0 {
			set = nil
		}
		if set != nil && set.Next(0) >= 0 {
			out[i], some = set, true
		}
	}
	if some {
		c.options = out
	}
	return some
}

// follow adds the share of all rows whose pods must be beside those in the
// crew.
func (c *gathering) follow() {
	for i := 0; i < len(c.parts); i++ {
		for _, t := range c.parts[i].g.gives {
			if c.done[t] {
				continue
			}
			c.done[t] = true
			for _, g := range c.r.seekers[t] {
				c.invite(g)
			}
			c.round(t)
		}
	}
}

// invited reports whether pods of the row may follow into the crew.
func (c *gathering) invited(g *group) bool {
	if g.stuck || g.steps == unreachable || c.free(g) <= 0 || c.r.limited && g.shape.Priority < c.root.shape.Priority {
		return false
	}
	return c.r.gatherer.room(g.kin, g.level) > 0
}

// invite adds the whole part of the row's share.
func (c *gathering) invite(g *group) {
	if c.invited(g) {
		c.add(g, c.left[g.at]/c.over(g)-c.had(g))
	}
}

func (c *gathering) had(g *group) int64 { return c.left[g.at] - c.free(g) }

// round adds one more pod of rows whose pods cannot be shared out evenly, as
// long as those in the crew that seek the tally are worth no more than their
// share then.
func (c *gathering) round(t int) {
	share := 0.0
	for _, g := range c.r.seekers[t] {
		if !g.stuck && g.steps < unreachable {
			share += float64(float64(c.left[g.at])*value(c.r.worth, g.need)) / float64(c.over(g))
		}
	}
	for _, g := range c.r.seekers[t] {
		over := c.over(g)
		if c.left[g.at]%over == 0 || c.had(g) > c.left[g.at]/over || !c.invited(g) {
			continue
		}
		if each := value(c.r.worth, g.need); c.worth[t]+float64(each/2) <= share {
			c.add(g, 1)
		}
	}
}

// over is over how many machines pods of the row can be shared out: 1 at
// least.
func (c *gathering) over(g *group) int64 {
	n := int64(unreachable)
	for _, s := range g.seeks {
		n = min(n, c.machines(s.Tally, g.from.market))
	}
	return max(1, n)
}

// machines is on how many machines pods of the tally can stand, of those that
// pods which want the market can be on.
func (c *gathering) machines(tally int, m *market) int64 {
	key := hostsKey{tally, m}
	if n, known := c.hosts[key]; known {
		return n
	}
	c.hosts[key] = 0 // for those that ask in turn on the way
	n := int64(0)
	for _, g := range c.r.givers[tally] {
		if !g.lone && g.steps < unreachable && c.r.meet(g.from.market, m) {
			n += c.stands(g)
		}
	}
	c.hosts[key] = n
	return n
}

// stands is on how many machines pods of the row can be.
func (c *gathering) stands(g *group) int64 {
	n := c.left[g.at]
	for _, s := range g.seeks {
		n = min(n, c.machines(s.Tally, g.from.market))
	}
	return n
}

// meet reports whether some machine is in both markets.
func (r *run) meet(a, b *market) bool {
	if a == b {
		return true
	}
	key := [2]*market{a, b}
	yes, known := r.meeting[key]
	if !known {
		yes = slices.ContainsFunc(a.stalls, func(x stall) bool {
			return slices.ContainsFunc(b.stalls, func(y stall) bool { return x.b == y.b && x.options.Intersects(y.options) })
		})
		r.meeting[key] = yes
	}
	return yes
}
