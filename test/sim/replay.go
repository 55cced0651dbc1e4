package sim

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
)

// Job is one pod that people want from one moment to another, both since the
// beginning. If it is evicted in between, another comes in its place.
type Job struct {
	Name     string
	Shape    *cluster.Shape
	From, To time.Duration
	// Length is how long the pod has to run, where positive: then To does not count, and a pod that comes in place of
	// an evicted one has to run for as long again.
	Length time.Duration
}

// Service is a Deployment whose number of replicas changes with time.
type Service struct {
	Name           string
	Shape          *cluster.Shape
	Starts         time.Duration // of a pod, from when its containers run until it is ready
	MaxUnavailable int64         // of its PodDisruptionBudget; negative: it has none
	Replicas       []Replicas    // in order of time
}

// Replicas is a number of replicas from a moment on.
type Replicas struct {
	At    time.Duration // since the beginning
	Count int
}

// Replay is recorded work that is run again in a world where nothing fails: only
// pods come and go, instances take their time to boot, and the spot market does as it is told.
type Replay struct {
	Options
	Pool cluster.Pool // of all nodes; its catalogue is what the cloud offers
	// Of the pool's nodes so many may go at once: a number where positive, else
	// per cent, rounded up.
	BudgetNodes, BudgetPercent int64
	Ruled                      []RuledPool // in place of Pool and its budget, where there are any
	Jobs                       []Job
	Services                   []Service
	Daemons                    []cluster.Daemon
	Spot                       SpotMarket
	Boots                      Boots         // nil: 17 to 72 seconds
	For                        time.Duration // what happens later is not looked at
	Commitments                commitment.Commitments
}

// Boots draws how long it is from an instance's launch until pods can be bound to its node.
type Boots func(*rand.Rand) time.Duration

// RuledPool is a pool whose rules may change with time. The catalogues of several offer the same offerings.
type RuledPool struct {
	cluster.Pool
	Rules   func(nodes int64, now time.Time) cluster.Policy // what holds now of so many nodes
	Expires time.Duration                                   // age at which its nodes go; 0: none
	Grace   time.Duration                                   // terminationGracePeriod; 0: none
}

// Replayed is what became of recorded work.
type Replayed struct {
	Result
	Waits  []time.Duration // of each pod, from when it was made until it had a node, or was gone or the time over without; in no order
	Course []Moment        // each minute
}

// How pods of jobs behave.
const (
	jobStarts = 5 * time.Second  // until a pod is ready once it has a node
	jobEnds   = 10 * time.Second // from its deletion until it is gone
)

// Run runs the jobs. A panic of the core is something wrong like any other.
func (r Replay) Run() (out Replayed) {
	w := emptyWorld(r.Options)
	w.still = true
	var catalogues []*cluster.Catalogue
	w.pools, catalogues = r.pools()
	w.daemons = r.Daemons
	w.cloud = cloud{world: w, chance: w.chance("cloud"), fate: w.chance("interruptions"), spot: r.Spot, boots: r.Boots, catalogues: catalogues,
		commitments: r.Commitments}
	defer func() {
		if why := recover(); why != nil {
			w.broken("panic", w.checks.snapshot, w.checks.plan, "%v\n%s", why, debug.Stack())
		}
		out.Result = Result{Seed: r.Seed, Wrong: w.checks.wrong, Meter: w.checks.meter, Text: w.text.String()}
	}()
	w.cloud.movePrices()
	for _, j := range r.Jobs {
		w.run(j, r.For)
	}
	for i := range r.Services {
		w.serve(&r.Services[i], r.For)
	}
	w.record(&out.Course)
	w.control.live()
	w.until(w.began.Add(r.For))
	for _, p := range w.pods {
		if p.work != nil && p.at == nil && !p.Ending {
			w.checks.waits = append(w.checks.waits, w.now.Sub(p.CreatedAt))
		}
	}
	out.Waits = w.checks.waits
	return out
}

// pools are those of the world, and their catalogues, each once.
func (r Replay) pools() (out []*pool, catalogues []*cluster.Catalogue) {
	for _, p := range r.Ruled {
		out = append(out, &pool{Pool: p.Pool, rules: p.Rules, expires: p.Expires, grace: p.Grace})
	}
	if len(out) == 0 {
		out = []*pool{{Pool: r.Pool, budget: r.BudgetNodes, percent: r.BudgetPercent}}
	}
	for _, p := range out {
		if p.class = slices.Index(catalogues, p.Catalogue); p.class < 0 {
			p.class, catalogues = len(catalogues), append(catalogues, p.Catalogue)
		}
	}
	return out, catalogues
}

// dismiss ends a work and its pods.
func (w *World) dismiss(x *work) {
	w.scale(x, 0)
	w.works = slices.DeleteFunc(w.works, func(y *work) bool { return y == x })
}

// run has a job come and go.
func (w *World) run(j Job, end time.Duration) {
	if j.From >= end || j.Length <= 0 && j.To <= j.From {
		return
	}
	x := &work{name: j.Name, shape: j.Shape, startFor: jobStarts, grace: jobEnds, length: j.Length}
	w.after(j.From, func() { w.works = append(w.works, x); w.scale(x, 1) })
	if j.Length <= 0 {
		w.after(j.To, func() { w.dismiss(x) })
	}
}

// serve has a service follow its numbers of replicas.
func (w *World) serve(s *Service, end time.Duration) {
	x := &work{name: s.Name, shape: s.Shape, startFor: s.Starts, grace: jobEnds}
	if s.MaxUnavailable >= 0 {
		x.pdb = &pdb{name: s.Name, most: s.MaxUnavailable, least: -1}
	}
	w.works = append(w.works, x)
	for _, r := range s.Replicas {
		if r.At < end {
			w.after(r.At, func() { w.scale(x, r.Count) })
		}
	}
}

// finish ends a job whose pod has done its work.
func (w *World) finish(p *pod) {
	if p.gone || p.Ending {
		return
	}
	p.work.want = 0
	if r := p.work.consumes; r != nil {
		r.done[p.work.set]++
	}
	p.Ending, p.Returns = true, false
	w.forget(p)
	w.dismiss(p.work)
}
