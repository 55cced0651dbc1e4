package retire

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Lately is how long a machine that came in place of others, and a pod that was
// moved more than once, are left alone, whatever is cheaper by then. So neither
// prices that come and go nor a kube-scheduler that puts pods elsewhere than a
// plan thought have pods moved all the time. It is the hour in which a pod counts
// as young.
const Lately = youngFor

// restAfter is how long a pod that was moved so often is not moved again to save
// money: not at all after once, since kube-scheduler may put it on a node that
// goes next, and a cluster would hardly shrink; then Lately, and twice as long
// each time, so that whatever has it moved again and again comes to an end.
func restAfter(moved int) time.Duration {
	if moved < 2 {
		return 0
	}
	return min(Lately<<min(moved-2, 10), restMost)
}

// restMost is how far ahead savings count, too.
const restMost = Horizon

// settles says why the node is left alone for a time because it, or what runs on
// it, was moved lately, and until when; empty: it is not.
func (c *candidate) settles(now time.Time) (why string, until time.Time) {
	if until = c.CreatedAt.Add(Lately); c.Replacement && until.After(now) && !c.idle() {
		return "it has just come in place of others", until
	}
	for _, p := range c.moving {
		if until = p.MovedAt.Add(restAfter(p.Moved)); until.After(now) {
			return fmt.Sprintf("pod %s/%s was moved %d times in a row", p.Namespace, p.Name, p.Moved), until
		}
	}
	return "", time.Time{}
}

// idle reports whether twice the pods that would have to move had room: most of
// those that the machine came for have left it, or never came.
func (c *candidate) idle() bool {
	var used quantity.Resources
	for _, p := range c.moving {
		used = used.Add(p.Shape.Requests)
	}
	return used.Add(used).FitsIn(c.Allocatable)
}

// Follow tells a pod that it comes in place of one that was evicted at a moment,
// so that its node could go. Moves are in a row if the next comes soon after it
// may.
func Follow(p, evicted *cluster.Pod, at time.Time) {
	p.Moved, p.MovedAt, p.Since = 1, at, evicted.Since
	if p.Since.IsZero() {
		p.Since = evicted.StartedAt
	}
	if at.Sub(evicted.MovedAt) < max(Lately, 2*restAfter(evicted.Moved)) {
		p.Moved += evicted.Moved
	}
}
