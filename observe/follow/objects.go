package follow

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
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
	pool := n.Labels[api.LabelNodePool]
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
			f.Metrics.NodesDrained.WithLabelValues(after.Labels[api.LabelNodePool]).Inc()
		}
	}
	f.compare("nodeclaim", old, after.Status.Conditions)
	f.register(after.Status.NodeName, after.Name)
}

func (f *Follower) claimGone(c *karpv1.NodeClaim) {
	if translate.IsForeign(c.Spec.NodeClassRef) {
		f.disown(c.Status.NodeName, false) // its node went before
		return
	}
	f.ended("nodeclaim", c.DeletionTimestamp)
	f.register(c.Status.NodeName, "")
	if !f.Leading() || c.DeletionTimestamp == nil {
		return
	}
	pool := c.Labels[api.LabelNodePool]
	f.Metrics.ClaimEndSeconds.WithLabelValues(pool).Observe(f.since(c.DeletionTimestamp.Time))
	if ending := condition.Get(c, karpv1.ClaimInstanceTerminating); ending != nil && ending.Status == metav1.ConditionTrue {
		f.Metrics.MachineEndSeconds.WithLabelValues(pool).Observe(f.since(ending.LastTransitionTime.Time))
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

func (f *Follower) poolSeen(before, after *karpv1.NodePool) {
	if translate.IsForeign(after.Spec.Template.Spec.NodeClassRef) {
		return
	}
	var old []metav1.Condition
	if before != nil {
		old = before.Status.Conditions
	}
	f.compare("nodepool", old, after.Status.Conditions)
}

func (f *Follower) poolGone(p *karpv1.NodePool) {
	if !translate.IsForeign(p.Spec.Template.Spec.NodeClassRef) {
		f.ended("nodepool", p.DeletionTimestamp)
	}
}

func (f *Follower) classSeen(before, after *awsv1.EC2NodeClass) {
	var old []metav1.Condition
	if before != nil {
		old = before.Status.Conditions
	}
	f.compare("ec2nodeclass", old, after.Status.Conditions)
}

func (f *Follower) classGone(c *awsv1.EC2NodeClass) { f.ended("ec2nodeclass", c.DeletionTimestamp) }

// compare counts the conditions whose status has changed. One that is new has
// changed from nothing, and says no length.
func (f *Follower) compare(kind string, before, after []metav1.Condition) {
	if !f.Objects || !f.Leading() {
		return
	}
	for _, now := range after {
		was := find(before, now.Type)
		if was != nil && was.Status == now.Status {
			continue
		}
		f.Metrics.ConditionChanges[kind].WithLabelValues(now.Type, string(now.Status), now.Reason).Inc()
		if was != nil {
			f.Metrics.ConditionSeconds[kind].WithLabelValues(now.Type, string(now.Status)).
				Observe(max(now.LastTransitionTime.Sub(was.LastTransitionTime.Time), 0).Seconds())
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
		f.Metrics.TerminationSeconds[kind].Observe(f.since(deletedAt.Time))
	}
}

// since is how many seconds ago a moment was. Times of the API are cut to
// seconds, and clocks differ: it is never negative.
func (f *Follower) since(at time.Time) float64 { return max(f.Now().Sub(at), 0).Seconds() }
