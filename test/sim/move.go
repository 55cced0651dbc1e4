package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
)

// How moves are carried out, as the product does it.
const (
	reportsFor  = 5 * time.Second // the scheduler has seen the taint by then
	timeoutFor  = 10 * time.Minute
	awaitEvery  = time.Second
	rereadEvery = 10 * time.Second // while the API server does not answer
)

// move is nodes that go together, and how far that has come.
type move struct {
	plan.Move
	basis    *cluster.Snapshot // from which it was planned; nil for one that an earlier life began
	leaving  []*leaver
	claims   []*instance // in their place
	ordered  bool
	until    time.Time
	targets  map[string]string // by UID of a pod: node or claim
	admitted bool              // it counts for the budgets of its pools
	begunAt  time.Time         // by this life of the controller
	alone    bool              // its node is too old and goes though no instance came in its place
}

// leaver is a node that is to go.
type leaver struct {
	plan.Removal
	instance *instance
	gone     bool
	since    time.Time // pods that came later are strangers; zero: Pods tells
}

// launches are the claims that are yet to be ordered.
func (v *move) launches() []*instance {
	if v.ordered {
		return nil
	}
	return v.claims
}

func (v *move) String() string {
	var names []string
	for _, r := range v.Removals {
		names = append(names, r.Node)
	}
	return fmt.Sprintf("move of %s (%s, %d replacements)", strings.Join(names, " "), v.Removals[0].Reason, len(v.claims))
}

// begin starts a move; nodes without instances in their place go each by itself.
func (c *controller) begin(s *cluster.Snapshot, m *plan.Move) {
	if len(m.Launches) > 0 {
		c.start(s, *m)
		return
	}
	for _, r := range m.Removals {
		one := *m
		one.Removals = []plan.Removal{r}
		c.start(s, one)
	}
}

func (c *controller) start(s *cluster.Snapshot, m plan.Move) {
	v := &move{Move: m, basis: s, begunAt: c.world.now, until: c.world.now.Add(timeoutFor)}
	c.begun++
	names := map[string]string{}
	var old []string
	for _, r := range m.Removals {
		x := c.world.instanceOf(r.Claim)
		if x == nil || c.leaving[r.Node] {
			return
		}
		v.leaving = append(v.leaving, &leaver{Removal: r, instance: x})
		old = append(old, r.Claim)
	}
	for i := range m.Launches {
		x := c.claim(&m.Launches[i])
		if x == nil {
			return
		}
		c.orders = slices.DeleteFunc(c.orders, func(o *instance) bool { return o == x }) // it counts with the move
		c.launchedFor[x.claim] = nil
		x.replaces, x.ofMove, x.waits, x.payback, x.move = old, len(m.Launches), true, m.Payback, c.begun
		v.claims = append(v.claims, x)
		names[m.Launches[i].Name] = x.claim
	}
	v.takeTargets(names)
	for _, r := range v.Removals {
		c.leaving[r.Node] = true
	}
	c.moves = append(c.moves, v)
	c.world.say("begin %s", v)
	c.taint(v, 0)
}

// taint closes the nodes of a move, one call after another.
func (c *controller) taint(v *move, at int) {
	w := c.world
	if at == len(v.leaving) {
		c.later(reportsFor, func() { c.confirm(v, func() { c.replace(v) }) })
		return
	}
	c.later(writeTakes, func() {
		m := v.leaving[at].instance
		if w.deaf || m.gone || m.deleted() {
			c.giveUp(v, m.claim+" could not be tainted")
			return
		}
		if c.write(func() { m.taintedAt, m.reason = w.now, v.leaving[at].Reason; w.changed() }) {
			c.taint(v, at+1)
		}
	})
}

// confirm looks live whether all holds that the move depends on, and goes on if
// so.
func (c *controller) confirm(v *move, then func()) {
	w := c.world
	if w.deaf {
		if !w.now.Before(v.until) {
			c.giveUp(v, "the API server does not answer")
			return
		}
		c.later(rereadEvery, func() { c.confirm(v, then) })
		return
	}
	if why := c.hindrance(v); why != "" {
		c.giveUp(v, why)
		return
	}
	then()
}

