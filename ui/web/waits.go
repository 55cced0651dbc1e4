package web

import (
	"slices"
	"time"

	"github.com/daemok/daemok/ui/view"
)

// waitsFor is for how long a wait counts that has ended.
const waitsFor = 5 * time.Minute

// waits follows pods that need a node until they have one. It is used by one goroutine.
type waits struct {
	pending map[podName]time.Time // when they were created
	ended   []wait                // the oldest first
}

type podName struct{ namespace, name string }

// wait is one that has ended.
type wait struct {
	seen   time.Time
	lasted time.Duration // from the pod's creation until its node had taken it in
}

// follow takes in the next state.
func (w *waits) follow(c *view.Cluster) {
	left := w.pending
	w.pending = make(map[podName]time.Time, len(c.Came))
	for i := range c.Came {
		p := &c.Came[i]
		name := podName{p.Namespace, p.Name}
		w.pending[name] = p.At
		if created, known := left[name]; known && created.Equal(p.At) {
			delete(left, name)
		}
	}
	if len(left) == 0 {
		return
	}
	for i := range c.Nodes {
		for j := range c.Nodes[i].Pods {
			p := &c.Nodes[i].Pods[j]
			created, waited := left[podName{p.Namespace, p.Name}]
			if !waited {
				continue
			}
			end := c.At
			if !p.Started.IsZero() {
				end = p.Started
			}
			w.ended = append(w.ended, wait{c.At, max(0, end.Sub(created))})
		}
	}
}

// fill adds to a point how long pods waited that got a node lately.
func (w *waits) fill(p *Point, now time.Time) {
	w.ended = slices.DeleteFunc(w.ended, func(x wait) bool { return now.Sub(x.seen) > waitsFor })
	if p.Placed = len(w.ended); p.Placed == 0 {
		return
	}
	list := make([]time.Duration, 0, len(w.ended))
	for _, x := range w.ended {
		list = append(list, x.lasted)
	}
	slices.Sort(list)
	p.Half, p.Most = within(list, 50).Seconds(), within(list, 95).Seconds()
}

// within is what so many of a hundred are not above, of sorted values.
func within(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}
