package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// How the controller serves ProvisioningRequests, as the product does.
const (
	bookedFor    = 10 * time.Minute
	lostFor      = time.Minute // before a check-capacity request is given up
	backoffLeast = time.Minute
	backoffMost  = 10 * time.Minute
)

// requests are ProvisioningRequests, as a batch system submits them: once one has its capacity, its pods come.
type requests struct {
	world *World
	all   []*request // oldest first
	made  int
}

// request is one of them.
type request struct {
	cluster.ProvisioningRequest           // without what depends on pods, claims and the time
	done                        []int64   // by set: pods that have ended
	provisionedAt               time.Time // zero: it has not had its capacity
	lostSince                   time.Time // of booked capacity
	failures                    int
	over                        string // why nothing is sought or kept any more
}

// change has people submit requests, where the seed draws that.
func (x *requests) change() {
	x.world.trouble("requests", 3, 8*time.Minute, 30*time.Minute, x.submit)
}

func (x *requests) submit(r *rand.Rand) {
	w := x.world
	x.made++
	one := &request{ProvisioningRequest: cluster.ProvisioningRequest{Namespace: "default",
		Name: fmt.Sprintf("request%d", x.made), CreatedAt: w.now, Launches: r.IntN(4) > 0}}
	for i := range 1 + r.IntN(2) {
		cpu := quantity.MilliCPU(500 * (1 + r.IntN(8)))
		shape := w.shape(fmt.Sprintf("%s-%d", one.Name, i), quantity.Resources{CPU: cpu, Memory: quantity.GiB, Pods: 1})
		one.Sets = append(one.Sets, cluster.PodSet{Shape: shape, Pods: 1 + r.Int64N(6)})
		one.done = append(one.done, 0)
	}
	x.all = append(x.all, one)
	w.say("%s asks for %d pods, launches: %v", one, one.Total(), one.Launches)
	w.changed()
	comes, in := r.IntN(4) > 0, between(r, 5*time.Second, 2*time.Minute)
	length := between(r, 2*time.Minute, 25*time.Minute)
	w.every(time.Second, func() (time.Duration, bool) {
		if !slices.Contains(x.all, one) || one.provisionedAt.IsZero() {
			return time.Second, slices.Contains(x.all, one)
		}
		if comes {
			w.after(in, func() { x.start(one, length) })
		}
		return 0, false
	})
	w.after(between(r, 30*time.Minute, 2*time.Hour), func() {
		if one.provisionedAt.IsZero() {
			x.end(one, "it is not wanted any more")
		}
	})
}

// start makes the pods of a request.
func (x *requests) start(r *request, length time.Duration) {
	w := x.world
	for i := range r.Sets {
		for k := range r.Sets[i].Pods {
			job := &work{name: fmt.Sprintf("%s-%d-%d", r.Name, i, k), shape: r.Sets[i].Shape,
				startFor: time.Second, length: length, consumes: r, set: i}
			w.works = append(w.works, job)
			w.scale(job, 1)
		}
	}
	w.checks.meter.Consumed++
}

// end has nothing sought or kept for a request any more.
func (x *requests) end(r *request, why string) {
	if r.over == "" {
		r.over = why
		x.world.say("%s: %s", r, why)
		x.world.changed()
	}
}

// stand has people withdraw what has no capacity.
func (x *requests) stand() {
	x.all = slices.DeleteFunc(x.all, func(r *request) bool { return r.provisionedAt.IsZero() })
}

// show adds the requests to a snapshot.
func (x *requests) show(s *cluster.Snapshot) {
	for _, r := range x.all {
		s.Requested = append(s.Requested, x.now(r))
	}
}

// now is the request with its pods and claims as they are.
func (x *requests) now(r *request) cluster.ProvisioningRequest {
	w, out := x.world, r.ProvisioningRequest
	out.Sets = slices.Clone(r.Sets)
	switch out.Provisioned = !r.provisionedAt.IsZero(); {
	case out.Provisioned && r.over == "":
		out.BookedUntil = r.provisionedAt.Add(bookedFor)
	case !out.Provisioned:
		out.NotReady = r.over
	}
	for i, n := range r.done {
		out.Sets[i].Come = n
	}
	for _, p := range w.pods {
		switch {
		case p.work == nil || p.work.consumes != r:
		case p.at != nil && out.Sets[p.work.set].Come < out.Sets[p.work.set].Pods:
			out.Sets[p.work.set].Come++
		case p.at == nil && !p.Ending:
			out.Consumers = append(out.Consumers, p.Name)
		}
	}
	for _, m := range w.instances {
		if launchedFor(m.launch, r.Name) {
			out.Claims = append(out.Claims, m.claim)
		}
	}
	slices.Sort(out.Consumers)
	slices.Sort(out.Claims)
	return out
}

