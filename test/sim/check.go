package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/removal"
	"github.com/daemok/daemok/test/sim/promise"
)

// Wrong is something that must never happen.
type Wrong struct {
	Rule string // which kind of promise was broken
	At   string // virtual time since the beginning
	What string
	// Snapshot is what was decided on and Plan what was decided; nil where no
	// single decision is to blame.
	Snapshot *cluster.Snapshot
	Plan     *plan.Plan
}

// Meter is what a run came to.
type Meter struct {
	Dollars     float64
	Hours       float64 // of instances
	Launched    int     // instances
	Plans       int
	Moves       int // that were carried out
	GivenUp     int // that were taken back
	Alone       int // of nodes that were too old and went though no instance came in their place
	Resumed     int // that an earlier life of the controller had begun
	Deaths      int // of the controller
	Evictions   int // so that nodes could go for the better
	Again       int // of these, of pods that were moved to save money within the hour before
	Interrupted int // spot instances, by a replay's market
	Provisioned int // ProvisioningRequests that got their capacity
	Consumed    int // of these, whose pods came
	OnDemand    int // instances that a minimum of a pool, or of pods, kept from being spot instances
	Covered     int // instances that were launched since a commitment pays for them
	Early       int // instances that went to save money before they had paid back, though nothing had happened from outside
}

// Add adds what another run came to.
func (m *Meter) Add(o Meter) {
	m.Dollars += o.Dollars
	m.Hours += o.Hours
	m.Launched += o.Launched
	m.Plans += o.Plans
	m.Moves += o.Moves
	m.GivenUp += o.GivenUp
	m.Alone += o.Alone
	m.Resumed += o.Resumed
	m.Deaths += o.Deaths
	m.Evictions += o.Evictions
	m.Again += o.Again
	m.Interrupted += o.Interrupted
	m.Early += o.Early
	m.OnDemand += o.OnDemand
	m.Covered += o.Covered
	m.Provisioned += o.Provisioned
	m.Consumed += o.Consumed
}

// checks are the promises that are looked at after every event.
type checks struct {
	wrong       *Wrong
	meter       Meter
	disturbedAt time.Time       // when something last happened from outside
	activeAt    time.Time       // when a plan last asked for something
	waits       []time.Duration // of pods, from when they were made until they had a node, or were deleted without one
	rounds      int             // plans that asked for something since all stands still
	snapshot    *cluster.Snapshot
	plan        *plan.Plan // the last that was made, of the snapshot
}

func (c *checks) failed() bool { return c.wrong != nil }

// broken notes what is wrong; the first counts.
func (w *World) broken(rule string, s *cluster.Snapshot, p *plan.Plan, format string, args ...any) {
	if w.checks.wrong == nil {
		w.checks.wrong = &Wrong{Rule: rule, At: w.clock(), What: fmt.Sprintf(format, args...), Snapshot: s, Plan: p}
		w.say("WRONG (%s): %s", rule, w.checks.wrong.What)
	}
}

// Longer than this nothing stays half done.
const (
	closedMost = 40 * time.Minute
	orderMost  = 30 * time.Minute
)

// movesMost is how often a pod may be moved within an hour to save money, as far
// as the controller has lived: kube-scheduler may put it on a node that goes next.
const movesMost = 2

// check looks at what must hold after every event.
func (w *World) check() {
	used := map[*instance]quantity.Resources{}
	for _, p := range w.pods {
		if p.at != nil {
			used[p.at] = used[p.at].Add(p.Shape.Requests)
		}
	}
	for _, m := range w.instances {
		switch {
		case m.joined() && !used[m].FitsIn(m.instanceType.Allocatable):
			w.broken("room", nil, nil, "pods on %s request %s of %s", m.claim, used[m], m.instanceType.Allocatable)
		case m.tainted() && !m.deleted() && w.now.Sub(m.taintedAt) > closedMost:
			w.broken("leak", nil, nil, "%s has been tainted for %s and is not deleted", m.claim, w.now.Sub(m.taintedAt))
		case !m.started() && !m.deleted() && w.now.Sub(m.orderedAt) > orderMost:
			w.broken("leak", nil, nil, "%s was created %s ago and has not started", m.claim, w.now.Sub(m.orderedAt))
		}
	}
}

