// Package steering reads and writes the taint of nodes that are to empty, and the deletion cost of
// their pods. Because of the taint kube-scheduler prefers other nodes, and because of the cost
// ReplicaSets that scale down delete those pods first.
//
// It promises never to change what a user set, nor to mistake it for Daemok's: a taint of the same key
// with a value or another effect, and a deletion cost that is not the one that Daemok recorded beside
// it. It chooses no node and calls no API server.
package steering

import (
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// Taint adds the taint of nodes that are to empty, with the time. It reports whether the node changed; one with a taint
// that a user set by the same key does not. The taints are a list of their own then: those of a cache are not written.
func Taint(node *corev1.Node, now time.Time) (changed bool) {
	if _, users := UsersTaint(node); users || IsTainted(node) {
		return false
	}
	at := metav1.NewTime(now)
	node.Spec.Taints = append(slices.Clone(node.Spec.Taints), corev1.Taint{Key: api.TaintEmptying, Effect: corev1.TaintEffectPreferNoSchedule, TimeAdded: &at})
	return true
}

// Untaint takes it away again. It reports whether the node changed.
func Untaint(node *corev1.Node) (changed bool) {
	before := node.Spec.Taints
	node.Spec.Taints = slices.DeleteFunc(slices.Clone(before), isOurs)
	return len(node.Spec.Taints) != len(before)
}

// IsTainted reports whether the node has Daemok's taint.
func IsTainted(node *corev1.Node) bool { return slices.ContainsFunc(node.Spec.Taints, isOurs) }

// Since is when the taint was added; zero where it is not there or has no time.
func Since(node *corev1.Node) time.Time {
	if at := slices.IndexFunc(node.Spec.Taints, isOurs); at >= 0 && node.Spec.Taints[at].TimeAdded != nil {
		return node.Spec.Taints[at].TimeAdded.UTC()
	}
	return time.Time{}
}

// UsersTaint is a taint of the same key that is not Daemok's.
func UsersTaint(node *corev1.Node) (taint corev1.Taint, found bool) {
	at := slices.IndexFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == api.TaintEmptying && !isOurs(t) })
	if at < 0 {
		return corev1.Taint{}, false
	}
	return node.Spec.Taints[at], true
}

func isOurs(t corev1.Taint) bool {
	return t.Key == api.TaintEmptying && t.Value == "" && t.Effect == corev1.TaintEffectPreferNoSchedule
}

// Cost is the deletion cost that Daemok gave the pod; false where it gave none, or a user has set another since.
func Cost(pod *corev1.Pod) (cost int32, ours bool) {
	noted, is := pod.Annotations[api.AnnotationDeletionCost]
	if !is || noted != pod.Annotations[api.AnnotationPodDeletionCost] {
		return 0, false
	}
	parsed, err := strconv.ParseInt(noted, 10, 32)
	return int32(parsed), err == nil
}

// HasUsersCost reports whether a user gave the pod a deletion cost, be it understood or not.
func HasUsersCost(pod *corev1.Pod) bool {
	_, set := pod.Annotations[api.AnnotationPodDeletionCost]
	_, ours := Cost(pod)
	return set && !ours
}

// SetCost gives the pod a deletion cost. It reports whether the pod changed; one that has a user's does not.
func SetCost(pod *corev1.Pod, cost int32) (changed bool) {
	if have, ours := Cost(pod); ours && have == cost || HasUsersCost(pod) {
		return false
	}
	out := maps.Clone(pod.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	text := strconv.FormatInt(int64(cost), 10)
	out[api.AnnotationPodDeletionCost], out[api.AnnotationDeletionCost] = text, text
	pod.Annotations = out
	return true
}

// ClearCost takes Daemok's deletion cost from the pod, and its note of it. It reports whether the pod changed.
func ClearCost(pod *corev1.Pod) (changed bool) {
	if _, noted := pod.Annotations[api.AnnotationDeletionCost]; !noted {
		return false
	}
	out := maps.Clone(pod.Annotations)
	if _, ours := Cost(pod); ours {
		delete(out, api.AnnotationPodDeletionCost)
	}
	delete(out, api.AnnotationDeletionCost)
	pod.Annotations = out
	return true
}
