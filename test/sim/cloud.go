package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// How long the cloud takes.
const (
	shortFor               = 3 * time.Minute  // what could not be launched is not offered again for so long
	joinsIn                = 15 * time.Minute // an instance that has not joined by then is given up
	interruptionMessageFor = 2 * time.Minute  // between the word that a spot instance is taken and its end
	endsWithin             = 40 * time.Second // an instance that is terminated is gone
)

// cloud offers instances.
type cloud struct {
	world      *World
	chance     *rand.Rand
	catalogues []*cluster.Catalogue // as the controller is told, by pool.class: they offer the same, which has more or less for pods
	short      []choice             // what cannot be had, told or not
	slow       bool                 // instances take ten times as long as usual
	spot       SpotMarket
	fate       *rand.Rand // of spot instances; nil where none is interrupted by itself
	boots      Boots      // nil: see joinsAfter and opensAfter

	commitments commitment.Commitments // of the account
}

// choice is one offer of a kind.
type choice struct {
	instanceType cluster.InstanceType
	offering     cluster.Offering
}

func (c choice) same(d choice) bool {
	return c.instanceType.Name == d.instanceType.Name && c.offering.Zone == d.offering.Zone && c.offering.Option == d.offering.Option
}

// instance is a claim, with its instance and its node as far as these are there.
type instance struct {
	choice              // what was launched
	claim        string // and the node's name
	pool         *pool
	revision     int          // of the pool when it was ordered
	launch       *plan.Launch // what was ordered
	replaces     []string     // claims; none: it was ordered for pods that waited
	move         int          // which ordered it; 0: none
	ofMove       int          // how many instances the move ordered
	waits        bool         // the move that ordered it is not over, by its mark
	payback      time.Duration
	orderedAt    time.Time
	launchedAt   time.Time
	joinedAt     time.Time
	startedAt    time.Time // initialised
	changedAt    time.Time // a pod came or went
	expiresAt    time.Time
	endsAt       time.Time // the cloud takes it away; zero: not that it is known
	ready        bool
	doNotDisrupt bool
	emptying     int       // its turn among the nodes that are to empty, from 1; 0: it is not to
	taintedAt    time.Time // zero: pods may come
	reason       plan.RemovalReason
	with         *move     // with which it went
	deletedAt    time.Time // of the claim; zero: it stays
	voluntary    bool      // it was deleted to save money, or for a better one
	ends         bool      // it is drained
	gone         bool
}

func (m *instance) launched() bool { return !m.launchedAt.IsZero() && !m.gone }
func (m *instance) joined() bool   { return !m.joinedAt.IsZero() && !m.gone }
func (m *instance) started() bool  { return !m.startedAt.IsZero() && !m.gone }
func (m *instance) tainted() bool  { return !m.taintedAt.IsZero() }
func (m *instance) deleted() bool  { return !m.deletedAt.IsZero() }

// tooOld reports whether the node goes whether its pods have a place or not.
func (m *instance) tooOld(now time.Time) bool {
	return m.reason == plan.Expired && !m.expiresAt.After(now)
}

// open reports whether kube-scheduler may put pods there.
func (m *instance) open() bool {
	return m.started() && m.ready && !m.tainted() && !m.deleted()
}

// labels are those of the node.
func (m *instance) labels() constraint.Labels {
	return m.pool.Labels.Merge(m.launch.Labels).Merge(m.instanceType.Labels).Merge(m.offering.Labels).With(cluster.LabelHostname, m.claim).
		With("karpenter.sh/registered", "true").With("karpenter.sh/initialized", "true")
}

// order takes a claim in.
func (c *cloud) order(m *instance) {
	w := c.world
	w.instances = append(w.instances, m)
	w.say("%s of %s is created: %s in %s, %s", m.claim, m.pool.ID, m.launch.Choice.Kind, m.launch.Choice.Zone, m.launch.Choice.Option)
	w.changed()
	w.after(time.Second+c.upTo(3*time.Second), func() { c.launch(m) })
}

func (c *cloud) upTo(d time.Duration) time.Duration { return time.Duration(c.chance.Int64N(int64(d))) }