// hindrance says what of the live state is in the way; empty: nothing.
func (c *controller) hindrance(v *move) string {
	w := c.world
	for _, r := range v.leaving {
		if r.instance.gone || r.instance.deleted() {
			if !v.ordered {
				return r.Node + " is being deleted"
			}
			r.gone = true
			continue
		}
		if r.Reason == plan.Expired && (len(v.claims) == 0 || v.alone) || v.surplus() {
			continue
		}
		if !r.instance.tainted() {
			return r.Node + " was untainted by another client"
		}
		if w.frozen != "" && r.Reason != plan.Expired {
			return "disruption is frozen: " + w.frozen
		}
		if r.instance.doNotDisrupt && r.Reason != plan.Expired {
			return r.Node + " has do-not-disrupt"
		}
		for _, p := range w.podsOn(r.instance) {
			if why := r.keeps(w, p); why != "" {
				return why
			}
		}
	}
	if why := w.lacksHomes(v); why != "" {
		return why
	}
	if why := v.lacksOnDemand(w); why != "" && len(v.launches()) == 0 {
		return why
	}
	return c.admit(v)
}

// keeps says why a pod is in the way.
func (r *leaver) keeps(w *World, p *pod) string {
	if p.work == nil || p.Ending {
		return ""
	}
	known := slices.ContainsFunc(r.Pods, func(q cluster.Pod) bool { return q.UID == p.UID })
	if !r.since.IsZero() {
		known = !p.StartedAt.After(r.since)
	}
	inAnyEvent := r.Reason == plan.Expired || r.Reason == plan.Drifted && r.instance.pool.grace > 0
	switch {
	case p.DoNotDisrupt && !inAnyEvent:
		return p.Name + " has do-not-disrupt"
	case !known && w.moves(p):
		return p.Name + " is new on the node"
	case !inAnyEvent && !w.mayEvict(p):
		return "the PodDisruptionBudget of " + p.Name + " allows no eviction"
	}
	return ""
}

// admit asks the budgets of pools; moves that were let through and are not over
// use them.
func (c *controller) admit(v *move) string {
	w := c.world
	v.admitted = false
	nodes := w.photo().Nodes
	admitted := map[string]bool{}
	for _, o := range c.moves {
		for _, r := range o.leaving {
			if o.admitted {
				admitted[r.Node] = true
			}
		}
	}
	for i := range nodes { // those that are merely tainted count by what was let through
		m := w.instanceOf(nodes[i].Claim)
		nodes[i].Deleting = m.deleted() || admitted[nodes[i].Name]
	}
	shares := disruption.Shares(nodes)
	asked := map[cluster.PoolID]int64{}
	for _, r := range v.leaving {
		if r.gone || r.Reason == plan.Expired {
			continue
		}
		if r.instance.ready {
			asked[r.Pool]++
		}
		if v.surplus() {
			if why := r.keptNow(nodes); why != "" {
				return why
			}
			continue
		}
		share := shares[r.Pool]
		if most := r.instance.pool.allowedFor(r.Reason, share.Nodes, w.now).Most; share.Used+asked[r.Pool] > most || most == 0 {
			return fmt.Sprintf("the budget of %s is used up", r.Pool)
		}
	}
	v.admitted = true
	return ""
}

// surplus reports whether the move is of a node of which its pool has too many.
func (v *move) surplus() bool { return v.Removals[0].Reason == plan.Overprovisioned }

// keptNow says why the node's pool does not have too many any more.
func (r *leaver) keptNow(nodes []cluster.Node) string {
	most, bounded := r.instance.pool.Most()
	stay := int64(0)
	for i := range nodes {
		if nodes[i].Pool == r.Pool && !nodes[i].Deleting {
			stay++
		}
	}
	if !bounded || stay <= most {
		return fmt.Sprintf("%s has not too many nodes any more", r.Pool)
	}
	return ""
}

