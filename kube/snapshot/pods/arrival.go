package pods

import "time"

// judgedWithin is how long a scheduler that keeps up takes to look at a new
// pod. One that it has not looked at for longer stands in a queue, and counts
// as waiting: a plan looks for room on nodes that exist first, as the
// scheduler will, so what it launches is needed either way.
const judgedWithin = 200 * time.Millisecond

// Arrival is a pod that waits for a node, and when it was first seen to.
type Arrival struct {
	UID string
	At  time.Time
}

// cameAt is when a pod came that is seen first now: a watch may be late, and this process new. Creation
// is given in whole seconds.
func cameAt(created, now time.Time) time.Time {
	if at := created.Add(time.Second); !created.IsZero() && at.Before(now) {
		return at
	}
	return now
}

// waits reports whether the pod waits for a node at a moment. One that came in place of
// an evicted one, or that a claim was made for, has been planned for: it counts before a
// scheduler has looked at it.
func (t *Table) waits(p *Pod, now time.Time) bool {
	if p.pod.Node != "" || !p.waiting && !p.unjudged {
		return false
	}
	return p.waiting || p.pod.Moved > 0 || t.Claims.MadeFor(p.pod.UID) || !now.Before(p.cameAt.Add(judgedWithin))
}

// Arrivals lists the pods that wait now, and when the next one will unless the
// scheduler looks at it before; zero if none. Cost: linear in pods without a node.
func (t *Table) Arrivals(now time.Time) (list []Arrival, next time.Time) {
	for name := range t.unbound {
		e := t.pods[name]
		switch due := e.cameAt.Add(judgedWithin); {
		case t.waits(e, now):
			list = append(list, Arrival{e.pod.UID, e.seenAt})
		case e.unjudged && (next.IsZero() || due.Before(next)):
			next = due
		}
	}
	return list, next
}
