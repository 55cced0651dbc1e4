package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
)

// Options say which world is run, and who decides in it.
type Options struct {
	Seed   uint64
	Decide func(*cluster.Snapshot) plan.Plan
	// Without leaves out what the seed would draw, by the names of Result.Parts.
	Without map[string]bool
	// Forgetful says that who decides knows nothing of moves that were made, nor of
	// what was launched for whom: a pod may be moved again and again, and get another
	// instance where it cannot be on the one that comes for it any more.
	Forgetful bool
	// AskEvery is how often it is asked at least, where positive; else once a minute.
	AskEvery time.Duration
	// TaintOnly says that nodes which are to empty get their taint alone: ReplicaSets
	// that scale down know nothing of them.
	TaintOnly bool
}

// World is a cluster, the cloud below it and the controller, at one moment.
type World struct {
	Options
	began, now time.Time
	queue      queue
	revision   uint64 // grows with every change
	parts      []string

	cloud     cloud
	pools     []*pool
	works     []*work
	daemons   []cluster.Daemon
	pods      []*pod      // all that exist, oldest first
	instances []*instance // all claims, oldest first
	frozen    string      // why nothing may be disturbed, by a user's word
	deaf      bool        // the API server answers none
	still     bool        // none wants anything any more, and nothing fails

	kept      kept
	scheduler scheduler
	control   *controller
	checks    checks
	text      strings.Builder // all that happened
}

// chance is a source of randomness that has nothing to do with any other, so
// that what is left out of a world changes nothing else in it.
func (w *World) chance(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(w.Seed, h.Sum64()))
}

// part reports whether the world has something that may be left out of it.
func (w *World) part(name string) bool {
	if w.Without[name] {
		return false
	}
	w.parts = append(w.parts, name)
	return true
}

// after has something happen later.
func (w *World) after(d time.Duration, do func()) { w.queue.add(w.now.Add(d), do) }

// every has something happen again and again, as long as it says when.
func (w *World) every(first time.Duration, do func() (next time.Duration, more bool)) {
	w.after(first, func() {
		if next, more := do(); more {
			w.every(next, do)
		}
	})
}

// changed tells everybody who watches that something is different now.
func (w *World) changed() {
	w.revision++
	w.scheduler.look()
	w.control.look()
}

// say writes down what happened.
func (w *World) say(format string, args ...any) {
	fmt.Fprintf(&w.text, "%s ", w.clock())
	fmt.Fprintf(&w.text, format, args...)
	w.text.WriteByte('\n')
}

// clock is the time since the beginning, as reports have it.
func (w *World) clock() string {
	d := w.now.Sub(w.began)
	return fmt.Sprintf("%02d:%02d:%06.3f", int(d.Hours()), int(d.Minutes())%60, (d % time.Minute).Seconds())
}

// until lets events happen up to a moment, or until something is wrong.
func (w *World) until(end time.Time) {
	for !w.checks.failed() {
		e, ok := w.queue.next(end)
		if !ok {
			w.pay(end)
			return
		}
		w.pay(e.at)
		e.do()
		w.check()
	}
}

// pay lets time pass. None is charged for instances that shut down, and nothing for what commitments pay.
func (w *World) pay(at time.Time) {
	hours := at.Sub(w.now).Hours()
	var onDemand []commitment.Usage
	for _, m := range w.instances {
		if !m.launched() || m.ends {
			continue
		}
		w.checks.meter.Hours += hours
		w.checks.meter.Dollars += hours * float64(m.offering.Price) / 1e6
		if m.offering.Option == cluster.OnDemand {
			onDemand = append(onDemand, commitment.Usage{Name: m.claim, InstanceType: m.instanceType.Name,
				Zone: m.offering.Zone, OnDemand: m.offering.Price})
		}
	}
	if hours > 0 && w.cloud.commitments.Any() {
		for _, u := range onDemand {
			w.checks.meter.Dollars -= hours * float64(u.OnDemand) / 1e6
		}
		w.checks.meter.Dollars += hours * float64(commitment.Divide(w.cloud.commitments, onDemand).Cost) / 1e6
	}
	w.now = at
}

// instanceOf finds a claim; nil where it is gone.
func (w *World) instanceOf(claim string) *instance {
	i := slices.IndexFunc(w.instances, func(m *instance) bool { return m.claim == claim })
	if i < 0 {
		return nil
	}
	return w.instances[i]
}

// podsOn lists the pods of a node.
func (w *World) podsOn(m *instance) []*pod {
	var out []*pod
	for _, p := range w.pods {
		if p.at == m {
			out = append(out, p)
		}
	}
	return out
}

// kept is what people want whether pods need it or not: room for pods that may come, nodes, their own prices,
// and limits.
type kept struct {
	world    *World
	buffers  []cluster.Buffer
	overlays []cluster.Overlay
	set      *overlay.Set // of overlays, as last asked for
	quotas   quotas
	requests requests
}

// quotas are limits that pools share: CapacityQuotas.
type quotas struct {
	world     *World
	list      []cluster.Quota
	changedAt time.Time // when people last changed one
}

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

// How the controller serves ProvisioningRequests, as the product does.
const (
	bookedFor    = 10 * time.Minute
	lostFor      = time.Minute // before a check-capacity request is given up
	backoffLeast = time.Minute
	backoffMost  = 10 * time.Minute
)
