package sim

import (
	"runtime/debug"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Job is one pod that people want from one moment to another, both since the
// beginning. If it is evicted in between, another comes in its place.
type Job struct {
	Name     string
	Shape    *cluster.Shape
	From, To time.Duration
}

// Replay is recorded work that is run again in a world where nothing fails: only
// pods come and go, and machines take their time to boot.
type Replay struct {
	Options
	Pool cluster.Pool // of all nodes; its catalogue is what the cloud sells
	// Of the pool's nodes so many may go at once: a number where positive, else
	// per cent, rounded up.
	BudgetNodes, BudgetPercent int64
	Jobs                       []Job
	For                        time.Duration // what happens later is not looked at
}

// Replayed is what became of recorded work.
type Replayed struct {
	Result
	Waits []time.Duration // of each job that began in time until it had a node, or until it was over without
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
	w.cloud = cloud{world: w, chance: w.chance("cloud"), catalogue: r.Pool.Catalogue}
	w.pools = []*pool{{Pool: r.Pool, budget: r.BudgetNodes, percent: r.BudgetPercent}}
	defer func() {
		if why := recover(); why != nil {
			w.broken("panic", w.checks.snapshot, w.checks.plan, "%v\n%s", why, debug.Stack())
		}
		out.Result = Result{Seed: r.Seed, Wrong: w.checks.wrong, Meter: w.checks.meter, Text: w.text.String()}
	}()
	var works []*work
	for _, j := range r.Jobs {
		if j.From >= r.For || j.To <= j.From {
			continue
		}
		x := &work{name: j.Name, shape: j.Shape, startFor: jobStarts, grace: jobEnds}
		works = append(works, x)
		w.after(j.From, func() { w.works = append(w.works, x); w.scale(x, 1) })
		w.after(j.To, func() { w.dismiss(x) })
	}
	w.control.live()
	w.until(w.began.Add(r.For))
	for _, x := range works {
		out.Waits = append(out.Waits, x.waited(w.now))
	}
	return out
}

// dismiss ends a work and its pods.
func (w *World) dismiss(x *work) {
	x.overAt = w.now
	w.scale(x, 0)
	w.works = slices.DeleteFunc(w.works, func(y *work) bool { return y == x })
}

// waited is how long it took until a pod of the work had a node.
func (x *work) waited(now time.Time) time.Duration {
	for _, until := range []time.Time{x.boundAt, x.overAt} {
		if !until.IsZero() {
			return until.Sub(x.wantedAt)
		}
	}
	return now.Sub(x.wantedAt)
}
