package snapshot

import "time"

// judgedWithin is how long a scheduler that keeps up takes to look at a new
// pod. One that it has not looked at for longer stands in a queue, and counts
// as waiting: a plan looks for room on nodes that exist first, as the
// scheduler will, so what it buys is needed either way.
const judgedWithin = 200 * time.Millisecond

// Arrival is a pod that waits for a node, and when it was first seen to.
type Arrival struct {
	UID string
	At  time.Time
}

// waits reports whether the pod waits for a node at a moment. One that came in place of
// an evicted one has been planned for: it counts before a scheduler has looked at it.
func (e *podEntry) waits(now time.Time) bool {
	return e.pod.Node == "" && (e.waiting || e.unjudged && (e.pod.Moved > 0 || !now.Before(e.seenAt.Add(judgedWithin))))
}

// Arrivals lists the pods that wait now, and when the next one will unless the
// scheduler looks at it before; zero if none. Cost: linear in pods without a node.
func (k *Keeper) Arrivals() (list []Arrival, next, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now = k.now()
	for name := range k.seatless {
		e := k.pods[name]
		switch due := e.seenAt.Add(judgedWithin); {
		case e.waits(now):
			list = append(list, Arrival{e.pod.UID, e.seenAt})
		case e.unjudged && (next.IsZero() || due.Before(next)):
			next = due
		}
	}
	return list, next, now
}
