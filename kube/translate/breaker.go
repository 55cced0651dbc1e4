package translate

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Departure is a claim that goes or has gone.
type Departure struct {
	Pool   cluster.PoolID `json:"pool"`
	At     time.Time      `json:"at"`               // when it was deleted
	Failed bool           `json:"failed,omitempty"` // it was launched to replace nodes and never joined
}

// Losses is what the breaker of a policy has seen. The zero value is that of one
// without a breaker.
type Losses struct {
	Gone   int64  // nodes, within its time
	Of     int64  // how many there were
	Most   int64  // at how many it trips; 0: it does not count them
	Failed int64  // replacements that did not join
	Why    string // why it trips now; empty: it does not
}

// Losses counts what was lost of the policy's pools, of which so many nodes
// remain. What happened before the breaker was last acknowledged does not count.
func (p *DisruptionPolicy) Losses(departed []Departure, remain int64, now time.Time) Losses {
	b := p.Object.Spec.Breaker
	if b == nil || p.Wrong != "" {
		return Losses{}
	}
	within, _ := time.ParseDuration(b.Within)
	since := now.Add(-within)
	if s := p.Object.Status.Breaker; s != nil && s.AcknowledgedAt != nil && s.AcknowledgedAt.After(since) {
		since = s.AcknowledgedAt.Time
	}
	out := Losses{Of: remain}
	for _, d := range departed {
		switch {
		case !d.At.After(since):
		case d.Failed:
			out.Failed++
		default:
			out.Gone, out.Of = out.Gone+1, out.Of+1
		}
	}
	if b.Nodes != "" {
		most, err := share(b.Nodes, out.Of)
		if err == nil {
			out.Most = max(1, most)
		}
	}
	switch {
	case out.Most > 0 && out.Gone >= out.Most:
		out.Why = fmt.Sprintf("%d of %d nodes went within %s, and it stops at %s", out.Gone, out.Of, b.Within, b.Nodes)
	case b.FailedReplacements != nil && out.Failed >= int64(*b.FailedReplacements):
		out.Why = fmt.Sprintf("%d replacements of nodes did not join within %s", out.Failed, b.Within)
	}
	return out
}
