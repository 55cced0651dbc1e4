package sim

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

// How long a world may take to settle once all stands still.
const (
	warmFor      = 10 * time.Minute
	quietFor     = 70 * time.Minute // nothing asked for, and nothing under way
	stabilizesIn = 12 * time.Hour
	roundsFirst  = 20 // plans that ask for something, and so many more for each node
	roundsEach   = 6
)

// Result is what became of a world.
type Result struct {
	Seed  uint64
	Wrong *Wrong // nil: all promises were kept
	Meter Meter
	Parts []string // what the seed drew and could be left out, see Options.Without
	Text  string   // all that happened, a line each
}

// Run lets a world be busy, stand still and settle. A panic of the core is
// something wrong like any other.
func Run(o Options) (out Result) {
	w := newWorld(o)
	defer func() {
		if why := recover(); why != nil {
			w.broken("panic", w.checks.snapshot, w.checks.plan, "%v\n%s", why, debug.Stack())
		}
		out = Result{Seed: o.Seed, Wrong: w.checks.wrong, Meter: w.checks.meter, Parts: w.parts, Text: w.text.String()}
	}()
	w.control.live()
	w.people()
	w.kept.change()
	w.until(w.began.Add(warmFor))
	w.faults()
	w.until(w.began.Add(warmFor + busyFor))
	if !w.checks.failed() {
		w.stand()
		w.stabilize()
	}
	return out
}

// stabilize waits until nothing is asked for any more, and looks at what is left.
func (w *World) stabilize() {
	began := w.now
	rounds := roundsFirst + roundsEach*len(w.instances)
	w.checks.activeAt = w.now
	for !w.checks.failed() && (w.now.Sub(w.checks.activeAt) < quietFor || len(w.control.moves) > 0) {
		w.until(w.now.Add(time.Minute))
		if w.checks.rounds > rounds || w.now.Sub(began) > stabilizesIn {
			w.broken("settling", w.checks.snapshot, w.checks.plan, "%d plans had actions in the %s since the workloads stopped changing", w.checks.rounds, w.now.Sub(began))
		}
	}
	if !w.checks.failed() {
		w.stable()
	}
}

// stable looks at what is left in the end: the last plan asks for nothing, and
// every pod without a node has a reason.
func (w *World) stable() {
	s, p := w.checks.snapshot, w.checks.plan
	reported := map[string]bool{}
	for _, u := range p.Unplaced {
		for i := range u.Pods {
			reported[u.Pods[i].Name] = true
		}
	}
	for i := range s.Waiting {
		if name := s.Waiting[i].Name; !reported[name] && !followsDrain(w, p, name) {
			w.broken("settling", s, p, "%s is pending without a reason", name)
		}
	}
	keptStable(w, s, p)
	w.kept.requests.stable(s, p)
	for _, m := range w.instances {
		if m.tainted() && !m.deleted() || !m.started() && !m.deleted() {
			w.broken("leak", s, p, "%s is still tainted or has not started in the end", m.claim)
		}
	}
}

// keptStable looks whether in the end there is what people keep, or a reason why not.
func keptStable(w *World, s *cluster.Snapshot, p *plan.Plan) {
	for i := range s.Buffers {
		want, found := s.Buffers[i].Pods, false
		for j := range p.Buffers {
			b := &p.Buffers[j]
			all := b.Fits()+b.Missing == want && (b.Missing == 0 || len(b.Reasons) > 0)
			found = found || b.Name == s.Buffers[i].Name && all
		}
		if !found {
			w.broken("settling", s, p, "%s keeps no capacity for its %d pods, and no reason is given",
				&s.Buffers[i], want)
		}
	}
	for i := range s.Pools {
		pool := &s.Pools[i]
		most, bounded := pool.Most()
		if !bounded {
			continue
		}
		n := s.Running(pool.ID)
		reported := false
		for j := range p.Short {
			reported = reported || p.Short[j].Pool == pool.ID && len(p.Short[j].Reasons) > 0
		}
		switch {
		case n > most:
			w.broken("settling", s, p, "%s, and has %d in the end", pool.Keeps(), n)
		case n < most && pool.Static() && !reported:
			w.broken("settling", s, p, "%s, has %d in the end, and no reason is given",
				pool.Keeps(), n)
		}
	}
}

// followsDrain reports whether a pod has a place that is open for it once a node has gone, from which a
// PodDisruptionBudget allows no eviction: topology spread counts the pods of the same work there, and the zone of the
// node as one that lacks such pods.
func followsDrain(w *World, p *plan.Plan, name string) bool {
	at := slices.IndexFunc(w.pods, func(x *pod) bool { return x.Name == name })
	placed := slices.ContainsFunc(p.Placements, func(to plan.Placement) bool {
		return to.Pod.Name == name && to.On == plan.OnNode
	})
	if at < 0 || !placed {
		return false
	}
	of := w.pods[at]
	spreads := slices.ContainsFunc(of.Shape.Spread, func(s cluster.Spread) bool { return !s.Soft })
	return slices.ContainsFunc(w.pods, func(x *pod) bool {
		return x.work != nil && (x.work == of.work || spreads) && x.at != nil && x.at.deleted() && !w.mayEvict(x)
	})
}

// linesMost is how many of the last lines a report has.
const linesMost = 60

// String is the report of a run that went wrong.
func (r Result) String() string {
	if r.Wrong == nil {
		return fmt.Sprintf("seed %d: ok, %+v\n", r.Seed, r.Meter)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "seed %d: %s (%s): %s\nrepeat with: make sim SEEDS=1 FROM=%d\n", r.Seed, r.Wrong.At, r.Wrong.Rule, r.Wrong.What, r.Seed)
	lines := strings.Split(strings.TrimSpace(r.Text), "\n")
	fmt.Fprintf(&out, "-- what happened last --\n%s\n", strings.Join(lines[max(0, len(lines)-linesMost):], "\n"))
	if r.Wrong.Snapshot != nil {
		fmt.Fprintf(&out, "-- cluster --\n%s", scenario.Print(r.Wrong.Snapshot))
	}
	if r.Wrong.Plan != nil {
		fmt.Fprintf(&out, "-- plan --\n%s", r.Wrong.Plan)
	}
	return out.String()
}

// Shrink leaves out of a world that goes wrong whatever is not needed for it to
// go wrong in the same way.
func Shrink(o Options) Result {
	least := Run(o)
	if least.Wrong == nil {
		return least
	}
	for _, part := range slices.Clone(least.Parts) {
		with := map[string]bool{part: true}
		for name := range o.Without {
			with[name] = true
		}
		next := o
		next.Without = with
		if r := Run(next); r.Wrong != nil && r.Wrong.Rule == least.Wrong.Rule {
			o, least = next, r
		}
	}
	return least
}
