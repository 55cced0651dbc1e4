package whole_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/store"
)

// Users of the API server, as its audits name them.
const (
	theController = "daemok"
	thePeople     = "people" // scheduler, kubelets, users and all others
)

// promises follow a cluster and its cloud while a story is told, and report at once
// what the product promises and did not keep: after each write, in the moment of it, and
// after each look round of the cluster's people, for instances.
//
//   - launching: limits and quotas hold, no NodeClaim is created or withdrawn without a need, no
//     instance is launched without a NodeClaim that waits for it, and NodeClaim, node and
//     instance agree;
//   - ending: no pod ends with its node unless it was evicted, budgets hold, and NodeClaims say
//     that instances terminate once that was asked of AWS.
type promises struct {
	t        testing.TB
	story    *story
	instance func(id string) (market.Machine, bool)

	// mu guards all below.
	mu     sync.Mutex
	asked  bool // in storms alone
	pools  map[string]*karpv1.NodePool
	claims map[string]*karpv1.NodeClaim
	nodes  map[string]*corev1.Node
	pods   map[types.UID]*podLife
	spares map[string]*v1beta1.CapacityBuffer
	quotas map[string]*v1beta1.CapacityQuota
	wanted demand

	requests map[string]*autoscalingv1.ProvisioningRequest

	ended     map[string]bool            // instances whose end was looked at
	taken     map[string]string          // instances that are, or were, a NodeClaim's: the last that had it
	voluntary map[types.UID]bool         // NodeClaims that the controller deleted by choice
	deleted   []deletedClaim             // by others than the controller
	vanished  []time.Time                // when instances lost the NodeClaim that was to have them
	broken    map[string]map[string]bool // by promise, then object
}

// podLife is a pod, and since when it is on its node.
type podLife struct {
	*corev1.Pod
	boundAt time.Time
}

// keepPromises begins to follow a world that is empty.
func keepPromises(w *world) *promises {
	p := &promises{
		t: w.t, story: w.story, instance: w.cloud.Market().Machine,
		pools: map[string]*karpv1.NodePool{}, claims: map[string]*karpv1.NodeClaim{}, nodes: map[string]*corev1.Node{}, pods: map[types.UID]*podLife{}, spares: map[string]*v1beta1.CapacityBuffer{},
		requests: map[string]*autoscalingv1.ProvisioningRequest{},
		quotas:   map[string]*v1beta1.CapacityQuota{},
		ended:    map[string]bool{}, taken: map[string]string{}, voluntary: map[types.UID]bool{},
		broken: map[string]map[string]bool{},
	}
	w.server.AuditTo(p.audit)
	return p
}

// ask has broken promises reported from now on.
func (p *promises) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = true
}

// breaks reports a promise that was not kept about an object, once.
func (p *promises) breaks(promise, object, format string, args ...any) {
	if !p.asked || p.broken[promise][object] {
		return
	}
	if p.broken[promise] == nil {
		p.broken[promise] = map[string]bool{}
	}
	p.broken[promise][object] = true
	text := fmt.Sprintf("%8s PROMISE BROKEN (%s): %s: %s", time.Since(p.story.began).Round(time.Millisecond), promise, object, fmt.Sprintf(format, args...))
	p.story.add(text)
	p.t.Error(text)
}

// audit follows one write.
func (p *promises) audit(a store.Audit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := a.After
	if is == nil {
		is = a.Before
	}
	name, byController := is.GetName(), a.User == theController
	switch is.(type) {
	case *karpv1.NodePool:
		follow(p.pools, name, a)
	case *v1beta1.CapacityQuota:
		follow(p.quotas, name, a)
	case *v1beta1.CapacityBuffer:
		follow(p.spares, name, a)
		p.counts()
	case *autoscalingv1.ProvisioningRequest:
		follow(p.requests, name, a)
		p.counts()
	case *corev1.Pod:
		before, _ := a.Before.(*corev1.Pod)
		if byController && a.Call.Verb == store.Delete && before != nil {
			p.deletesPod(before)
		}
		p.follows(a, is.(*corev1.Pod))
	case *corev1.Node:
		before, after := follow(p.nodes, name, a)
		switch {
		case after == nil && byController:
			p.letsNodeGo(before)
		case after != nil:
			p.nodeAgrees(after)
		}
	case *karpv1.NodeClaim:
		before, after := a.Before, a.After
		was, _ := before.(*karpv1.NodeClaim)
		now, _ := after.(*karpv1.NodeClaim)
		if byController {
			p.claimWritten(a.Call.Verb, was, now)
		} else if was != nil && was.Status.ProviderID == "" && a.Call.Verb == store.Delete {
			p.vanished = append(p.vanished, time.Now())
		}
		if !byController && was != nil && a.Call.Verb == store.Delete {
			p.deleted = append(p.deleted, deletedClaim{was, time.Now()})
		}
		follow(p.claims, name, a)
		if now != nil {
			p.claimAgrees(now)
		} else {
			p.story.add("NodeClaim " + name + " is gone")
		}
	}
}

// follow keeps the object of a write among its kind.
func follow[T any](all map[string]T, name string, a store.Audit) (before, after T) {
	before, _ = a.Before.(T)
	if a.After == nil {
		delete(all, name)
		return before, after
	}
	after = a.After.(T)
	all[name] = after
	return before, after
}

// follows keeps a pod, and how many want a place.
func (p *promises) follows(a store.Audit, pod *corev1.Pod) {
	switch {
	case a.After == nil:
		delete(p.pods, pod.UID)
	case p.pods[pod.UID] == nil:
		p.pods[pod.UID] = &podLife{Pod: pod}
	default:
		p.pods[pod.UID].Pod = pod
	}
	if life := p.pods[pod.UID]; life != nil && life.boundAt.IsZero() && pod.Spec.NodeName != "" {
		life.boundAt = time.Now()
	}
	p.counts()
}

// counts counts the pods that want a place, virtual ones among them.
func (p *promises) counts() {
	n := 0
	for _, b := range p.spares {
		if b.Spec.Replicas != nil { // seeds have no other buffers
			n += int(*b.Spec.Replicas)
		}
	}
	for _, life := range p.pods {
		if life.DeletionTimestamp == nil && !podspec.IsTerminal(life.Pod) && isSlot(life.Pod) {
			n++
		}
	}
	may := 0
	for _, r := range p.requests {
		if provisioningrequest.Over(r) == "" {
			may += int(r.Spec.PodSets[0].Count) // seeds have no others
		}
	}
	p.wanted.is(n, may)
}

// claimWritten looks at what the controller writes of a NodeClaim.
func (p *promises) claimWritten(verb store.Verb, was, now *karpv1.NodeClaim) {
	switch {
	case was == nil && now != nil:
		p.orders(now)
	case was != nil && now != nil && isWithdrawn(now) && !isWithdrawn(was):
		p.withdraws(now)
	case was != nil && now != nil && condition.IsTrue(now, karpv1.ClaimInstanceTerminating) && !condition.IsTrue(was, karpv1.ClaimInstanceTerminating):
		p.saysItTerminates(now)
	case was != nil && verb == store.Delete && was.DeletionTimestamp == nil:
		p.disrupts(was)
	}
	if now != nil {
		p.limits(now)
		p.quotasHold(now)
	}
}

// look compares with what there is at the cloud.
func (p *promises) look(instances []market.Machine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range instances {
		p.endsRight(&instances[i])
	}
	p.launchedRight(instances)
}
