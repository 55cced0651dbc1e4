// Package policies is the table of what keeps nodes from being disrupted regardless of their pools:
// DisruptionPolicies, and a user's freeze.
package policies

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// pools are selected by policies.
type pools interface {
	Every() map[cluster.PoolID]translate.PoolObject
}

// nodes say how many of some pools have gone lately, and how many stay.
type nodes interface {
	Departed(pools []cluster.PoolID) []translate.Departure
	Remaining(pools []cluster.PoolID) int64
}

// Table holds DisruptionPolicies as they were last listed. It is not safe for concurrent use. Build it with New.
type Table struct {
	Awaited bool // they are to be listed, and were not yet: until then no node is disrupted

	pools pools
	nodes nodes
	list  []translate.DisruptionPolicy
}

// New returns an empty table.
func New(pools pools, nodes nodes) *Table { return &Table{pools: pools, nodes: nodes} }

// Read lists the DisruptionPolicies of a live cluster: none where their
// definition is not installed.
func Read(ctx context.Context, from client.Reader) ([]v1alpha1.DisruptionPolicy, error) {
	var out []v1alpha1.DisruptionPolicy
	err := pages.Each(ctx, from, &v1alpha1.DisruptionPolicyList{}, func(l *v1alpha1.DisruptionPolicyList) { out = append(out, l.Items...) })
	if pages.NotServed(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read DisruptionPolicies, which may forbid to disturb nodes: %w", err)
	}
	return out, nil
}

// Are takes in all DisruptionPolicies, which must not be written any more, and reports whether plans depend on what has
// changed.
func (t *Table) Are(list []v1alpha1.DisruptionPolicy) bool {
	next := make([]translate.DisruptionPolicy, len(list))
	for i := range list {
		next[i] = translate.ReadDisruptionPolicy(&list[i])
	}
	slices.SortFunc(next, func(a, b translate.DisruptionPolicy) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
	same := !t.Awaited && slices.EqualFunc(t.list, next, saysTheSame)
	t.Awaited, t.list = false, next
	return !same
}

// saysTheSame compares what plans depend on.
func saysTheSame(a, b translate.DisruptionPolicy) bool {
	return a.Object.Name == b.Object.Name && equality.Semantic.DeepEqual(a.Object.Spec, b.Object.Spec) &&
		equality.Semantic.DeepEqual(a.Object.Annotations, b.Object.Annotations) && sameTrip(a.Object.Status.Breaker, b.Object.Status.Breaker)
}

func sameTrip(a, b *v1alpha1.BreakerStatus) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.TrippedAt.Equal(b.TrippedAt) && a.AcknowledgedAt.Equal(b.AcknowledgedAt)
}

// State is a DisruptionPolicy with what it is about now.
type State struct {
	translate.DisruptionPolicy
	Pools  []cluster.PoolID // that it selects, sorted
	Losses translate.Losses
}

// States returns every DisruptionPolicy with its state, sorted by name.
func (t *Table) States(now time.Time) []State {
	out := make([]State, len(t.list))
	for i, p := range t.list {
		out[i].DisruptionPolicy = p
		for id, o := range t.pools.Every() {
			if p.Selects(o) {
				out[i].Pools = append(out[i].Pools, id)
			}
		}
		slices.SortFunc(out[i].Pools, func(a, b cluster.PoolID) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
		out[i].Losses = p.Losses(t.nodes.Departed(out[i].Pools), t.nodes.Remaining(out[i].Pools), now)
	}
	return out
}

// Show records on the pools of a snapshot what policies say of them, and how many nodes their
// breakers leave. closed counts the nodes of pools that are to go and may yet stay.
func (t *Table) Show(out *cluster.Snapshot, closed func(pools []cluster.PoolID) int64) {
	states, pools := t.States(out.Now), t.pools.Every()
	for i := range out.Pools {
		p := &out.Pools[i]
		if o, known := pools[p.ID]; known {
			p.Policy = t.holdOn(o, states, out.Now).On(p.Policy)
		}
	}
	for i := range states {
		if s := &states[i]; s.Losses.Most > 0 {
			out.Breakers = append(out.Breakers, cluster.Breaker{Name: s.Name(), Pools: s.Pools, Most: s.Losses.Most, Gone: s.Losses.Gone + closed(s.Pools)})
		}
	}
}

// holdOn is what policies say of a pool. A breaker whose losses are too many
// keeps nodes from that moment on, before its status says that it has tripped.
func (t *Table) holdOn(o translate.PoolObject, states []State, now time.Time) translate.Hold {
	if t.Awaited {
		return translate.Hold{Why: "DisruptionPolicies have not been read yet"}
	}
	hold := translate.HoldOn(o, t.list, now)
	for i := range states {
		if s := &states[i]; hold.Why == "" && s.Losses.Why != "" && s.Selects(o) {
			hold.Why = "the breaker of " + s.Name() + " trips: " + s.Losses.Why
		}
	}
	return hold
}
