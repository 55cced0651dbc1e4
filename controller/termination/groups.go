// Package termination drains nodes that are being deleted, and terminates their instances. It evicts
// pods in order, and deletes the Node object only when the instance is gone.
//
// It promises never to bypass a PodDisruptionBudget or a do-not-disrupt annotation before the node's
// deadline, while there is an instance. It does not choose nodes.
package termination

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// stuckAfter is how long after its own deadline a terminating pod is still
// waited for; its kubelet is probably gone.
const stuckAfter = time.Minute

// leaving returns the pods that the drain still waits for: the group that is to
// leave now, and those whose turn comes later. Ordinary pods are first, then
// ordinary daemons, then critical pods, then critical daemons. No group at all
// means the node is drained.
func leaving(pods []corev1.Pod, now time.Time) (group, later []corev1.Pod) {
	var groups [4][]corev1.Pod
	for _, p := range pods {
		if !waitedFor(&p, now) {
			continue
		}
		g := 0
		if isCritical(&p) {
			g += 2
		}
		if podspec.IsDaemon(&p) {
			g++
		}
		groups[g] = append(groups[g], p)
	}
	for _, g := range groups {
		if len(group) == 0 {
			group = g
		} else {
			later = append(later, g...)
		}
	}
	return group, later
}

// waitedFor reports whether the node must not go while the pod is on it.
func waitedFor(p *corev1.Pod, now time.Time) bool {
	if podspec.IsTerminal(p) || podspec.IsMirror(p) || podspec.Stays(p) {
		return false
	}
	return p.DeletionTimestamp == nil || now.Before(p.DeletionTimestamp.Add(stuckAfter))
}

func isCritical(p *corev1.Pod) bool {
	return p.Spec.PriorityClassName == "system-cluster-critical" || p.Spec.PriorityClassName == "system-node-critical"
}

// removal is how one pod is asked to leave.
type removal int

const (
	leave  removal = iota // nothing to do now: protected, or on its way
	evict                 // through the eviction API, which respects budgets
	remove                // deleted, because the node's deadline leaves no more time
)

// howToRemove decides about one pod. deadline is zero where the node may take
// any time. grace is how long the pod gets when it is removed.
func howToRemove(p *corev1.Pod, deadline, now time.Time, autoscaler mark.ClusterAutoscaler) (how removal, grace time.Duration) {
	if !deadline.IsZero() {
		left := max(deadline.Sub(now), time.Second)
		full := podspec.Grace(p)
		switch {
		case p.DeletionTimestamp != nil && p.DeletionTimestamp.After(deadline):
			return remove, left
		case p.DeletionTimestamp == nil && !now.Before(deadline.Add(-full)):
			return remove, min(full, left)
		}
	}
	if p.DeletionTimestamp != nil || podspec.DoNotDisrupt(p, now, autoscaler) {
		return leave, 0
	}
	return evict, 0
}
