package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// policies are the DisruptionPolicies as they were last listed.
type policies struct {
	awaited bool // they are to be listed, and were not yet
	list    []translate.DisruptionPolicy
}

// ReadPolicies lists the DisruptionPolicies of a live cluster: none where their
// definition is not installed.
func ReadPolicies(ctx context.Context, from client.Reader) ([]v1alpha1.DisruptionPolicy, error) {
	var out []v1alpha1.DisruptionPolicy
	err := pages.Each(ctx, from, &v1alpha1.DisruptionPolicyList{}, func(l *v1alpha1.DisruptionPolicyList) { out = append(out, l.Items...) })
	for e := err; e != nil; e = errors.Unwrap(e) {
		if meta.IsNoMatchError(e) || runtime.IsNotRegisteredError(e) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read DisruptionPolicies, which may forbid to disturb nodes: %w", err)
	}
	return out, nil
}

// AwaitPolicies says that DisruptionPolicies are going to be told: until then no
// node is let go. It is called before anything is seen.
func (k *ClusterState) AwaitPolicies() { k.policies.awaited = true }

// PoliciesAre takes in all DisruptionPolicies. They must not be written any more.
func (k *ClusterState) PoliciesAre(list []v1alpha1.DisruptionPolicy) {
	next := make([]translate.DisruptionPolicy, len(list))
	for i := range list {
		next[i] = translate.ReadDisruptionPolicy(&list[i])
	}
	slices.SortFunc(next, func(a, b translate.DisruptionPolicy) int { return cmp.Compare(a.Object.Name, b.Object.Name) })
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.policies.awaited && slices.EqualFunc(k.policies.list, next, saysTheSame) {
		k.policies.list = next
		return
	}
	k.policies = policies{list: next}
	k.bump()
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

// PolicyState is a DisruptionPolicy with what it is about now.
type PolicyState struct {
	translate.DisruptionPolicy
	Pools  []cluster.PoolID // that it selects, sorted
	Losses translate.Losses
}

// Policies returns every DisruptionPolicy with its state, sorted by name.
func (k *ClusterState) Policies() []PolicyState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.policyStates(k.now())
}

// everyPool are the pools with what is known of them: of one that was recalled its
// name alone.
func (k *ClusterState) everyPool() map[cluster.PoolID]translate.PoolObject {
	if len(k.recalled.pools) == 0 {
		return k.pools
	}
	out := maps.Clone(k.pools)
	for _, p := range k.recalled.pools {
		if _, changed := out[p.ID]; !changed {
			out[p.ID] = translate.PoolObject{ID: p.ID, Object: &karpv1.NodePool{}}
		}
	}
	return out
}

func (k *ClusterState) policyStates(now time.Time) []PolicyState {
	out := make([]PolicyState, len(k.policies.list))
	for i, p := range k.policies.list {
		out[i].DisruptionPolicy = p
		for id, o := range k.everyPool() {
			if p.Selects(o) {
				out[i].Pools = append(out[i].Pools, id)
			}
		}
		slices.SortFunc(out[i].Pools, func(a, b cluster.PoolID) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
		out[i].Losses = p.Losses(k.departed(out[i].Pools), k.remaining(out[i].Pools), now)
	}
	return out
}

// policiesHold notes what policies say of pools, and how many nodes their
// breakers leave.
func (b *builder) policiesHold() {
	now := b.out.Now
	states, pools := b.k.policyStates(now), b.k.everyPool()
	for i := range b.out.Pools {
		p := &b.out.Pools[i]
		if o, known := pools[p.ID]; known {
			p.Policy = b.holdOn(o, states).On(p.Policy)
		}
	}
	for i := range states {
		if s := &states[i]; s.Losses.Most > 0 {
			b.out.Breakers = append(b.out.Breakers, cluster.Breaker{Name: s.Name(), Pools: s.Pools, Most: s.Losses.Most, Gone: s.Losses.Gone + b.closedOf(s.Pools)})
		}
	}
}

// holdOn is what policies say of a pool. A breaker whose losses are too many
// keeps nodes from that moment on, before its status says that it has tripped.
func (b *builder) holdOn(o translate.PoolObject, states []PolicyState) translate.Hold {
	if b.k.policies.awaited {
		return translate.Hold{Why: "DisruptionPolicies have not been read yet"}
	}
	hold := translate.HoldOn(o, b.k.policies.list, b.out.Now)
	for i := range states {
		if s := &states[i]; hold.Why == "" && s.Losses.Why != "" && s.Selects(o) {
			hold.Why = "the breaker of " + s.Name() + " trips: " + s.Losses.Why
		}
	}
	return hold
}

// closedOf counts the nodes of pools that are to go and may yet stay.
func (b *builder) closedOf(pools []cluster.PoolID) (n int64) {
	for i := range b.out.Nodes {
		node := &b.out.Nodes[i]
		if c := b.k.claims[node.Claim]; node.Deleting && c != nil && c.DeletionTimestamp == nil && slices.Contains(pools, node.Pool) {
			n++
		}
	}
	return n
}
