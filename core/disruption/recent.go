package disruption

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Lately is within which time moves are in a row, beyond the rest after those before.
const Lately = time.Hour

// movesMost is how often in a row a pod is moved without a rest.
const movesMost = 2

// restMost is the longest rest.
const restMost = 24 * time.Hour

// RestAfter is how long a pod rests that was moved so many times in a row, before it is moved again to save
// money: after the second move for an hour, and twice as long after each further one, a day at most. So a
// kube-scheduler that puts pods elsewhere than plans thought does not have them moved all the time.
func RestAfter(moves int) time.Duration {
	switch {
	case moves < movesMost:
		return 0
	case moves-movesMost >= 5: // 32 h
		return restMost
	}
	return Lately << (moves - movesMost)
}

// RememberedFor is how long it matters that a pod was moved so many times in a row.
func RememberedFor(moves int) time.Duration { return RestAfter(moves) + Lately }

// rests says why the node is left alone for a time because what runs on it was moved lately, and until when; empty: it is
// not.
func (c *candidate) rests(now time.Time) (why string, until time.Time) {
	for _, p := range c.moving {
		if until = p.MovedAt.Add(RestAfter(p.Moved)); until.After(now) {
			return fmt.Sprintf("pod %s/%s was moved %d times in a row", p.Namespace, p.Name, p.Moved), until
		}
	}
	return "", time.Time{}
}

// Follow records with a pod that it replaces one that was evicted at that moment so that its node could go. Moves are
// in a row if the next comes within RememberedFor.
func Follow(p, evicted *cluster.Pod, at time.Time) {
	p.Moved, p.MovedAt = 1, at
	if at.Sub(evicted.MovedAt) < RememberedFor(evicted.Moved) {
		p.Moved += evicted.Moved
	}
}
