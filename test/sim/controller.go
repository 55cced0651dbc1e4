package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
)

// How the controller goes about it, as the product does.
const (
	window     = time.Second      // pods that come together are planned for together
	restFor    = 5 * time.Second  // between two plans
	checkEvery = time.Minute      // with nothing else to wake it, while pods wait
	idleEvery  = time.Minute      // and while none do: what is worth its trouble changes with time
	keptFor    = 10 * time.Second // a node whose move was given up is left alone
	writeTakes = 80 * time.Millisecond
)

// controller is the product: it plans from what it is shown, carries plans out,
// and remembers what it has begun. All of that memory is lost when it dies.
type controller struct {
	world  *World
	chance *rand.Rand
	dead   bool
	bornAt time.Time     // when its life began: it knows of no eviction before
	life   int           // grows with every death: what an earlier life began ends with it
	lag    time.Duration // by which watches are late
	frail  float64       // chance of a death at a write

	busy, dirty bool
	fresh       bool // it has not planned yet
	wakeAt      time.Time
	orders      []*instance // not seen in a snapshot yet
	launchedFor cluster.Ordered
	moves       []*move              // under way
	leaving     map[string]bool      // nodes of moves under way, and those that were let go
	kept        map[string]time.Time // nodes, until when
	withdrawn   map[string]bool      // claims
	holds       []plan.Hold          // pods that stay for now though their instance is taken away
	knownAt     time.Time            // of what the last plan was made from
	steeredAt   time.Time            // when nodes were last told to empty, or not to any more
	claims      int                  // ever
	begun       int                  // moves ever
}

// later has the controller do something, unless it dies before.
func (c *controller) later(d time.Duration, do func()) {
	life := c.life
	c.world.after(d, func() {
		if !c.dead && c.life == life {
			do()
		}
	})
}

// write carries one call out that changes something. It reports false where the
// controller died of it, before or after.
func (c *controller) write(do func()) bool {
	if c.chance.Float64() < c.frail {
		if c.chance.IntN(2) == 0 {
			do()
		}
		c.die()
		return false
	}
	do()
	return true
}

// look has the controller plan soon.
func (c *controller) look() {
	c.dirty = true
	if c.busy || c.dead {
		return
	}
	c.busy, c.dirty = true, false
	c.later(window, func() {
		seen, lag := c.world.photo(), c.lag
		if c.fresh {
			c.fresh, lag = false, 0
		}
		c.later(lag, func() { c.plan(seen) })
	})
}

// plan makes a plan from what was seen and carries it out.
func (c *controller) plan(seen *cluster.Snapshot) {
	w := c.world
	s := c.project(seen)
	w.checks.snapshot, w.checks.plan = s, nil
	p := w.Decide(s)
	w.checks.planned(w, s, &p)
	c.holds, c.knownAt = p.Holds, seen.Now
	w.kept.requests.newest(&p)
	c.carryOut(s, &p)
	if c.dead {
		return
	}
	c.wake(s)
	c.later(restFor, func() {
		c.busy = false
		if c.dirty {
			c.look()
		}
	})
}

// wake has the controller look when something is due though nothing changed.
func (c *controller) wake(s *cluster.Snapshot) {
	at := s.Now.Add(idleEvery)
	if len(s.Waiting) > 0 {
		at = s.Now.Add(checkEvery)
	}
	if every := c.world.AskEvery; every > 0 {
		at = s.Now.Add(every)
	}
	if due, ok := decide.NextDue(s); ok && due.Before(at) {
		at = due
	}
	if c.wakeAt.After(c.world.now) && !at.Before(c.wakeAt) {
		return
	}
	c.wakeAt = at
	c.later(at.Sub(c.world.now), c.look)
}

