package snapshot

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

// departures tells of claims that go or have gone lately, by name. A process that
// starts again knows those that are still going, and what another one remembers.
type departures map[string]translate.Departure

// note takes in a claim that goes or has gone: one whose node was there, or one
// that was launched to replace others and never joined. One whose machine another claim
// has taken over leaves nothing.
func (d departures) note(c *karpv1.NodeClaim, now time.Time) {
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

func (k *ClusterState) departed(pools []cluster.PoolID) []translate.Departure {
	var out []translate.Departure
	for _, d := range k.departures {
		if slices.Contains(pools, d.Pool) {
			out = append(out, d)
		}
	}
	return out
}

// remaining counts the nodes of pools that do not go.
func (k *ClusterState) remaining(pools []cluster.PoolID) (n int64) {
	for _, c := range k.claims {
		if c.DeletionTimestamp == nil && condition.IsTrue(c, karpv1.ClaimRegistered) && slices.Contains(pools, translate.PoolOf(c)) {
			n++
		}
	}
	for i := range k.recalled.nodes {
		if is := &k.recalled.nodes[i].is; is.Claim != "" && !is.Deleting && slices.Contains(pools, is.Pool) {
			n++
		}
	}
	return n
}
