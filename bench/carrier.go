package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/forecast"
	"github.com/daemok/daemok/core/plan"
)

// How the virtual cluster goes about it.
const (
	carryTick  = 500 * time.Millisecond
	carryBinds = 25               // pods that kube-scheduler gives a node in a tick: fifty a second are its usual limit
	carryRest  = 3                // milliseconds for each waiting pod that the controller rests after a plan
	carryRetry = 10 * time.Second // it checks again at pods without a place so often
	carryHold  = time.Minute      // a node waits for others so long at most
	carryTurn  = 10 * time.Second // and for its turn, once others are open
	carryMost  = 20 * time.Minute
)

// carrier carries plans out, tick by tick, for pods that all come at once.
type carrier struct {
	base   *cluster.Snapshot // at the beginning
	joins  Joins
	chance *rand.Rand
	market market
	seed   uint64
	// nominate has nodes nominated for pods, which the scheduler follows.
	nominate bool
	now      time.Duration
	waiting  []cluster.Pod
	claims   []*carried
	meant    cluster.Ordered
	restTo   time.Duration            // no plan before
	planned  time.Duration            // when the last plan was made
	dirty    bool                     // something changed since
	busy     bool                     // the scheduler may have places
	kinds    map[string]string        // planned for a pod
	turn     map[string]time.Duration // of a pod in the scheduler's queue, which the controller does not know
	waits    []time.Duration
	out      Carried
}

// carried is an instance that was launched.
type carried struct {
	name    string
	node    *cluster.Node
	orderAt time.Duration
	joinAt  time.Duration
	openAt  time.Duration
	joined  bool
	open    bool
	joins   []plan.Join
	cost    float64
}

func newCarrier(s *cluster.Snapshot, joins Joins, o Options) *carrier {
	seed := o.Seed
	c := &carrier{base: s, joins: joins, nominate: o.Nominate, chance: rand.New(rand.NewPCG(seed, 7)), seed: seed,
		market:  market{chance: rand.New(rand.NewPCG(seed, 11)), shy: map[[2]string]float64{}},
		waiting: slices.Clone(s.Waiting), dirty: true, meant: cluster.Ordered{}, kinds: map[string]string{}, turn: map[string]time.Duration{}}
	for i, at := range c.chance.Perm(len(s.Waiting)) {
		c.turn[s.Waiting[i].Name] = time.Duration(at) * time.Millisecond
		c.waiting[i].UID = s.Waiting[i].Name
	}
	return c
}

func (c *carrier) run() error {
	for ; len(c.waiting) > 0; c.now += carryTick {
		if c.now > carryMost {
			return fmt.Errorf("%d pods have no node after %s", len(c.waiting), carryMost)
		}
		c.join()
		c.schedule()
		c.plan()
	}
	return nil
}

// join lets nodes come, and open for pods.
func (c *carrier) join() {
	for _, m := range c.claims {
		m.joined = m.joined || m.joinAt <= c.now
	}
	for _, m := range c.claims {
		if m.joined && !m.open && (c.now-m.joinAt >= carryHold || !c.held(m)) {
			m.open, m.openAt, c.busy, c.dirty = true, c.now, true, true
			m.node.ChangedAt = c.time(c.now)
		}
	}
}

// held reports whether some domain of the instance's groups has no node yet, or others have
// not had their turn.
func (c *carrier) held(m *carried) bool {
	return slices.ContainsFunc(m.joins, func(j plan.Join) bool {
		if j.Turn > 0 {
			return slices.ContainsFunc(c.claims, func(x *carried) bool {
				earlier := slices.ContainsFunc(x.joins, func(k plan.Join) bool { return k.Group == j.Group && k.Turn < j.Turn })
				return earlier && (!x.open || c.now-x.openAt < carryTurn)
			})
		}
		missing := map[string]bool{}
		for _, x := range c.claims {
			at := slices.IndexFunc(x.joins, func(k plan.Join) bool { return k.Group == j.Group })
			if at < 0 {
				continue
			}
			domain := x.name
			if j.Key != "" {
				domain, _ = x.node.Labels.Get(j.Key)
			}
			if there, known := missing[domain]; !known || there {
				missing[domain] = !x.joined && x.joins[at].Opens
			}
		}
		for _, lacks := range missing {
			if lacks {
				return true
			}
		}
		return false
	})
}

// schedule gives nodes to as many pods as the scheduler gets to.
func (c *carrier) schedule() {
	if !c.busy {
		return
	}
	s := *c.base
	s.Waiting, s.Nodes = slices.Clone(c.waiting), slices.Clone(c.base.Nodes)
	for i := range s.Waiting {
		s.Waiting[i].CreatedAt = s.Waiting[i].CreatedAt.Add(c.turn[s.Waiting[i].Name])
	}
	for _, m := range c.claims {
		if m.joined {
			n := *m.node
			n.Deleting = !m.open // counts as a domain and takes no pods
			s.Nodes = append(s.Nodes, n)
		}
	}
	s.Sort()
	var turns []forecast.Turn
	if c.nominate {
		turns = c.nominated()
	}
	if len(turns) == 0 {
		turns = forecast.New(&s, s.Waiting).Simulate(nil, nil, forecast.Opening{Together: true, Seed: c.seed + 100}).Turns
	}
	turns = turns[:min(len(turns), carryBinds)]
	c.busy = len(turns) > 0
	c.dirty = c.dirty || c.busy
	bound := map[string]bool{}
	for _, t := range turns {
		bound[t.Pod.Name] = true
		c.waits = append(c.waits, c.now)
		c.bind(t)
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(p cluster.Pod) bool { return bound[p.Name] })
}

