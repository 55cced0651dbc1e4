package nodepool

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// countEvery is how far apart two counts of one pool are at least. A count checks every
// claim and node of the pool; changes of these come in by the thousand while a large pool
// grows.
const countEvery = time.Second

// countShare is how many times longer the pause after a count is than the count, at least: of a pool with thousands
// of nodes it takes a tenth of a second.
const countShare = 20

// owned is what a pool owned when it was last counted.
type owned struct {
	resources corev1.ResourceList // shared, not to be written
	nodes     int64
	older     int64     // of these, made from an older spec
	lastOrder time.Time // of the claims that there are
	again     time.Time // when it may be counted again
}

// counts remembers the last count of each pool. The zero value is ready to
// use; it is safe for concurrent use.
type counts struct {
	mu   sync.Mutex
	last map[string]owned // by pool
}

func (c *counts) of(pool string) (owned, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, known := c.last[pool]
	return o, known
}

func (c *counts) set(pool string, o owned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = map[string]owned{}
	}
	c.last[pool] = o
}

func (c *counts) forget(pool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, pool)
}

// usage returns what the pool owns. Where that was counted a moment ago it is the same
// count, and stale says after how long the pool must be checked again for what has changed
// since; zero is for a new count.
func (r *Reconciler) usage(ctx context.Context, view translate.PoolObject) (count owned, stale time.Duration, err error) {
	now := r.Now()
	if last, known := r.counts.of(view.ID.Name); known {
		if wait := last.again.Sub(now); wait > 0 {
			return last, wait, nil
		}
	}
	count, err = r.count(ctx, view)
	if err != nil {
		return owned{}, 0, err
	}
	count.again = now.Add(max(countEvery, countShare*r.Now().Sub(now)))
	r.counts.set(view.ID.Name, count)
	return count, 0, nil
}

// count adds up what the pool owns: registered nodes by what they have, other instances by
// what was launched. It reads the objects of the cache in place, since a large pool has
// megabytes of them.
func (r *Reconciler) count(ctx context.Context, view translate.PoolObject) (owned, error) {
	mine := translate.Belonging(view.ID)
	var claims karpv1.NodeClaimList
	if err := r.Store.List(ctx, &claims, mine, client.UnsafeDisableDeepCopy); err != nil {
		return owned{}, fmt.Errorf("list claims of %s: %w", view.ID, err)
	}
	var nodes corev1.NodeList
	if err := r.Store.List(ctx, &nodes, mine, client.UnsafeDisableDeepCopy); err != nil {
		return owned{}, fmt.Errorf("list nodes of %s: %w", view.ID, err)
	}
	capacity := map[string]corev1.ResourceList{}
	for i := range nodes.Items {
		capacity[nodes.Items[i].Spec.ProviderID] = nodes.Items[i].Status.Capacity
	}
	var sum quantity.Resources
	var last time.Time
	older := int64(0)
	for i := range claims.Items {
		c := &claims.Items[i]
		if at := c.CreationTimestamp.Time; at.After(last) {
			last = at
		}
		if translate.OfOlderSpec(view, c) {
			older++
		}
		if own, registered := capacity[c.Status.ProviderID]; registered && condition.IsTrue(c, karpv1.ClaimRegistered) {
			sum = sum.Add(translate.Resources(own))
			continue
		}
		sum = sum.Add(translate.Resources(c.Status.Capacity))
	}
	n := int64(len(claims.Items))
	return owned{resources: usageList(sum, n), nodes: n, older: older, lastOrder: last}, nil
}

// usageList names nodes, CPU and memory even where there are none.
func usageList(sum quantity.Resources, nodes int64) corev1.ResourceList {
	list := translate.ResourceList(sum)
	list[api.ResourceNodes] = translate.Quantity(api.ResourceNodes, nodes)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if _, there := list[name]; !there {
			list[name] = translate.Quantity(string(name), 0)
		}
	}
	return list
}
