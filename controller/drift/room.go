package drift

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
)

// waitsFor is how long a DaemonSet's pod must have found no room on its node before the
// node counts as too small: other pods may leave, or be preempted.
const waitsFor = 5 * time.Minute

// lack is a pod of a DaemonSet that its node has no room for.
type lack struct {
	pod, of string    // by namespace and name
	newAt   time.Time // when the DaemonSet was made
}

// lacks are by node; nil: not known.
type lacks map[string][]lack

// findLacks checks the pods of DaemonSets whose owners ask for it, and no others: most
// clusters have none of these.
func (f *Finder) findLacks(ctx context.Context) (lacks, error) {
	var sets appsv1.DaemonSetList
	if err := f.Store.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil { // only read
		return nil, fmt.Errorf("list DaemonSets that nodes may have no room for: %w", err)
	}
	out := lacks{}
	for i := range sets.Items {
		set := &sets.Items[i]
		if set.Annotations[api.AnnotationMakeRoom] != "true" || set.Status.NumberUnavailable == 0 {
			continue
		}
		var pods corev1.PodList
		if err := f.Store.List(ctx, &pods, client.InNamespace(set.Namespace),
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list pods of DaemonSet %s/%s: %w", set.Namespace, set.Name, err)
		}
		for j := range pods.Items {
			pod := &pods.Items[j]
			if node := nodeFor(pod); node != "" && metav1.IsControlledBy(pod, set) && noRoom(pod, f.Now()) {
				out[node] = append(out[node],
					lack{pod.Namespace + "/" + pod.Name, set.Namespace + "/" + set.Name, set.CreationTimestamp.Time})
			}
		}
	}
	return out, nil
}

// nodeFor is the node that a DaemonSet's pod was made for; empty for others.
func nodeFor(pod *corev1.Pod) string {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == "metadata.name" && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// noRoom reports whether the scheduler has said for long enough that the node is
// too full, in the words of its rule on resources: no other instance type would
// do anything about other obstacles.
func noRoom(pod *corev1.Pod, now time.Time) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || pod.Status.NominatedNodeName != "" {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			full := strings.Contains(c.Message, "Insufficient ") || strings.Contains(c.Message, "Too many pods")
			return full && now.Sub(c.LastTransitionTime.Time) >= waitsFor
		}
	}
	return false
}

// lacksRoom is about instances older than the DaemonSet: one that was launched since has
// room for its pod, and where it has none another would not have either.
func (s *subject) lacksRoom() (differs string, known bool) {
	if s.lacks == nil {
		return "", false
	}
	for _, l := range s.lacks[s.claim.Status.NodeName] {
		if s.claim.CreationTimestamp.Time.Before(l.newAt) {
			return fmt.Sprintf("no room for pod %s of DaemonSet %s, which asks for it by annotation %s", l.pod, l.of,
				api.AnnotationMakeRoom), true
		}
	}
	return "", true
}
