package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// die ends the controller; another begins some time later with no memory.
func (c *controller) die() {
	if c.dead {
		return
	}
	c.world.say("the controller dies")
	c.world.checks.meter.Deaths++
	c.dead = true
	c.life++
	c.world.after(2*time.Second+time.Duration(c.chance.Int64N(int64(30*time.Second))), c.live)
}

// live begins a life: what the marks of claims and nodes tell of moves is
// carried on or undone.
func (c *controller) live() {
	c.dead, c.busy, c.wakeAt, c.bornAt = false, false, time.Time{}, c.world.now
	c.orders, c.moves, c.holds = nil, nil, nil
	c.launchedFor, c.leaving, c.kept, c.withdrawn = cluster.Ordered{}, map[string]bool{}, map[string]time.Time{}, map[string]bool{}
	c.world.say("a controller starts")
	c.fresh = true // it lists everything before its first plan
	c.resume()
	if !c.dead {
		c.look()
	}
}

// resume takes care of moves that an earlier life began. While the API server
// does not answer, nothing else is begun.
func (c *controller) resume() {
	w := c.world
	if w.deaf {
		c.busy = true
		c.later(rereadEvery, func() { c.busy = false; c.resume(); c.look() })
		return
	}
	for _, group := range c.marked() {
		if v := c.found(group); v != nil {
			w.say("go on with %s", v)
			w.checks.meter.Resumed++
			c.moves = append(c.moves, v)
			for _, r := range v.leaving {
				c.leaving[r.Node] = true
			}
			c.await(v)
		}
		if c.dead {
			return
		}
	}
	for _, m := range slices.Clone(w.instances) {
		if m.tainted() && !m.deleted() && !c.leaving[m.claim] && !c.reopen(m) {
			return
		}
	}
}

// marked lists the instances that wait for their move to go on, those of one
// move together.
func (c *controller) marked() [][]*instance {
	var out [][]*instance
	for _, m := range c.world.instances {
		if len(m.replaces) == 0 || !m.waits || m.deleted() {
			continue
		}
		at := slices.IndexFunc(out, func(g []*instance) bool { return slices.Equal(g[0].replaces, m.replaces) })
		if at < 0 {
			out = append(out, nil)
			at = len(out) - 1
		}
		out[at] = append(out[at], m)
	}
	return out
}

// found puts together what is left of a move, or undoes it and returns nil.
func (c *controller) found(group []*instance) *move {
	w := c.world
	v := &move{claims: group, ordered: true, begunAt: w.now, until: w.now.Add(timeoutFor)}
	went, broken := false, len(group) != group[0].ofMove
	for _, name := range group[0].replaces {
		m := w.instanceOf(name)
		switch {
		case m == nil || m.deleted():
			went = true
		case !m.tainted():
			broken = true
		default:
			r := plan.Removal{Node: name, Claim: name, Pool: m.pool.ID, Reason: m.reason}
			v.Removals = append(v.Removals, r)
			v.leaving = append(v.leaving, &leaver{Removal: r, instance: m, since: m.taintedAt})
		}
	}
	if !broken && len(v.leaving) > 0 {
		return v
	}
	w.say("terminate the replacements of %s", strings.Join(group[0].replaces, " "))
	for _, m := range group {
		if went {
			m.waits = false
		} else if !c.giveBack(m) {
			return nil
		}
	}
	return nil
}