// nominated are the pods that nodes which are open are nominated for, as far as there is room. That they
// may have to wait for others by which they are spread is left out.
func (c *carrier) nominated() (out []forecast.Turn) {
	waiting := map[string]*cluster.Pod{}
	for i := range c.waiting {
		waiting[c.waiting[i].UID] = &c.waiting[i]
	}
	for _, m := range c.claims {
		if !m.open {
			continue
		}
		free := feasibility.Free(m.node, c.base.Daemons)
		for _, uid := range c.meant[m.name] {
			if p := waiting[uid]; p != nil && p.Shape.Requests.FitsIn(free) {
				free = free.Sub(p.Shape.Requests)
				turn := forecast.Turn{Pod: *p, Node: m.node.Name}
				turn.Pod.CreatedAt = turn.Pod.CreatedAt.Add(c.turn[p.Name])
				out = append(out, turn)
			}
		}
	}
	return out
}

func (c *carrier) bind(t forecast.Turn) {
	for _, m := range c.claims {
		if m.node.Name == t.Node {
			t.Pod.CreatedAt = t.Pod.CreatedAt.Add(-c.turn[t.Pod.Name])
			m.node.Pods = append(slices.Clip(m.node.Pods), t.Pod)
			m.node.ChangedAt = c.time(c.now)
			if kind, _ := m.node.Labels.Get(cluster.LabelInstanceType); kind == c.kinds[t.Pod.Name] {
				c.out.AsPlanned++
			}
		}
	}
}

// time is a moment as snapshots have it.
func (c *carrier) time(d time.Duration) time.Time { return time.Unix(1_000_000_000, 0).UTC().Add(d) }

// snapshot is what the controller knows, pods looked up again for which instances were
// launched.
func (c *carrier) snapshot() *cluster.Snapshot {
	out := *c.base
	out.Waiting, out.Nodes, out.Now = slices.Clone(c.waiting), slices.Clone(c.base.Nodes), c.time(c.now)
	for _, m := range c.claims {
		if m.open {
			n := *m.node
			n.CreatedAt = c.time(m.orderAt)
			out.Nodes = append(out.Nodes, n)
			continue
		}
		labels := slices.DeleteFunc(slices.Clone(m.node.Labels), func(l constraint.Label) bool { return l.Key == cluster.LabelHostname })
		out.Instances = append(out.Instances, cluster.Instance{Claim: m.name, Pool: m.node.Pool, Labels: labels, Taints: m.node.Taints,
			Allocatable: m.node.Allocatable, Capacity: m.node.Capacity, Attachable: m.node.Attachable,
			CreatedAt: c.time(m.orderAt), Launched: true, Planned: true})
	}
	c.meant.Name(&out)
	out.Sort()
	return &out
}

// plan makes a plan where the controller would, and launches its instances.
func (c *carrier) plan() {
	if due := c.dirty || c.now >= c.planned+carryRetry; !due || c.now < c.restTo || len(c.waiting) == 0 {
		return
	}
	s := c.snapshot()
	effort := decide.Usual(s)
	effort.Disruption = 0
	made := decide.Decide(s, decide.Policy{Nominated: c.nominate}, effort)
	if len(c.claims) == 0 {
		c.first(&made)
	}
	c.dirty, c.planned = false, c.now
	c.restTo = c.now + max(carryTick/5, time.Duration(len(c.waiting))*carryRest*time.Millisecond)
	w := forecast.New(s, nil)
	for i := range made.Launches {
		c.order(w, &made.Launches[i])
	}
	for _, j := range made.Joining {
		for _, m := range c.claims {
			if m.name == j.Claim && !m.open {
				m.joins = append(slices.DeleteFunc(m.joins, func(k plan.Join) bool { // as it is written on claims: what is written stays
					return slices.ContainsFunc(j.Joins, func(x plan.Join) bool { return x.Group == k.Group && x.Key == k.Key })
				}), j.Joins...)
			}
		}
	}
}

func (c *carrier) order(w *forecast.World, l *plan.Launch) {
	had := *l
	had.Choice = c.market.allot(c.base, l)
	m := &carried{name: fmt.Sprintf("claim-%04d", len(c.claims)), node: w.Node(&had), joins: l.Joins, orderAt: c.now, cost: dollars(had.Choice.Cost())}
	m.joinAt = c.now + c.joins.Earliest + time.Duration(c.chance.Float64()*float64(c.joins.Latest-c.joins.Earliest))
	m.node.Name, m.node.Claim = m.name, m.name
	m.node.Labels = m.node.Labels.With(cluster.LabelHostname, m.name)
	for _, p := range l.Pods {
		c.meant[m.name] = append(c.meant[m.name], p.UID)
		if _, known := c.kinds[p.Name]; !known {
			c.kinds[p.Name] = l.Choice.Kind
		}
	}
	c.claims = append(c.claims, m)
}

// first notes what the first plan promises.
func (c *carrier) first(p *plan.Plan) {
	c.out.Pods, c.out.Instances, c.out.PlannedPerHour = len(c.waiting), len(p.Launches), dollars(p.LaunchCost())
	c.out.LikelyPerHour = dollars(p.Promise())
}

func (c *carrier) outcome() Carried {
	out := c.out
	for _, m := range c.claims {
		out.PaidPerHour += m.cost
	}
	out.More = len(c.claims) - out.Instances
	out.OverPlanned, out.OverLikely = out.PaidPerHour/out.PlannedPerHour-1, out.PaidPerHour/out.LikelyPerHour-1
	out.AsPlanned /= float64(max(1, out.Pods))
	for _, w := range c.waits {
		out.MeanWaitSeconds += w.Seconds() / float64(len(c.waits))
		out.LastWaitSeconds = max(out.LastWaitSeconds, w.Seconds())
	}
	return out
}
