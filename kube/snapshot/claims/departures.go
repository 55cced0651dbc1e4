package claims

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// rememberFor is how long it is known that a claim has gone: longer than any
// breaker looks back.
const rememberFor = 24 * time.Hour

// departures lists claims that go or have gone lately, by name. A process that
// starts again knows those that are still going, and what another one remembers.
type departures map[string]translate.Departure

// record takes in a claim that goes or has gone: one whose node was there, or one
// that was launched to replace others and never joined. One whose instance another claim
// has taken over leaves nothing.
func (d departures) record(c *karpv1.NodeClaim, now time.Time) {
	if _, known := d[c.Name]; known || c.Annotations[api.AnnotationAdoptedBy] != "" {
		return
	}
	at := now
	if c.DeletionTimestamp != nil {
		at = c.DeletionTimestamp.Time
	}
	joined, replaces := condition.IsTrue(c, karpv1.ClaimRegistered), c.Annotations[api.AnnotationReplaces] != ""
	if !joined && (!replaces || c.Status.ProviderID == "") {
		return
	}
	for name, old := range d {
		if now.Sub(old.At) > rememberFor {
			delete(d, name)
		}
	}
	d[c.Name] = translate.Departure{Pool: translate.PoolOf(c), At: at, Failed: !joined}
}

// Departed lists what has gone of pools lately.
func (t *Table) Departed(pools []cluster.PoolID) []translate.Departure {
	var out []translate.Departure
	for _, d := range t.departures {
		if slices.Contains(pools, d.Pool) {
			out = append(out, d)
		}
	}
	return out
}

// Remaining counts the nodes of pools that do not go.
func (t *Table) Remaining(pools []cluster.PoolID) (n int64) {
	for _, c := range t.claims {
		if c.DeletionTimestamp == nil && condition.IsTrue(c, karpv1.ClaimRegistered) && slices.Contains(pools, translate.PoolOf(c)) {
			n++
		}
	}
	for _, pool := range t.recalled {
		if slices.Contains(pools, pool) {
			n++
		}
	}
	return n
}

// Recall begins with the nodes of a saved snapshot, for which there are no claims.
func (t *Table) Recall(nodes []cluster.Node) {
	for i := range nodes {
		if n := &nodes[i]; n.Claim != "" && !n.Deleting {
			t.recalled = append(t.recalled, n.Pool)
		}
	}
}

// Memory is what departures there were that may still matter, by name of the claim.
func (t *Table) Memory(now time.Time) map[string]translate.Departure {
	out := map[string]translate.Departure{}
	for name, d := range t.departures {
		if now.Sub(d.At) <= rememberFor {
			out[name] = d
		}
	}
	return out
}

// Remember takes in departures that another process has seen, where this one has not.
func (t *Table) Remember(list map[string]translate.Departure) {
	for name, d := range list {
		if _, known := t.departures[name]; !known {
			t.departures[name] = d
		}
	}
}