// launch launches the cheapest instance that the claim allows or, where that is a
// spot instance, sometimes another.
func (c *cloud) launch(m *instance) {
	w := c.world
	if m.gone || m.deleted() {
		return
	}
	all := c.allowed(m.pool, m.launch.Requirements)
	had := slices.DeleteFunc(slices.Clone(all), c.isShort)
	if len(had) == 0 {
		w.say("%s has insufficient capacity", m.claim)
		c.report(all)
		w.remove(m)
		return
	}
	m.choice = had[0]
	if m.offering.Option == cluster.Spot && c.chance.IntN(4) == 0 { // of spot instances it offers those it has most of
		m.choice = had[c.chance.IntN(len(had))]
	}
	if m.instanceType.Name != m.launch.Choice.Kind {
		w.disturbed() // there is more room than was planned for, or other
	}
	m.launchedAt = w.now
	w.checks.meter.Launched++
	w.say("%s is %s in %s, %s", m.claim, m.instanceType.Name, m.offering.Zone, m.offering.Option)
	w.changed()
	c.expose(m)
	w.after(joinsIn, func() {
		if m.launched() && !m.joined() {
			w.say("%s never joined", m.claim)
			w.remove(m)
		}
	})
	boot := c.joinsAfter()
	switch {
	case w.still:
	case c.slow:
		boot *= 8
	case c.chance.IntN(25) == 0:
		boot *= 20 // may be too late
	}
	w.after(boot, func() { c.join(m) })
}

// allowed lists what a claim may become, the cheapest first.
func (c *cloud) allowed(p *pool, rs constraint.Requirements) []choice {
	var out []choice
	for _, k := range c.world.kept.offers(p).InstanceTypes {
		for _, o := range k.Offerings {
			if _, ok := rs.Allow(k.Labels.Merge(o.Labels)); ok || onlyOthers(rs, k.Labels.Merge(o.Labels)) {
				out = append(out, choice{k, o})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b choice) int { return cmp.Compare(a.offering.Price, b.offering.Price) })
	return out
}

// onlyOthers reports whether the requirements hold for the labels that there
// are: others come from the pool.
func onlyOthers(rs constraint.Requirements, labels constraint.Labels) bool {
	return !slices.ContainsFunc(labels, func(l constraint.Label) bool { return !rs.Get(l.Key).Allows(l.Value) })
}

func (c *cloud) isShort(x choice) bool { return slices.ContainsFunc(c.short, x.same) }

// report lets the controller know what could not be had, for a while.
func (c *cloud) report(short []choice) {
	c.offering(short, false)
	c.world.after(shortFor, func() { c.offering(short, true) })
}

func (c *cloud) offering(list []choice, available bool) {
	for i, before := range c.catalogues {
		c.catalogues[i] = edited(before, func(k *cluster.InstanceType, o *cluster.Offering) {
			if slices.ContainsFunc(list, choice{*k, *o}.same) {
				o.Available = available
			}
		})
	}
	c.world.changed()
}

// edited is a catalogue whose offers are others.
func edited(c *cluster.Catalogue, edit func(*cluster.InstanceType, *cluster.Offering)) *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: c.Revision + 1, Disk: c.Disk, InstanceTypes: slices.Clone(c.InstanceTypes)}
	for i := range out.InstanceTypes {
		k := &out.InstanceTypes[i]
		k.Offerings = slices.Clone(k.Offerings)
		for j := range k.Offerings {
			edit(k, &k.Offerings[j])
		}
	}
	return out
}

// join registers the instance's node, which starts a moment later.
func (c *cloud) join(m *instance) {
	w := c.world
	if !m.launched() || m.deleted() {
		return
	}
	m.joinedAt, m.changedAt = w.now, w.now
	for i := range w.daemons {
		if n := w.node(m); len(feasibility.Expected(&n, w.daemons[i:i+1])) > 0 {
			w.startDaemon(&w.daemons[i], m)
		}
	}
	w.changed()
	w.after(c.opensAfter(), func() { c.start(m) })
}

// joinsAfter draws how long it is from an instance's launch until its node joins.
func (c *cloud) joinsAfter() time.Duration {
	if c.boots != nil {
		return c.boots(c.chance)
	}
	return 15*time.Second + c.upTo(40*time.Second)
}