// overLimit says which limit would be broken by further instances.
func (w *World) overLimit(more []*instance) string {
	s := w.photo()
	for _, m := range more {
		if !slices.Contains(w.instances, m) {
			one := w.instance(m)
			s.Charge(&one)
		}
	}
	for _, p := range s.Pools {
		if p.Limits.Nodes != nil && !p.HoursBind() && p.Used.Nodes > *p.Limits.Nodes { // hours may have changed a moment ago
			return fmt.Sprintf("%s has %d nodes and may have %d", p.ID, p.Used.Nodes, *p.Limits.Nodes)
		}
		for _, l := range p.Limits.Amounts {
			if has := p.Used.Capacity.Get(l.Name); has > l.Amount {
				return fmt.Sprintf("%s has %s=%d and may have %d", p.ID, l.Name, has, l.Amount)
			}
		}
	}
	return ""
}

// ordering looks at a claim that is about to be created.
func (c *checks) ordering(w *World, m *instance) {
	if why := w.overLimit([]*instance{m}); why != "" {
		w.broken("limit", nil, nil, "with %s: %s", m.claim, why)
	}
	for _, x := range w.instances {
		if x.waits && !x.deleted() && x.move != m.move && slices.ContainsFunc(x.replaces, func(old string) bool { return slices.Contains(m.replaces, old) }) {
			w.broken("twice", nil, nil, "%s and %s replace the same of %v", x.claim, m.claim, x.replaces)
		}
	}
	w.kept.quotas.ordering(m)
	c.needed(w, m)
	if m.launch.Choice.Cover.By != "" {
		c.meter.Covered++
	} else if p := m.pool.Pool; !m.launch.MayBeSpot() && p.Requirements.Get(cluster.LabelCapacityType).Allows("spot") {
		c.meter.OnDemand++
	}
}

// joinsWithin is how long an instance on order is waited for by pods that could be
// on it: one that takes longer may never come. Source: core/decide.
const joinsWithin = 2 * time.Minute

// needed looks whether there are more instances on order than pods that need one:
// of those that were ordered lately for pods which still do.
func (c *checks) needed(w *World, m *instance) {
	if len(m.replaces) > 0 || w.Forgetful {
		return
	}
	needs := map[string]bool{}
	for _, p := range w.pods {
		if p.work != nil && !p.Ending && (p.at == nil || p.at.deleted()) {
			needs[p.UID] = true
		}
	}
	ordered := 0
	for _, x := range append(slices.Clone(w.instances), m) {
		if !x.joined() && !x.deleted() && w.now.Sub(x.orderedAt) < joinsWithin && slices.ContainsFunc(w.control.launchedFor[x.claim], func(uid string) bool { return needs[uid] }) {
			ordered++
		}
	}
	if ordered > len(needs) {
		w.broken("twice", c.snapshot, c.plan, "with %s, %d instances are being launched for %d pods", m.claim, ordered, len(needs))
	}
}

