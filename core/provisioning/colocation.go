package provisioning

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/demand"
)

// colocationOf returns the co-located set of the group's next pod. It is nil for a group without a component: its pods
// need no others, and no others need them.
func (a *affinities) colocationOf(g *demand.Group, left []int64) *demand.Colocation {
	switch {
	case g.Component == nil:
		return nil
	case g.Component.Head(left) != g:
		return a.gather(g, left)
	case g.Component.ColocationAt != g.Component.Version:
		g.Component.ColocationAt, g.Component.Colocation = g.Component.Version, a.gather(g, left)
	}
	return g.Component.Colocation
}

// gathering is a co-located set in the making.
type gathering struct {
	demand.Colocation
	of    *affinities
	root  *demand.Group
	left  []int64
	at    map[*demand.Group]int // position among the parts
	hosts map[hostsKey]int64
	done  map[int]bool // tallies whose seekers have come
	lost  map[*demand.Group]bool
	worth map[int]float64 // by tally: of the seekers that are in the co-located set
}

// hostsKey is the question on how many instances pods of a tally can be, beside pods that want an offering set.
type hostsKey struct {
	tally       int
	offeringSet *demand.OfferingSet
}

func newGathering(of *affinities, root *demand.Group, left []int64) *gathering {
	return &gathering{of: of, root: root, left: left, at: map[*demand.Group]int{}, hosts: map[hostsKey]int64{}, done: map[int]bool{},
		lost: map[*demand.Group]bool{}, worth: map[int]float64{}}
}

// gather puts a co-located set together around one pod of the group.
func (a *affinities) gather(g *demand.Group, left []int64) *demand.Colocation {
	a.Gatherer.Reset()
	c := newGathering(a, g, left)
	c.Sum = make([]int64, a.pr.Dims.Len())
	c.Options = make([]bitset.Set, len(a.pr.Candidates))
	if !c.bring(g) {
		return nil
	}
	c.follow()
	for _, p := range c.Parts {
		c.Pods += p.N
	}
	return &c.Colocation
}

// bring adds one pod of the group, and before it the pods that it needs.
func (c *gathering) bring(g *demand.Group) bool {
	if c.lost[g] {
		return false
	}
	for _, s := range g.Seeks {
		if c.of.Gatherer.Host.Has(s.Tally) || demand.Exempt(c.of.pr.Board, s) {
			continue
		}
		if !c.bringOne(c.of.givers[s.Tally], g) {
			c.lost[g] = true
			return false
		}
	}
	return c.add(g, 1) > 0
}

func (c *gathering) bringOne(givers []*demand.Group, g *demand.Group) bool {
	for _, o := range givers {
		if o.Steps < g.Steps && c.free(o) > 0 && c.of.meet(o.From.OfferingSet, g.From.OfferingSet) && c.bring(o) {
			return true
		}
	}
	return false
}

func (c *gathering) free(g *demand.Group) int64 {
	if at, known := c.at[g]; known {
		return c.left[g.At] - c.Parts[at].N
	}
	return c.left[g.At]
}

// add adds up to n pods of the group, as many as may be on one host.
func (c *gathering) add(g *demand.Group, n int64) int64 {
	there := &c.of.Gatherer
	n = min(n, c.free(g), there.Room(g.PodClass, g.Level))
	if demand.Exclusive(g.PodClass) {
		n = min(n, 1)
	}
	if n <= 0 || !c.narrow(g) {
		return 0
	}
	if first := there.Attaches(c.of.pr.Dims, g); first != nil {
		amount.Take(c.Sum, first, -1)
	}
	amount.Take(c.Sum, g.Need, -n)
	there.Add(g.PodClass, g.Level, n)
	for _, s := range g.Seeks {
		c.worth[s.Tally] += float64(float64(n) * amount.Value(c.of.pr.Values.Worth, g.Need))
	}
	if at, known := c.at[g]; known {
		c.Parts[at].N += n
		return n
	}
	c.at[g] = len(c.Parts)
	c.Parts = append(c.Parts, demand.Member{Group: g, N: n})
	return n
}

