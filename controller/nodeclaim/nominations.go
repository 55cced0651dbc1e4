package nodeclaim

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Nominations is where plans expect pods on instances that have not joined, and on nodes. It is
// safe for concurrent use; the zero value is ready.
type Nominations struct {
	mu     sync.Mutex                        // guards all below
	pods   map[string]map[string]cluster.Pod // by claim or node and UID
	on     map[string]string                 // claim or node by UID
	rounds map[string]int                    // by claim: how often its pods were nominated before its node opened
}

// Decided takes in where a plan expects pods on what there was before.
func (n *Nominations) Decided(p plan.Plan) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range p.Placements {
		if to := &p.Placements[i]; to.On != plan.OnLaunch {
			n.put(to.Target, to.Pod)
		}
	}
	for i := range p.Unplaced {
		for _, pod := range p.Unplaced[i].Pods {
			n.drop(pod.UID)
		}
	}
}

// Ordered takes in that a claim was created for pods.
func (n *Nominations) Ordered(claim string, pods []cluster.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range pods {
		n.put(claim, pods[i])
	}
}

func (n *Nominations) put(on string, p cluster.Pod) {
	if n.pods == nil {
		n.pods, n.on, n.rounds = map[string]map[string]cluster.Pod{}, map[string]string{}, map[string]int{}
	}
	n.drop(p.UID)
	if n.pods[on] == nil {
		n.pods[on] = map[string]cluster.Pod{}
	}
	n.pods[on][p.UID], n.on[p.UID] = p, on
}

func (n *Nominations) drop(uid string) {
	on := n.on[uid]
	if delete(n.pods[on], uid); len(n.pods[on]) == 0 {
		delete(n.pods, on)
	}
	delete(n.on, uid)
}

// of lists the pods that are expected on a claim or its node, sorted by namespace and name.
func (n *Nominations) of(names ...string) (out []cluster.Pod) {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		out = slices.AppendSeq(out, maps.Values(n.pods[name]))
	}
	slices.SortFunc(out, func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// again counts how often pods were nominated before the claim's node opened, this time included.
func (n *Nominations) again(claim string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rounds[claim]++
	return n.rounds[claim]
}

// forget drops the claim and its node: no pod is nominated for them any more.
func (n *Nominations) forget(names ...string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		for uid := range n.pods[name] {
			delete(n.on, uid)
		}
		delete(n.pods, name)
		delete(n.rounds, name)
	}
}