// lettingGo looks at a move at the point of no return.
func (c *checks) lettingGo(w *World, v *move) {
	c.meter.Moves++
	for _, r := range v.leaving {
		if r.gone || r.Reason == plan.Expired || r.Reason == plan.Overprovisioned {
			continue
		}
		w.kept.requests.lettingGo(v, r)
		if w.frozen != "" {
			w.broken("freeze", v.basis, v.plan(), "%s is disrupted while disruption is frozen", r.Node)
		}
		if r.instance.doNotDisrupt {
			w.broken("protected", v.basis, v.plan(), "%s is disrupted despite do-not-disrupt", r.Node)
		}
		for _, p := range w.podsOn(r.instance) {
			if p.work == nil || p.Ending || r.Reason == plan.Drifted && r.instance.pool.grace > 0 {
				continue
			}
			if p.DoNotDisrupt {
				w.broken("protected", v.basis, v.plan(), "%s has do-not-disrupt and its node %s is disrupted", p.Name, r.Node)
			}
			if !w.mayEvict(p) {
				w.broken("pdb", v.basis, v.plan(), "the PodDisruptionBudget of %s allows no eviction and its node %s is disrupted", p.Name, r.Node)
			}
		}
		if m := r.instance; r.Reason == plan.Underutilized && m.payback > 0 && w.now.Sub(m.startedAt) < m.payback && !c.disturbedAt.After(m.orderedAt) {
			c.meter.Early++
		}
	}
	c.budgets(w, v)
	c.homes(w, v)
	if why := v.lacksOnDemand(w); why != "" {
		w.broken("minimum", v.basis, v.plan(), "after the %s %s", v, why)
	}
}

// plan is the move as a plan of its own, for reports.
func (v *move) plan() *plan.Plan { return &plan.Plan{Moves: []plan.Move{v.Move}} }

// budgets looks whether those of pools allow the move as things are.
func (c *checks) budgets(w *World, v *move) {
	s := w.photo()
	goes := map[string]bool{}
	for _, r := range v.leaving {
		goes[r.Node] = true
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Deleting = w.instanceOf(n.Claim).deleted() || goes[n.Name]
	}
	shares := disruption.Shares(s.Nodes)
	for _, r := range v.leaving {
		share := shares[r.Pool]
		most := r.instance.pool.allowedFor(r.Reason, share.Nodes, w.now).Most
		if forced := r.Reason == plan.Expired || r.Reason == plan.Overprovisioned; !r.gone && !forced && share.Used > most {
			w.broken("budget", v.basis, v.plan(), "%d nodes of %s are disrupted or not ready, and the budget is %d", share.Used, r.Pool, most)
		}
	}
}

// lacksOnDemand says which pool would have too few on-demand nodes by now once the nodes of a move go.
func (v *move) lacksOnDemand(w *World) string {
	leaving, came := map[string]bool{}, map[string]bool{}
	for _, r := range v.leaving {
		if !r.gone && r.Reason != plan.Expired {
			leaving[r.Node] = true
		}
	}
	for _, m := range v.claims {
		came[m.claim] = true
	}
	s := w.photo()
	for i := range s.Nodes {
		s.Nodes[i].Deleting = w.instanceOf(s.Nodes[i].Claim).deleted()
	}
	return promise.Goes(s, leaving, came)
}

// homes looks whether every pod that must leave has a place now, on nodes that
// are there.
func (c *checks) homes(w *World, v *move) {
	if why := w.lacksHomes(v); why != "" {
		w.broken("home", v.basis, v.plan(), "%s", why)
	}
}

// lacksHomes says which pod of a move has no place now, as the product looks for
// places; empty: all have, or it is too early to ask.
func (w *World) lacksHomes(v *move) string {
	if len(v.launches()) > 0 || v.surplus() {
		return ""
	}
	r := removal.Drain{Nodes: map[string]bool{}, Pods: map[string]bool{}, Targets: v.targets}
	for _, l := range v.leaving {
		r.Nodes[l.Node] = true
		if l.gone || l.instance.tooOld(w.now) {
			continue
		}
		for _, p := range w.podsOn(l.instance) {
			r.Pods[p.UID] = p.work != nil && !p.Ending && w.moves(p)
		}
	}
	_, left := removal.Rehome(w.photo(), r)
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is evicted and fits on no other node", left[0].Pods[0].Name)
}

// evicting looks at one eviction by a drain.
func (c *checks) evicting(w *World, p *pod, m *instance) {
	if !m.voluntary {
		return
	}
	c.meter.Evictions++
	lately := slices.DeleteFunc(slices.Clone(p.line.movedAt), func(at time.Time) bool { return w.now.Sub(at) > time.Hour })
	if len(lately) == 0 {
		return
	}
	c.meter.Again++
	known := slices.DeleteFunc(lately, func(at time.Time) bool { return w.control.bornAt.After(at) })
	if !w.Forgetful && m.reason == plan.Underutilized && len(known) >= movesMost {
		w.broken("flapping", m.with.basis, m.with.plan(), "%s is moved to save money for the %d. time since %s", p.Name, len(known)+1, w.now.Sub(known[0]))
	}
}

