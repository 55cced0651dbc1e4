package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/retire"
)

// work is a Deployment: so many pods of one shape.
type work struct {
	name         string
	shape        *cluster.Shape
	chance       *rand.Rand
	want, most   int
	guard        *guard        // nil: none
	protected    bool          // its pods carry do-not-disrupt
	startFor     time.Duration // until a pod is ready, once it has a node
	took         time.Duration // the same, once one was seen to
	grace        time.Duration
	deletionCost int32
	oneOff       bool    // nothing creates its pods again once they run
	made         int     // for names
	moved        []*line // of pods that were evicted and are to be made again
	wantedAt     time.Time
	boundAt      time.Time // when a pod of it first had a node; zero: none had
	overAt       time.Time // when nobody wanted it any more; zero: it is wanted
}

// pod is one pod. Of cluster.Pod its node is left empty here.
type pod struct {
	cluster.Pod
	work *work // nil: of a DaemonSet
	at   *machine
	line *line
	gone bool
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
	for len(have) > x.want { // those that wait first, then the youngest
		at := slices.IndexFunc(have, func(p *pod) bool { return p.at == nil })
		if at < 0 {
			at = len(have) - 1
		}
		w.endPod(have[at])
		have = slices.Delete(have, at, at+1)
	}
}

func (w *World) makePod(x *work) {
	x.made++
	if x.made == 1 {
		x.wantedAt = w.now
	}
	name := fmt.Sprintf("%s-%d", x.name, x.made)
	p := &pod{work: x, line: &line{}, Pod: cluster.Pod{Namespace: "default", Name: name, UID: name, Shape: x.shape, Owner: "ReplicaSet/" + x.name,
		CreatedAt: w.now, Returns: true, Unready: true, DoNotDisrupt: x.protected, DeletionCost: x.deletionCost}}
	if x.guard != nil {
		p.Guards = x.guard.name
	}
	if len(x.moved) > 0 {
		p.line, x.moved = x.moved[0], x.moved[1:]
		if l := p.line; l.lastAt.After(w.control.bornAt) {
			retire.Follow(&p.Pod, &l.last, l.lastAt)
		}
	}
	w.pods = append(w.pods, p)
	w.changed()
}

// bind is what happens when kube-scheduler has chosen a node.
func (w *World) bind(p *pod, m *machine) {
	p.at, p.Pending, m.changedAt = m, true, w.now
	if p.work.oneOff {
		p.Returns, p.OneOff = false, "it has no controller"
	}
	if p.work.boundAt.IsZero() {
		p.work.boundAt = w.now
	}
	w.say("%s runs on %s", p.Name, m.claim)
	w.after(time.Second, func() {
		if !p.gone {
			p.StartedAt, p.Pending = w.now, false
			w.changed()
		}
	})
	w.after(time.Second+p.work.startFor, func() {
		if !p.gone {
			p.Unready, p.work.took = false, p.work.startFor
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

func (w *World) startDaemon(d *cluster.Daemon, m *machine) {
	name := d.Name + "-" + m.claim
	w.pods = append(w.pods, &pod{at: m, Pod: cluster.Pod{Namespace: d.Namespace, Name: name, UID: name, Shape: d.Shape, Owner: "DaemonSet/" + d.Name,
		CreatedAt: w.now, StartedAt: w.now, Daemon: true, Stays: true}})
}