func (c *controller) carryOut(s *cluster.Snapshot, p *plan.Plan) {
	w := c.world
	if w.deaf {
		return // nothing can be written
	}
	for i := range p.Launches {
		m := c.claim(&p.Launches[i])
		if m == nil {
			continue
		}
		if !c.write(func() { c.create(m) }) {
			return
		}
	}
	for _, x := range p.Withdrawals {
		if m := w.instanceOf(x.Claim); m != nil && !m.launched() {
			c.withdrawn[x.Claim] = true
			if !c.write(func() { w.say("%s is withdrawn", m.claim); w.remove(m) }) {
				return
			}
		}
	}
	c.steer(p.Emptying)
	for i := range p.Moves {
		if c.begin(s, &p.Moves[i]); c.dead {
			return
		}
	}
}

// claim is what a launch orders; nil where its pool is gone.
func (c *controller) claim(l *plan.Launch) *instance {
	w := c.world
	at := slices.IndexFunc(w.pools, func(p *pool) bool { return p.ID == l.Pool })
	if at < 0 {
		return nil
	}
	c.claims++
	m := &instance{claim: fmt.Sprintf("%s-%04d", l.Pool.Name, c.claims), pool: w.pools[at], revision: w.pools[at].revision, launch: l, orderedAt: w.now}
	for _, p := range l.Pods {
		c.launchedFor[m.claim] = append(c.launchedFor[m.claim], p.UID)
	}
	c.orders = append(c.orders, m)
	return m
}

// create writes a claim.
func (c *controller) create(m *instance) {
	w := c.world
	m.orderedAt = w.now
	if m.pool.expires > 0 && (!w.still || m.pool.rules != nil) {
		m.expiresAt = w.now.Add(m.pool.expires)
	}
	w.checks.ordering(w, m)
	w.cloud.order(m)
}

// holdsBack reports whether a pod stays on an instance that is taken away: until a plan knows of that, and then until
// there is room for it.
func (c *controller) holdsBack(p *pod, m *instance) bool {
	if c.knownAt.Before(m.endsAt.Add(-interruptionMessageFor)) {
		return c.world.now.Before(m.endsAt.Add(-interruptionMessageFor / 2))
	}
	return slices.ContainsFunc(c.holds, func(h plan.Hold) bool {
		return c.world.now.Before(h.Until) && slices.ContainsFunc(h.Pods, func(q cluster.Pod) bool { return q.UID == p.UID })
	})
}

// seenGone forgets a claim that is gone.
func (c *controller) seenGone(m *instance) {
	c.orders = slices.DeleteFunc(c.orders, func(x *instance) bool { return x == m })
}

// newest takes in what a plan says of requests, as the product's server of them does.
func (x *requests) newest(p *plan.Plan) {
	w := x.world
	for i := range p.Requested {
		said := &p.Requested[i]
		at := slices.IndexFunc(x.all, func(r *request) bool { return r.Name == said.Name })
		if at < 0 || said.Waits != "" {
			continue
		}
		r := x.all[at]
		switch {
		case said.Missing == 0:
			r.failures, r.lostSince = 0, time.Time{}
		case !said.Booked:
			r.RetryAt = w.now.Add(min(backoffLeast<<min(r.failures, 10), backoffMost))
			r.failures++
		case r.lostSince.IsZero():
			r.lostSince = w.now
		case !r.Launches && w.now.Sub(r.lostSince) >= lostFor:
			x.end(r, "its capacity is lost")
		}
		if said.Found() && r.provisionedAt.IsZero() && r.over == "" && !w.deaf {
			x.provision(r)
		}
	}
}

// provision books capacity for a request.
func (x *requests) provision(r *request) {
	w := x.world
	r.provisionedAt = w.now
	w.checks.meter.Provisioned++
	w.say("%s is provisioned", r)
	w.changed()
	w.after(bookedFor, func() { x.end(r, "its booking has expired") })
}

// end has nothing sought or kept for a request any more.
func (x *requests) end(r *request, why string) {
	if r.over == "" {
		r.over = why
		x.world.say("%s: %s", r, why)
		x.world.changed()
	}
}
