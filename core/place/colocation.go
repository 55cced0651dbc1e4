package place

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
)

// colocation is pods that are to share one instance because of where they must be:
// those that one pod needs beside it on its host, and of all that can only be
// beside these their share, so that what is left finds room with the others
// that it could be beside.
type colocation struct {
	parts   []member // each may come when those before it are there
	sum     []int64
	options []bitset.Set // by candidate: what all of them allow, sizes aside
	pods    int64
}

type member struct {
	g *group
	n int64
}

// colocationOf returns the co-located set of the group's next pod, and nil for one that may come
// alone and that none must be beside.
func (a *affinities) colocationOf(g *group, left []int64) *colocation {
	switch {
	case g.component == nil:
		return nil
	case g.component.head(left) != g:
		return a.gather(g, left)
	case g.component.colocationAt != g.component.version:
		g.component.colocationAt, g.component.colocation = g.component.version, a.gather(g, left)
	}
	return g.component.colocation
}

// gathering is a co-located set in the making.
type gathering struct {
	colocation
	of    *affinities
	root  *group
	left  []int64
	at    map[*group]int // position among the parts
	hosts map[hostsKey]int64
	done  map[int]bool // tallies whose seekers have come
	lost  map[*group]bool
	worth map[int]float64 // by tally: of the seekers that are in the co-located set
}

// hostsKey asks on how many instances pods of a tally can be beside pods that
// want instances of an offering set.
type hostsKey struct {
	tally       int
	offeringSet *offeringSet
}

func newGathering(of *affinities, root *group, left []int64) *gathering {
	return &gathering{of: of, root: root, left: left, at: map[*group]int{}, hosts: map[hostsKey]int64{}, done: map[int]bool{},
		lost: map[*group]bool{}, worth: map[int]float64{}}
}

// gather puts a co-located set together around one pod of the group.
func (a *affinities) gather(g *group, left []int64) *colocation {
	a.gatherer.reset()
	c := newGathering(a, g, left)
	c.sum = make([]int64, a.run.dims.Len())
	c.options = make([]bitset.Set, len(a.run.candidates))
	if !c.bring(g) {
		return nil
	}
	c.follow()
	for _, p := range c.parts {
		c.pods += p.n
	}
	return &c.colocation
}

// bring adds one pod of the group, and before it the pods that it needs.
func (c *gathering) bring(g *group) bool {
	if c.lost[g] {
		return false
	}
	for _, s := range g.seeks {
		if c.of.gatherer.host.Has(s.Tally) || c.of.exempt(s) {
			continue
		}
		if !c.bringOne(c.of.givers[s.Tally], g) {
			c.lost[g] = true
			return false
		}
	}
	return c.add(g, 1) > 0
}

