package sim

import (
	"time"

	"github.com/daemok/daemok/core/plan"
)

// How a node goes once its claim is deleted.
const (
	evictEvery   = 2 * time.Second // evictions that were refused are tried again
	stabilizeFor = 5 * time.Second // after the last pod, for those that were bound just before
	standsFor    = time.Minute     // a pod that has been ending for longer is not waited for
)

// delete deletes a claim: its node is drained and terminated.
func (w *World) delete(m *instance, voluntary bool) {
	if m.deleted() || m.gone {
		return
	}
	m.deletedAt, m.voluntary = w.now, voluntary
	w.say("%s is deleted", m.claim)
	w.changed()
	if !m.joined() {
		w.after(5*time.Second, func() { w.remove(m) })
		return
	}
	w.every(time.Second, func() (time.Duration, bool) {
		if m.gone {
			return 0, false
		}
		if w.drain(m) {
			w.after(stabilizeFor, func() { w.end(m) })
			return 0, false
		}
		return evictEvery, true
	})
}

// drain evicts what may be evicted and reports whether nothing is left.
func (w *World) drain(m *instance) bool {
	drained := true
	term := m.pool.grace > 0 && w.now.Sub(m.deletedAt) >= m.pool.grace
	for _, p := range w.podsOn(m) {
		if p.work == nil {
			continue
		}
		drained = false
		switch {
		case p.Ending:
		case term:
			w.say("%s is terminated: its grace period is over", p.Name)
			w.endPod(p)
		case p.DoNotDisrupt, !m.endsAt.IsZero() && w.control.holdsBack(p, m):
		case w.mayEvict(p):
			w.evict(p, m)
		}
	}
	return drained
}

// evict ends a pod on behalf of a drain; the one in its place is of its line.
func (w *World) evict(p *pod, m *instance) {
	w.say("%s is evicted from %s", p.Name, m.claim)
	w.checks.evicting(w, p, m)
	if m.voluntary && m.reason == plan.Underutilized {
		p.line.movedAt = append(p.line.movedAt, w.now)
	}
	p.line.last, p.line.lastAt = p.Pod, w.now
	p.work.moved = append(p.work.moved, p.line)
	w.endPod(p)
}

// end gives the instance back.
func (w *World) end(m *instance) {
	if m.gone {
		return
	}
	m.ends = true
	w.changed()
	w.after(time.Second+w.cloud.upTo(endsWithin), func() { w.remove(m) })
}