// lateFor is for how long a change may be unknown to who decides.
const lateFor = 2 * time.Minute

// ordering looks at an instance that is about to be ordered. What people changed a moment ago none can know, nor what
// nodes cost by overlays.
func (x *quotas) ordering(m *instance) {
	w := x.world
	late := !x.changedAt.IsZero() && w.now.Sub(x.changedAt) < lateFor
	if late || !x.limits() || len(w.kept.overlays) > 0 {
		return
	}
	if why := promise.Exceeded(w.photo(), []cluster.Instance{w.instance(m)}); why != "" {
		w.broken("quota", nil, nil, "with %s there is too much by %s", m.claim, why)
	}
}

// limits reports whether there is anything that limits nodes by a quota or their cost.
func (x *quotas) limits() bool {
	costs := func(p *pool) bool { return p.Limits.Cost != nil }
	return len(x.list) > 0 || slices.ContainsFunc(x.world.pools, costs)
}

// planned looks at what a plan launches for pods, by what it was made from.
func (x *quotas) planned(s *cluster.Snapshot, p *plan.Plan) {
	w := x.world
	if len(p.Launches) == 0 || !x.limits() {
		return
	}
	var more []cluster.Instance
	for i := range p.Launches {
		l := &p.Launches[i]
		if at := slices.IndexFunc(w.pools, func(p *pool) bool { return p.ID == l.Pool }); at >= 0 {
			m := &instance{claim: l.Name, pool: w.pools[at], launch: l, orderedAt: w.now}
			more = append(more, w.instance(m))
		}
	}
	if why := promise.Exceeded(s, more); why != "" {
		w.broken("quota", s, p, "with what the plan launches there is too much by %s", why)
	}
}

// overAll is over as things are, for instances that are yet to be ordered.
func (x *quotas) overAll(claims []*instance) string {
	var more []cluster.Instance
	for _, m := range claims {
		more = append(more, x.world.instance(m))
	}
	return promise.Exceeded(x.world.photo(), more)
}

// lettingGo looks at a node at the point of no return: the newest plan keeps nothing there.
func (x *requests) lettingGo(v *move, r *leaver) {
	w := x.world
	if w.checks.plan == nil || promise.InAnyEvent(r.Reason, r.instance.pool.grace > 0) {
		return
	}
	if owner, _ := promise.KeepsFor(w.checks.plan, r.Node); owner != "" {
		w.broken("request", v.basis, v.plan(), "%s is disrupted and keeps capacity for %s", r.Node, owner)
	}
}

// stable looks whether in the end what was launched for requests whose time is over is given back, where that may be.
func (x *requests) stable(s *cluster.Snapshot, p *plan.Plan) {
	w := x.world
	for _, m := range w.instances {
		if len(promise.RequestsOf(m.launch)) == 0 || m.doNotDisrupt || !m.started() {
			continue
		}
		policy := m.pool.policyNow(int64(len(w.instances)), w.now)
		free := !slices.ContainsFunc(w.podsOn(m), func(q *pod) bool { return q.work != nil })
		// It may wait for a drain that does not end, or for an on-demand node.
		waits := slices.ContainsFunc(p.Kept, func(k plan.Kept) bool {
			may := k.By == plan.KeptByBudget || m.pool.OnDemand.Any()
			return k.Node == m.claim && k.Reason == plan.Empty && may
		})
		goes := !policy.Never && policy.Empty.Most > 0 && !m.pool.Static() && !waits
		if free && goes && len(w.kept.buffers) == 0 {
			w.broken("settling", s, p, "%s was launched for %v, has no pods and is there in the end", m.claim,
				promise.RequestsOf(m.launch))
		}
	}
}