// narrow keeps the options that the group allows too. It changes nothing, and returns false, where none would be left.
func (c *gathering) narrow(g *demand.Group) bool {
	if _, known := c.at[g]; known {
		return true
	}
	out, some := make([]bitset.Set, len(c.Options)), false
	for i, b := range c.of.pr.Candidates {
		set := c.of.pr.Ask(b, g).Any
		if len(c.Parts) > 0 && set != nil && c.Options[i] != nil {
			set = set.Clone()
			set.And(c.Options[i])
		} else if len(c.Parts) > 0 {
			set = nil
		}
		if set != nil && set.Next(0) >= 0 {
			out[i], some = set, true
		}
	}
	if some {
		c.Options = out
	}
	return some
}

// follow adds the shares of all groups whose pods must be beside those in the co-located set.
func (c *gathering) follow() {
	for i := 0; i < len(c.Parts); i++ {
		for _, t := range c.Parts[i].Group.Gives {
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
func (c *gathering) invited(g *demand.Group) bool {
	if g.Stuck || g.Steps == demand.Unreachable || c.free(g) <= 0 || c.of.pr.limited && g.Shape.Priority < c.root.Shape.Priority {
		return false
	}
	return c.of.Gatherer.Room(g.PodClass, g.Level) > 0
}

// invite adds the group's share, rounded down.
func (c *gathering) invite(g *demand.Group) {
	if c.invited(g) {
		c.add(g, c.left[g.At]/c.over(g)-c.had(g))
	}
}

func (c *gathering) had(g *demand.Group) int64 { return c.left[g.At] - c.free(g) }

// round adds one more pod of groups whose pods cannot be divided evenly, as long as the pods in the co-located set
// that seek the tally are then worth no more than their share.
func (c *gathering) round(t int) {
	share := 0.0
	for _, g := range c.of.seekers[t] {
		if !g.Stuck && g.Steps < demand.Unreachable {
			share += float64(float64(c.left[g.At])*amount.Value(c.of.pr.Values.Worth, g.Need)) / float64(c.over(g))
		}
	}
	for _, g := range c.of.seekers[t] {
		over := c.over(g)
		if c.left[g.At]%over == 0 || c.had(g) > c.left[g.At]/over || !c.invited(g) {
			continue
		}
		if each := amount.Value(c.of.pr.Values.Worth, g.Need); c.worth[t]+float64(each/2) <= share {
			c.add(g, 1)
		}
	}
}

// over is the number of instances that pods of the group can be divided among, at least 1.
func (c *gathering) over(g *demand.Group) int64 {
	n := int64(demand.Unreachable)
	for _, s := range g.Seeks {
		n = min(n, c.instances(s.Tally, g.From.OfferingSet))
	}
	return max(1, n)
}

// instances is the number of instances that pods of the tally can be on, beside pods that want the offering set.
func (c *gathering) instances(tally int, m *demand.OfferingSet) int64 {
	key := hostsKey{tally, m}
	if n, known := c.hosts[key]; known {
		return n
	}
	c.hosts[key] = 0 // for questions that lead back to this one
	n := int64(0)
	for _, g := range c.of.givers[tally] {
		if !g.Lone && g.Steps < demand.Unreachable && c.of.meet(g.From.OfferingSet, m) {
			n += c.stands(g)
		}
	}
	c.hosts[key] = n
	return n
}

// stands is the number of instances that pods of the group can be on.
func (c *gathering) stands(g *demand.Group) int64 {
	n := c.left[g.At]
	for _, s := range g.Seeks {
		n = min(n, c.instances(s.Tally, g.From.OfferingSet))
	}
	return n
}

// meet reports whether some instance is in both offering sets.
func (a *affinities) meet(one, other *demand.OfferingSet) bool {
	if one == other {
		return true
	}
	key := [2]*demand.OfferingSet{one, other}
	yes, known := a.meeting[key]
	if !known {
		yes = slices.ContainsFunc(one.ByPool, func(x demand.PoolOfferings) bool {
			return slices.ContainsFunc(other.ByPool, func(y demand.PoolOfferings) bool {
				return x.Candidate == y.Candidate && x.Options.Intersects(y.Options)
			})
		})
		a.meeting[key] = yes
	}
	return yes
}
