package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
)

// work is a Deployment, or a Job of one pod: so many pods of one shape.
type work struct {
	name         string
	shape        *cluster.Shape
	chance       *rand.Rand
	want, most   int
	pdb          *pdb          // nil: none
	protected    bool          // its pods carry do-not-disrupt
	startFor     time.Duration // until a pod is ready, once it has a node
	took         time.Duration // the same, once one was seen to
	grace        time.Duration
	deletionCost int32
	oneOff       bool          // nothing creates its pods again once they run
	length       time.Duration // of a Job: its work is done so long after its pod has started to run; 0: never
	made         int           // for names
	moved        []*line       // of pods that were evicted and are to be made again
	consumes     *request      // nil: none
	set          int           // of that
}

// pod is one pod. Of cluster.Pod its node is left empty here.
type pod struct {
	cluster.Pod
	work    *work // nil: of a DaemonSet
	readyAt time.Time
	at      *instance
	line    *line
	gone    bool
}

// line is a pod and those that came in its place when it was evicted.
type line struct {
	movedAt []time.Time // when they were evicted to save money
	last    cluster.Pod // that was evicted so that its node could go, whatever for
	lastAt  time.Time
}

// running lists the pods of the work that are not ending, oldest first.
func (w *World) running(x *work) []*pod {
	var out []*pod
	for _, p := range w.pods {
		if p.work == x && !p.Ending {
			out = append(out, p)
		}
	}
	return out
}

// reconcile makes or ends pods, as the work's controllers do.
func (w *World) reconcile(x *work) {
	have := w.running(x)
	for n := len(have); n < x.want; n++ {
		w.makePod(x)
	}
	if more := len(have) - x.want; more > 0 {
		for _, p := range w.inDeletionOrder(have)[:more] {
			w.endPod(p)
		}
	}
}

func (w *World) makePod(x *work) {
	x.made++
	name := fmt.Sprintf("%s-%d", x.name, x.made)
	p := &pod{work: x, line: &line{}, Pod: cluster.Pod{Namespace: "default", Name: name, UID: name, Shape: x.shape, Owner: x.owner(),
		CreatedAt: w.now, Returns: true, Unready: true, Protection: cluster.Protection{DoNotDisrupt: x.protected}, Completes: x.length > 0, DeletionCost: x.deletionCost}}
	if x.pdb != nil {
		p.PDBs = x.pdb.name
	}
	if len(x.moved) > 0 {
		p.line, x.moved = x.moved[0], x.moved[1:]
		if l := p.line; l.lastAt.After(w.control.bornAt) {
			disruption.Follow(&p.Pod, &l.last, l.lastAt)
		}
	}
	w.pods = append(w.pods, p)
	w.changed()
}

// bind is what happens when kube-scheduler has chosen a node.
func (w *World) bind(p *pod, m *instance) {
	p.at, p.Pending, m.changedAt = m, true, w.now
	w.checks.waits = append(w.checks.waits, w.now.Sub(p.CreatedAt))
	if p.work.oneOff {
		p.Returns, p.OneOff = false, "it has no controller"
	}
	w.say("%s runs on %s", p.Name, m.claim)
	w.after(time.Second, func() {
		if !p.gone {
			p.StartedAt, p.Pending = w.now, false
			w.changed()
		}
	})
	if p.work.length > 0 {
		w.after(time.Second+p.work.length, func() { w.finish(p) })
	}
	w.after(time.Second+p.work.startFor, func() {
		if !p.gone {
			p.Unready, p.readyAt, p.work.took = false, w.now, p.work.startFor
			w.changed()
		}
	})
	w.changed()
}

// endPod ends a pod as a deletion does: at once where it waits, after its grace
// where it runs. Its owner makes another where it wants one.
func (w *World) endPod(p *pod) {
	if p.Ending || p.gone {
		return
	}
	p.Ending, p.Returns = true, false
	if p.at == nil {
		w.checks.waits = append(w.checks.waits, w.now.Sub(p.CreatedAt))
		w.forget(p)
		return
	}
	p.at.changedAt = w.now
	w.after(p.work.grace, func() { w.forget(p) })
	w.replace(p.work)
	w.changed()
}

// lose ends a pod at once, with its node.
func (w *World) lose(p *pod) {
	p.Ending = true
	w.forget(p)
	if p.work != nil {
		w.replace(p.work)
	}
}

// replace makes pods in place of those that have ended, unless these are gone for good.
func (w *World) replace(x *work) {
	if x.oneOff {
		x.want = min(x.want, len(w.running(x)))
	}
	w.reconcile(x)
}

func (w *World) forget(p *pod) {
	if p.gone {
		return
	}
	p.gone = true
	if p.at != nil {
		p.at.changedAt = w.now
	}
	w.pods = slices.DeleteFunc(w.pods, func(x *pod) bool { return x == p })
	w.changed()
}

func (w *World) startDaemon(d *cluster.Daemon, m *instance) {
	name := d.Name + "-" + m.claim
	w.pods = append(w.pods, &pod{at: m, Pod: cluster.Pod{Namespace: d.Namespace, Name: name, UID: name, Shape: d.Shape, Owner: "DaemonSet/" + d.Name,
		CreatedAt: w.now, StartedAt: w.now, Daemon: true, Stays: true}})
}