// replace orders the instances of a move.
func (c *controller) replace(v *move) {
	if len(v.claims) == 0 {
		c.letGo(v)
		return
	}
	if why := c.world.overLimit(v.claims); why != "" {
		c.giveUp(v, why)
		return
	}
	if why := c.world.kept.quotas.overAll(v.claims); why != "" {
		c.giveUp(v, why)
		return
	}
	v.ordered = true
	for _, m := range v.claims {
		c.orders = append(c.orders, m)
		if !c.write(func() { c.create(m) }) {
			return
		}
	}
	c.await(v)
}

// await waits until all instances of a move have started.
func (c *controller) await(v *move) {
	w := c.world
	for _, m := range v.claims {
		switch {
		case m.gone || m.deleted():
			c.without(v, m.claim+" did not launch")
			return
		case m.started():
		case !w.now.Before(v.until):
			c.without(v, m.claim+" did not join in time")
			return
		default:
			c.later(awaitEvery, func() { c.await(v) })
			return
		}
	}
	c.confirm(v, func() { c.letGo(v) })
}

// without ends a move whose instances did not come: it is given up, unless its node
// is too old and they were waited for long enough.
func (c *controller) without(v *move, why string) {
	w := c.world
	tooOld := func(r *leaver) bool { return r.Reason == plan.Expired && r.instance.tooOld(w.now) }
	if w.now.Before(v.begunAt.Add(timeoutFor)) || !slices.ContainsFunc(v.leaving, tooOld) {
		c.giveUp(v, why)
		return
	}
	w.say("%s goes on without replacement: %s", v, why)
	w.checks.meter.Alone++
	v.alone, v.until = true, w.now.Add(timeoutFor)
	c.confirm(v, func() { c.letGo(v) })
}

// letGo deletes the claims of a move. All of it happens at one moment, so that
// nothing can change between the last look and the last deletion but the
// controller itself.
func (c *controller) letGo(v *move) {
	w := c.world
	w.checks.lettingGo(w, v)
	for _, r := range v.leaving {
		if r.gone {
			continue
		}
		r.instance.with = v
		if !c.write(func() { w.delete(r.instance, r.Reason != plan.Expired && r.Reason != plan.Overprovisioned) }) {
			return
		}
		r.gone = true
	}
	for _, m := range v.claims {
		if !c.write(func() { m.waits = false }) {
			return
		}
	}
	w.say("done %s", v)
	c.ends(v)
}

// giveUp takes back what a move has done.
func (c *controller) giveUp(v *move, why string) {
	w := c.world
	w.say("give up %s: %s", v, why)
	w.checks.meter.GivenUp++
	went := slices.ContainsFunc(v.leaving, func(r *leaver) bool { return r.gone })
	for _, r := range v.leaving {
		if r.gone {
			continue
		}
		delete(c.leaving, r.Node)
		c.kept[r.Node] = w.now.Add(keptFor)
		if r.instance.tainted() && !r.instance.deleted() && !c.reopen(r.instance) {
			return
		}
	}
	c.ends(v)
	for _, m := range v.claims {
		switch {
		case !v.ordered:
		case went:
			m.waits = false // pods of nodes that went need it
		case !c.giveBack(m):
			return
		}
	}
	c.later(keptFor, c.look)
}

func (c *controller) reopen(m *instance) bool {
	return c.write(func() {
		m.taintedAt, m.reason = time.Time{}, ""
		c.world.changed()
	})
}

// giveBack gives up an instance that is not to replace anything after all, unless
// pods run on it by now.
func (c *controller) giveBack(m *instance) bool {
	w := c.world
	if m.gone || m.deleted() {
		return true
	}
	if slices.ContainsFunc(w.podsOn(m), func(p *pod) bool { return p.work != nil }) {
		m.waits = false
		return true
	}
	return c.write(func() {
		w.say("%s is terminated", m.claim)
		w.delete(m, false)
	})
}

func (c *controller) ends(v *move) {
	c.moves = slices.DeleteFunc(c.moves, func(o *move) bool { return o == v })
	c.look()
}
