package sim

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/daemok/daemok/core/plan"
)

// steerEvery is how often nodes are told to empty, and pods on them to be the first to go, as in the product.
const steerEvery = time.Minute

// steer tells nodes to empty, and others that they need not any more.
func (c *controller) steer(nodes []plan.Emptying) {
	w := c.world
	if !c.steeredAt.IsZero() && w.now.Sub(c.steeredAt) < steerEvery {
		return
	}
	turn := map[string]int{}
	for i, e := range nodes {
		turn[e.Claim] = i + 1
	}
	different := false
	for _, m := range w.instances {
		different = different || m.emptying != turn[m.claim]
		m.emptying = turn[m.claim]
	}
	if different {
		c.steeredAt = w.now
		w.changed()
	}
}

// inDeletionOrder sorts pods of one Deployment as its ReplicaSet deletes them when it scales down. Source: Kubernetes,
// concepts/workloads/controllers/replicaset, "Scaling a ReplicaSet": those without a node first, then pending, not ready,
// of low pod-deletion-cost, on nodes with more pods of the same, ready for less time by powers of two, and by UID.
func (w *World) inDeletionOrder(pods []*pod) []*pod {
	on := map[*instance]int{}
	for _, p := range pods {
		on[p.at]++
	}
	out := slices.Clone(pods)
	slices.SortStableFunc(out, func(a, b *pod) int {
		return cmp.Or(
			first(a.at == nil, b.at == nil),
			first(a.Pending, b.Pending),
			first(a.Unready, b.Unready),
			cmp.Compare(w.deletionCost(a), w.deletionCost(b)),
			cmp.Compare(on[b.at], on[a.at]),
			cmp.Compare(w.ageBucket(a), w.ageBucket(b)),
			cmp.Compare(w.lot(a), w.lot(b)))
	})
	return out
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// deletionCost is what its owner says or, where it says nothing, less the sooner its node is to empty.
func (w *World) deletionCost(p *pod) int {
	if p.DeletionCost != 0 || p.at == nil || p.at.emptying == 0 || w.TaintOnly {
		return int(p.DeletionCost)
	}
	return p.at.emptying - math.MaxInt32
}

// ageBucket is the binary logarithm of how long the pod has been ready.
func (w *World) ageBucket(p *pod) int {
	age := w.now.Sub(p.readyAt)
	if age <= 0 {
		return -1
	}
	return int(math.Log2(float64(age)))
}

// lot stands for the UID of a pod, which is random.
func (w *World) lot(p *pod) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	return h.Sum64() ^ w.Seed*0x9e3779b97f4a7c15
}

// owner is what the pods belong to.
func (x *work) owner() string {
	if x.length > 0 {
		return "Job/" + x.name
	}
	return "ReplicaSet/" + x.name
}