func (c *gathering) bringOne(givers []*group, g *group) bool {
	for _, o := range givers {
		if o.steps < g.steps && c.free(o) > 0 && c.of.meet(o.from.offeringSet, g.from.offeringSet) && c.bring(o) {
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

// add adds up to n pods of the group, as many as may be on one host.
func (c *gathering) add(g *group, n int64) int64 {
	there := &c.of.gatherer
	n = min(n, c.free(g), there.room(g.podClass, g.level))
	if exclusive(g.podClass) {
		n = min(n, 1)
	}
	if n <= 0 || !c.narrow(g) {
		return 0
	}
	if first := there.attaches(c.of.run.dims, g); first != nil {
		amount.Take(c.sum, first, -1)
	}
	amount.Take(c.sum, g.need, -n)
	there.add(g.podClass, g.level, n)
	for _, s := range g.seeks {
		c.worth[s.Tally] += float64(float64(n) * amount.Value(c.of.run.values.Worth, g.need))
	}
	if at, known := c.at[g]; known {
		c.parts[at].n += n
		return n
	}
	c.at[g] = len(c.parts)
	c.parts = append(c.parts, member{g, n})
	return n
}

// narrow keeps what instances of the group may be; it changes nothing where
// none would be left.
func (c *gathering) narrow(g *group) bool {
	if _, known := c.at[g]; known {
		return true
	}
	out, some := make([]bitset.Set, len(c.options)), false
	for i, b := range c.of.run.candidates {
		set := c.of.run.provisioner.ask(b, g).Any
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

// follow adds the share of all groups whose pods must be beside those in the
// co-located set.
func (c *gathering) follow() {
	for i := 0; i < len(c.parts); i++ {
		for _, t := range c.parts[i].g.gives {
			if c.done[t] {
				continue
			}
			c.done[t] = true
			for _, g := range c.of.seekers[t] {
				c.invite(g)
			}
			c.round(t)
		}
	}
}

// invited reports whether pods of the group may follow into the co-located set.
func (c *gathering) invited(g *group) bool {
	if g.stuck || g.steps == unreachable || c.free(g) <= 0 || c.of.run.limited && g.shape.Priority < c.root.shape.Priority {
		return false
	}
	return c.of.gatherer.room(g.podClass, g.level) > 0
}

// invite adds the whole part of the group's share.
func (c *gathering) invite(g *group) {
	if c.invited(g) {
		c.add(g, c.left[g.at]/c.over(g)-c.had(g))
	}
}

func (c *gathering) had(g *group) int64 { return c.left[g.at] - c.free(g) }

// round adds one more pod of groups whose pods cannot be shared out evenly, as
// long as those in the co-located set that seek the tally are worth no more than their
// share then.
func (c *gathering) round(t int) {
	share := 0.0
	for _, g := range c.of.seekers[t] {
		if !g.stuck && g.steps < unreachable {
			share += float64(float64(c.left[g.at])*amount.Value(c.of.run.values.Worth, g.need)) / float64(c.over(g))
		}
	}
	for _, g := range c.of.seekers[t] {
		over := c.over(g)
		if c.left[g.at]%over == 0 || c.had(g) > c.left[g.at]/over || !c.invited(g) {
			continue
		}
		if each := amount.Value(c.of.run.values.Worth, g.need); c.worth[t]+float64(each/2) <= share {
			c.add(g, 1)
		}
	}
}

// over is over how many instances pods of the group can be shared out: 1 at
// least.
func (c *gathering) over(g *group) int64 {
	n := int64(unreachable)
	for _, s := range g.seeks {
		n = min(n, c.instances(s.Tally, g.from.offeringSet))
	}
	return max(1, n)
}

// instances is on how many instances pods of the tally can stand, of those that
// pods which want the offering set can be on.
func (c *gathering) instances(tally int, m *offeringSet) int64 {
	key := hostsKey{tally, m}
	if n, known := c.hosts[key]; known {
		return n
	}
	c.hosts[key] = 0 // for those that ask in turn on the way
	n := int64(0)
	for _, g := range c.of.givers[tally] {
		if !g.lone && g.steps < unreachable && c.of.meet(g.from.offeringSet, m) {
			n += c.stands(g)
		}
	}
	c.hosts[key] = n
	return n
}

// stands is on how many instances pods of the group can be.
func (c *gathering) stands(g *group) int64 {
	n := c.left[g.at]
	for _, s := range g.seeks {
		n = min(n, c.instances(s.Tally, g.from.offeringSet))
	}
	return n
}

// meet reports whether some instance is in both offering sets.
func (a *affinities) meet(one, other *offeringSet) bool {
	if one == other {
		return true
	}
	key := [2]*offeringSet{one, other}
	yes, known := a.meeting[key]
	if !known {
		yes = slices.ContainsFunc(one.byPool, func(x poolOfferings) bool {
			return slices.ContainsFunc(other.byPool, func(y poolOfferings) bool { return x.b == y.b && x.options.Intersects(y.options) })
		})
		a.meeting[key] = yes
	}
	return yes
}
