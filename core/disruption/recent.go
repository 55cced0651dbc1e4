package disruption

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Lately is how long a pod that was moved twice to save money within this time rests before it is moved for that again,
// so that a kube-scheduler which puts pods elsewhere than a plan thought does not have them moved all the time.
const Lately = time.Hour

// movesMost is how often a pod is moved within that time.
const movesMost = 2

// rests says why the node is left alone for a time because what runs on it was moved lately, and until when; empty: it is
// not.
func (c *candidate) rests(now time.Time) (why string, until time.Time) {
	for _, p := range c.moving {
		if until = p.MovedAt.Add(Lately); p.Moved >= movesMost && until.After(now) {
			return fmt.Sprintf("pod %s/%s was moved %d times in a row", p.Namespace, p.Name, p.Moved), until
		}
	}
	return "", time.Time{}
}

// Follow records with a pod that it replaces one that was evicted at that moment so that its node could go. Moves are
// in a row if the next comes within the hour.
func Follow(p, evicted *cluster.Pod, at time.Time) {
	p.Moved, p.MovedAt = 1, at
	if at.Sub(evicted.MovedAt) < Lately {
		p.Moved += evicted.Moved
	}
}
