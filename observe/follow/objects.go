package follow

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

func (f *Follower) nodeSeen(before, after *corev1.Node) {
	var old []metav1.Condition
	if before != nil {
		old = condition.OfNode(before.Status.Conditions)
	}
	f.compare("node", old, condition.OfNode(after.Status.Conditions))
}

func (f *Follower) nodeGone(n *corev1.Node) {
	f.ended("node", n.DeletionTimestamp)
	pool := translate.PoolCalled(n.Labels)
	if pool == "" || !f.Leading() || f.isTheirs(n.Name) {
		return
	}
	f.Metrics.NodeLifeSeconds.WithLabelValues(pool).Observe(f.since(n.CreationTimestamp.Time))
	if n.DeletionTimestamp != nil {
		f.Metrics.NodeEndSeconds.WithLabelValues(pool).Observe(f.since(n.DeletionTimestamp.Time))
	}
}

func (f *Follower) claimSeen(before, after *karpv1.NodeClaim) {
	if translate.IsForeign(after.Spec.NodeClassRef) {
		f.disown(after.Status.NodeName, true)
		return
	}
	var old []metav1.Condition
	if before != nil {
		old = before.Status.Conditions
		if f.Leading() && condition.IsTrue(after, karpv1.ClaimDrained) && !condition.IsTrue(before, karpv1.ClaimDrained) {
			f.Metrics.NodesDrained.WithLabelValues(translate.PoolCalled(after.Labels)).Inc()
		}
	}
	f.compareIn(f.Traces.OfClaim(after.Name), "nodeclaim", old, after.Status.Conditions)
	f.register(after.Status.NodeName, after.Name)
	if f.Leading() {
		f.Traces.Seen(after, before == nil)
	}
}

func (f *Follower) claimGone(c *karpv1.NodeClaim) {
	if translate.IsForeign(c.Spec.NodeClassRef) {
		f.disown(c.Status.NodeName, false) // its node went before
		return
	}
	f.ended("nodeclaim", c.DeletionTimestamp)
	f.Traces.Gone(c.Name)
	f.register(c.Status.NodeName, "")
	if !f.Leading() || c.DeletionTimestamp == nil {
		return
	}
	pool := translate.PoolCalled(c.Labels)
	f.Metrics.ClaimEndSeconds.WithLabelValues(pool).Observe(f.since(c.DeletionTimestamp.Time))
	if ending := condition.Get(c, karpv1.ClaimInstanceTerminating); ending != nil && ending.Status == metav1.ConditionTrue {
		f.Metrics.InstanceEndSeconds.WithLabelValues(pool).Observe(f.since(ending.LastTransitionTime.Time))
	}
}

// disown notes whether a node is another provider's; one without a name is none.
func (f *Follower) disown(node string, theirs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !theirs:
		delete(f.theirs, node)
	case node != "":
		if f.theirs == nil {
			f.theirs = map[string]bool{}
		}
		f.theirs[node] = true
	}
}

func (f *Follower) isTheirs(node string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.theirs[node]
}

func (f *Follower) poolSeen(g translate.Generation, before, after translate.PoolResource) {
	if translate.IsForeign(g.View(after).Template.Spec.NodeClassRef) {
		return
	}
	var old []metav1.Condition
	if before != nil {
		old = before.GetConditions()
	}
	f.compare(g.Resource, old, after.GetConditions())
}

func (f *Follower) poolGone(g translate.Generation, p translate.PoolResource) {
	if !translate.IsForeign(g.View(p).Template.Spec.NodeClassRef) {
		f.ended(g.Resource, p.GetDeletionTimestamp())
	}
}

// conditioned is an object that has conditions.
type conditioned interface {
	client.Object
	condition.Object
}

// conditions counts those of objects of a kind, as metrics call it, as they change.
func (f *Follower) conditions(kind string) handler[conditioned] {
	return handler[conditioned]{
		func(before, after conditioned) {
			var old []metav1.Condition
			if before != nil {
				old = before.GetConditions()
			}
			f.compare(kind, old, after.GetConditions())
		},
		func(last conditioned) { f.ended(kind, last.GetDeletionTimestamp()) },
	}
}

// compare counts the conditions whose status has changed. One that is new has
// changed from nothing, and says no length.
func (f *Follower) compare(kind string, before, after []metav1.Condition) {
	f.compareIn("", kind, before, after)
}

// compareIn is compare of what is part of a trace.
func (f *Follower) compareIn(traceID, kind string, before, after []metav1.Condition) {
	if !f.Objects || !f.Leading() {
		return
	}
	for _, now := range after {
		was := find(before, now.Type)
		if was != nil && was.Status == now.Status {
			continue
		}
		f.Metrics.ConditionChanged(kind, now.Type, string(now.Status), now.Reason)
		if was != nil {
			f.Metrics.ConditionLasted(kind, now.Type, string(now.Status), max(now.LastTransitionTime.Sub(was.LastTransitionTime.Time), 0).Seconds(), traceID)
		}
	}
}

func find(list []metav1.Condition, kind string) *metav1.Condition {
	for i := range list {
		if list[i].Type == kind {
			return &list[i]
		}
	}
	return nil
}

// ended counts how long an object took to go.
func (f *Follower) ended(kind string, deletedAt *metav1.Time) {
	if deletedAt != nil && f.Objects && f.Leading() {
		f.Metrics.Ended(kind, f.since(deletedAt.Time))
	}
}

// since is how many seconds ago a moment was. Times of the API are cut to
// seconds, and clocks differ: it is never negative.
func (f *Follower) since(at time.Time) float64 { return max(f.Now().Sub(at), 0).Seconds() }
