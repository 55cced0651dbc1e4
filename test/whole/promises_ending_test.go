package whole_test

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/test/market"
)

// byUs is how an instance ends that was terminated by a call.
const byUs = "Client.UserInitiatedShutdown"

// unseen is how young a pod on its node is that a look right before the node's end may miss.
const unseen = time.Second

// overdue reports whether a pod may be deleted whatever protects it: its node must be empty
// by now, less the time that the pod may take.
func (p *promises) overdue(node *corev1.Node, pod *corev1.Pod) bool {
	for _, c := range p.claims {
		if c.Status.ProviderID != node.Spec.ProviderID {
			continue
		}
		at, err := time.Parse(time.RFC3339, c.Annotations[api.AnnotationTerminationTimestamp])
		if err == nil && !time.Now().Before(at.Add(-time.Duration(*pod.Spec.TerminationGracePeriodSeconds)*time.Second)) {
			return true
		}
	}
	return false
}

// deletesPod looks at a pod that the controller deletes without an eviction: no kubelet is
// left to end it.
func (p *promises) deletesPod(pod *corev1.Pod) {
	node := p.nodes[pod.Spec.NodeName]
	if node == nil || podspec.IsTerminal(pod) {
		return
	}
	m, known := p.instance(translate.InstanceID(node.Spec.ProviderID))
	if known && isThere(&m) && !p.overdue(node, pod) {
		p.breaks("no pod ends without an eviction", "pod "+pod.Name,
			"it is deleted though instance %s of its node %s is %s", m.ID, node.Name, m.At(time.Now()))
	}
}

// endsRight looks at an instance that was terminated by a call: nothing ran on it any more.
func (p *promises) endsRight(m *market.Machine) {
	if p.ended[m.ID] || m.EndsAt.IsZero() || isThere(m) {
		return
	}
	p.ended[m.ID] = true
	node := p.nodeOf("aws:///" + m.Pool.Zone + "/" + m.ID)
	if m.Reason != byUs || node == nil {
		return
	}
	for _, c := range p.claims {
		if c.Status.ProviderID == node.Spec.ProviderID && !condition.IsTrue(c, karpv1.ClaimRegistered) && !has(unregistered) {
			return
		}
	}
	p.carries(node, m.EndsAt, "instance "+m.ID+" was terminated")
}

// saysItTerminates looks at a NodeClaim that says so of its instance: AWS was asked, and did not
// answer that it does not know the instance yet.
func (p *promises) saysItTerminates(c *karpv1.NodeClaim) {
	if m, known := p.instanceOf(c); known && isThere(&m) {
		p.breaks("an instance terminates whose NodeClaim says so", "NodeClaim "+c.Name,
			"instance %s is %s, %s after its launch", m.ID, m.At(time.Now()), time.Since(m.LaunchedAt).Round(time.Second))
	}
}

// letsNodeGo looks at a node that the controller lets go: nothing runs on it any more. That its
// instance runs may be what AWS denied.
func (p *promises) letsNodeGo(n *corev1.Node) {
	if m, known := p.instance(translate.InstanceID(n.Spec.ProviderID)); known && isThere(&m) {
		p.carries(n, time.Now(), "the node was let go")
	}
}

// carries reports pods that were on a node when something happened that ends them.
func (p *promises) carries(n *corev1.Node, at time.Time, what string) {
	for _, pod := range p.pods {
		switch {
		case pod.Spec.NodeName != n.Name, podspec.IsTerminal(pod.Pod), at.Sub(pod.boundAt) < unseen, p.overdue(n, pod.Pod):
		case pod.DeletionTimestamp != nil && !at.Before(pod.DeletionTimestamp.Time):
		default:
			p.breaks("no pod ends without an eviction", "pod "+pod.Name, "%s while it ran on node %s, since %s", what, n.Name, at.Sub(pod.boundAt).Round(time.Second))
		}
	}
}

// disrupts looks at a NodeClaim that the controller deletes by choice: the pool's budgets
// allow that.
func (p *promises) disrupts(c *karpv1.NodeClaim) {
	why := condition.Get(c, karpv1.ClaimDisruptionReason)
	if why == nil || why.Status != "True" || why.Reason == "Expired" || why.Reason == "Overprovisioned" {
		return
	}
	p.voluntary[c.UID] = true
	pool := p.pools[c.Labels[api.LabelNodePool]]
	if pool == nil {
		return
	}
	p.keepsMinimum(c, pool)
	p.keepsPlaces(c)
	going, all := 0, 0
	for _, o := range p.claims {
		if o.Labels[api.LabelNodePool] == pool.Name && !condition.IsTrue(o, karpv1.ClaimInstanceTerminating) {
			all++
			if p.voluntary[o.UID] {
				going++
			}
		}
	}
	if most := allowedOf(pool, all); going > most {
		p.breaks("budgets hold", "NodeClaim "+c.Name, "%s: with it %d of %d nodes of NodePool %s go, and %d may", why.Reason, going, all, pool.Name, most)
	}
}

// allowedOf is how many of so many nodes may go at a time; budgets of stories have neither
// reasons nor schedules.
func allowedOf(pool *karpv1.NodePool, nodes int) int {
	most := nodes
	for _, b := range pool.Spec.Disruption.Budgets {
		share, isShare := strings.CutSuffix(b.Nodes, "%")
		n, err := strconv.Atoi(share)
		if err != nil || len(b.Reasons) > 0 || b.Schedule != nil {
			continue
		}
		if isShare {
			n = (n*nodes + 99) / 100
		}
		most = min(most, n)
	}
	return most
}
