package follow

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// target is where a plan expects a pod: a node that was there, or an instance being launched.
// kube-scheduler decides where it really goes.
type target struct {
	on   plan.Destination // empty: nowhere yet
	name string           // of the node, or of the claim
}

// expect notes where the last plan expects a pod. An instance that became a node while the pod
// waited is still the instance that it was launched for. The claim of a launch is not known before
// Ordered.
func (f *Follower) expect(w *waiting, on plan.Destination, name string) {
	switch {
	case on == plan.OnLaunch:
	case on == plan.OnNode && w.target.on == plan.OnInstance && f.made[name] == w.target.name:
	default:
		w.target = target{on, name}
	}
}

// Ordered records that a claim was made for pods.
func (f *Follower) Ordered(claim string, pods []cluster.Pod) {
	traceID := f.Traces.OfClaim(claim)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range pods {
		if w := f.pods[types.UID(pods[i].UID)]; w != nil {
			w.traceID = traceID
			w.target = target{plan.OnInstance, claim}
		}
	}
}

// register notes which claim a node was launched by; no claim forgets the node.
func (f *Follower) register(node, claim string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case node == "":
	case claim == "":
		delete(f.made, node)
	default:
		if f.made == nil {
			f.made = map[string]string{}
		}
		f.made[node] = claim
	}
}

// landed counts whether a pod that was bound went where it was expected.
func (f *Follower) landed(w *waiting, node string) {
	if w.target.on == "" || !f.Leading() {
		return
	}
	there := node == w.target.name
	if w.target.on == plan.OnInstance {
		there = f.made[node] == w.target.name
	}
	f.Metrics.PodsLanded.WithLabelValues(string(w.target.on), strconv.FormatBool(there)).Inc()
}