// launchedFor reports whether a launch is for pods of the request.
func launchedFor(l *plan.Launch, request string) bool {
	return slices.Contains(requestsOf(l), request)
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

// planned looks at what becomes of requests by a plan: each gets all or nothing, and no pod gets what is kept for them.
func (x *requests) planned(s *cluster.Snapshot, p *plan.Plan) {
	w := x.world
	for i := range s.Requested {
		r := &s.Requested[i]
		at := slices.IndexFunc(p.Requested, func(said plan.Requested) bool { return said.Name == r.Name })
		if at < 0 {
			if r.Books(s.Now) || r.Seeks(s.Now) {
				w.broken("request", s, p, "the plan says nothing of %s", r)
			}
			continue
		}
		said := &p.Requested[at]
		switch n := int64(len(said.Places)); {
		case said.Booked != r.Books(s.Now):
			w.broken("request", s, p, "capacity is kept for %s: %v, and it is booked until %s", r, said.Booked,
				r.BookedUntil.Format("15:04:05"))
		case !said.Booked && said.Missing > 0 && n > 0:
			w.broken("request", s, p, "%s lacks capacity for %d pods, and gets some for %d", r, said.Missing, n)
		case !said.Booked && said.Waits == "" && said.Missing == 0 && n != said.Want:
			w.broken("request", s, p, "%s has capacity for all %d pods, and %d places", r, said.Want, n)
		case said.Missing > 0 && len(said.Reasons) == 0:
			w.broken("request", s, p, "%s lacks capacity for %d pods without a reason", r, said.Missing)
		}
		gets := said.Booked || said.Waits == "" && said.Missing == 0
		for j := range p.Launches {
			if l := &p.Launches[j]; launchedFor(l, r.Name) && !gets {
				w.broken("request", s, p, "%s is launched for %s, which gets no capacity", l.Name, r)
			}
		}
	}
	x.fits(s, p)
	for i := range p.Moves {
		for _, r := range p.Moves[i].Removals {
			owner, m := keepsFor(p, r.Node), w.instanceOf(r.Claim)
			if owner != "" && m != nil && !inAnyEvent(r.Reason, m.pool) {
				w.broken("request", s, p, "%s keeps capacity for %s and is disrupted", r.Node, owner)
			}
		}
	}
}

// inAnyEvent reports whether a node goes for a reason that nothing on it holds off.
func inAnyEvent(reason plan.RemovalReason, p *pool) bool {
	return reason == plan.Expired || reason == plan.Overprovisioned || reason == plan.Drifted && p.grace > 0
}

// keepsFor names a request that the node keeps capacity for by the plan; empty: it does so for none.
func keepsFor(p *plan.Plan, node string) string {
	for i := range p.Requested {
		said := &p.Requested[i]
		there := func(x plan.Placement) bool { return x.On == plan.OnNode && x.Target == node }
		if slices.ContainsFunc(said.Places, there) {
			return "ProvisioningRequest " + said.Name
		}
	}
	return ""
}

// fits looks whether nodes have room for all pods that the plan puts there, with those that capacity is kept for.
func (x *requests) fits(s *cluster.Snapshot, p *plan.Plan) {
	if len(p.Requested) == 0 {
		return
	}
	more := map[string]quantity.Resources{}
	add := func(list []plan.Placement) {
		for _, to := range list {
			if to.On == plan.OnNode {
				more[to.Target] = more[to.Target].Add(to.Pod.Shape.Requests)
			}
		}
	}
	add(p.Placements)
	for i := range p.Requested {
		add(p.Requested[i].Places)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if keepsFor(p, n.Name) == "" {
			continue
		}
		used := more[n.Name]
		for j := range n.Pods {
			used = used.Add(n.Pods[j].Shape.Requests)
		}
		if !used.FitsIn(n.Allocatable) {
			x.world.broken("request", s, p, "%s is to have %s with what is kept there, and has %s", n.Name, used,
				n.Allocatable)
		}
	}
}

// lettingGo looks at a node at the point of no return: the newest plan keeps nothing there.
func (x *requests) lettingGo(v *move, r *leaver) {
	w := x.world
	if w.checks.plan == nil || inAnyEvent(r.Reason, r.instance.pool) {
		return
	}
	if owner := keepsFor(w.checks.plan, r.Node); owner != "" {
		w.broken("request", v.basis, v.plan(), "%s is disrupted and keeps capacity for %s", r.Node, owner)
	}
}

// stable looks whether in the end what was launched for requests whose time is over is given back, where that may be.
func (x *requests) stable(s *cluster.Snapshot, p *plan.Plan) {
	w := x.world
	for _, m := range w.instances {
		if len(requestsOf(m.launch)) == 0 || m.doNotDisrupt || !m.started() {
			continue
		}
		policy := m.pool.policyNow(int64(len(w.instances)), w.now)
		free := !slices.ContainsFunc(w.podsOn(m), func(q *pod) bool { return q.work != nil })
		if free && !policy.Never && policy.Empty.Most > 0 && len(w.kept.buffers) == 0 && !m.pool.Static() {
			w.broken("settling", s, p, "%s was launched for %v, has no pods and is there in the end", m.claim,
				requestsOf(m.launch))
		}
	}
}

func requestsOf(l *plan.Launch) (out []string) {
	for _, v := range l.Virtual {
		if v.Kind == plan.KindRequest {
			out = append(out, v.Name)
		}
	}
	return out
}
