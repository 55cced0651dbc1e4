package status

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// atLimit is the nodes of a pool that have drifted and wait since limits forbid to have the
// instances in their place beside them.
type atLimit struct {
	nodes int
	first string // the name of one
	why   string // it stays
}

// waitingAtLimit finds such nodes, by pool; stays says why a node stays that has drifted.
func waitingAtLimit(claims []karpv1.NodeClaim, stays func(node string) string) map[cluster.PoolID]atLimit {
	out := map[cluster.PoolID]atLimit{}
	for i := range claims {
		c := &claims[i]
		if c.DeletionTimestamp != nil || !condition.IsTrue(c, karpv1.ClaimDrifted) {
			continue
		}
		if why := stays(c.Status.NodeName); disruption.AtLimit(why) {
			pool := translate.PoolOf(c)
			w := out[pool]
			if w.nodes++; w.first == "" || c.Status.NodeName < w.first {
				w.first, w.why = c.Status.NodeName, why
			}
			out[pool] = w
		}
	}
	return out
}

// holdup is what is in the way of a pool's nodes.
type holdup struct {
	doubt   string // of the clock
	unread  string
	orphans string // that are held
	limit   atLimit
}

// in is the reason and the words of the condition of that pool; empty: nothing is in the
// way. What concerns every node comes first.
func (h holdup) in(pool string) (reason, text string) {
	switch w := h.limit; {
	case h.doubt != "":
		return karpv1.ReasonClockDiffers, "nothing is disrupted: " + h.doubt
	case h.unread != "":
		return karpv1.ReasonStateUnread, "nothing is disrupted while the live state cannot be read, which is tried again: " + h.unread
	case h.orphans != "":
		return karpv1.ReasonOrphansHeld, h.orphans
	case w.nodes > 0:
		return karpv1.ReasonAtLimit, fmt.Sprintf("drifted nodes that wait: %d; node %s: %s; %s, "+
			"or have nodes deleted first: kubectl annotate %s %s=%s",
			w.nodes, w.first, w.why, translate.RaiseLimit(w.why), pool, api.AnnotationDriftAtLimit, api.DeleteFirst)
	}
	return "", ""
}