// opensAfter draws how long it is from then until pods can be bound to the node.
func (c *cloud) opensAfter() time.Duration {
	if c.boots != nil {
		return 0
	}
	return 2*time.Second + c.upTo(15*time.Second)
}

// start opens the instance's node for pods, once it need not wait for others.
func (c *cloud) start(m *instance) {
	w := c.world
	if m.gone {
		return
	}
	if c.holds(m) {
		w.after(time.Second, func() { c.start(m) })
		return
	}
	m.ready, m.startedAt = true, w.now
	w.say("%s has started", m.claim)
	w.changed()
}

// How long nodes wait for others, as in the product.
const (
	holdsFor = time.Minute      // at most
	turnFor  = 10 * time.Second // and once those are open whose turn was before
)

// holds reports whether the instance takes no pods yet because of others of its
// plan.
func (c *cloud) holds(m *instance) bool {
	w := c.world
	if w.now.Sub(m.joinedAt) >= holdsFor {
		return false
	}
	return slices.ContainsFunc(m.launch.Joins, func(j plan.Join) bool {
		return slices.ContainsFunc(w.instances, func(o *instance) bool {
			at := slices.IndexFunc(o.launch.Joins, func(k plan.Join) bool { return k.Group == j.Group })
			switch {
			case at < 0 || o == m || o.deleted():
				return false
			case j.Turn > 0:
				return o.launch.Joins[at].Turn < j.Turn && (!o.started() || w.now.Sub(o.startedAt) < turnFor)
			case !o.launch.Joins[at].Opens:
				return false
			}
			return !o.joined() && !w.hasDomain(j, o)
		})
	})
}

// hasDomain reports whether a node of the group has the value that an instance on
// order will bring.
func (w *World) hasDomain(j plan.Join, of *instance) bool {
	if j.Key == "" || !of.launched() {
		return false
	}
	value, _ := of.labels().Get(j.Key)
	return slices.ContainsFunc(w.instances, func(o *instance) bool {
		if !o.joined() || !slices.ContainsFunc(o.launch.Joins, func(k plan.Join) bool { return k.Group == j.Group }) {
			return false
		}
		has, _ := o.labels().Get(j.Key)
		return has == value
	})
}

// interrupt takes an instance back after a notice, which the controller heeds.
func (c *cloud) interrupt(m *instance) {
	w := c.world
	w.say("%s is interrupted", m.claim)
	m.endsAt = w.now.Add(interruptionMessageFor)
	w.delete(m, false)
	w.after(interruptionMessageFor, func() { w.remove(m) })
}

// remove ends a claim, its instance and its node.
func (w *World) remove(m *instance) {
	if m.gone {
		return
	}
	m.gone = true
	w.instances = slices.DeleteFunc(w.instances, func(x *instance) bool { return x == m })
	w.say("%s is gone", m.claim)
	for _, p := range w.podsOn(m) {
		w.lose(p)
	}
	w.control.seenGone(m)
	w.changed()
}

// applied is what the overlays come to, by all pools.
func (x *kept) applied() *overlay.Set {
	w := x.world
	var all []overlay.Pool
	for _, p := range w.pools {
		all = append(all, overlay.Pool{Labels: p.Labels, Listed: w.cloud.catalogues[p.class]})
	}
	x.set = overlay.New(x.overlays, all, x.set)
	return x.set
}

// offers is what the cloud offers to the pool, at the prices that overlays say.
func (x *kept) offers(p *pool) *cluster.Catalogue {
	w := x.world
	listed := w.cloud.catalogues[p.class]
	if len(x.overlays) == 0 {
		return listed
	}
	return x.applied().Of(overlay.Pool{Labels: p.Labels, Listed: listed})
}

// priceOf is what the node of an instance costs now.
func (x *kept) priceOf(m *instance) quantity.MicroUSDPerHour {
	if k := x.offers(m.pool).InstanceType(m.instanceType.Name); k != nil {
		if o := k.Offering(m.offering.Labels.Map()); o != nil {
			return o.Price
		}
	}
	return m.offering.Price
}
