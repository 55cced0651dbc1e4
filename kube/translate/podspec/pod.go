// Package podspec converts Pods to core values: what they request of nodes, of volumes and of other pods, and
// what their workloads and PodDisruptionBudgets say of their eviction.
//
// It promises to be pure, as package translate, and to leave a pod to kube-scheduler alone whose rules it
// does not know: it names the rule.
package podspec

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/steering"
)

// Pod converts a pod, without its shape. Of one on a node that has a controller it says that it
// returns; Workload.Judge reports whether that holds. autoscaler says whether annotations of Cluster Autoscaler count.
func Pod(pod *corev1.Pod, now time.Time, autoscaler mark.ClusterAutoscaler) cluster.Pod {
	daemon, mirror := ownedBy(pod, "DaemonSet"), IsMirror(pod)
	ending := pod.DeletionTimestamp != nil || IsTerminal(pod)
	out := cluster.Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID),
		Owner:        owner(pod),
		CreatedAt:    pod.CreationTimestamp.UTC(),
		Node:         pod.Spec.NodeName,
		Daemon:       daemon,
		Mirror:       mirror,
		Ending:       ending,
		Returns:      !daemon && !mirror && !IsTerminal(pod) && (pod.DeletionTimestamp == nil || ownedBy(pod, "StatefulSet")),
		Completes:    ownedBy(pod, "Job"),
		Stays:        Stays(pod),
		Unready:      isUnready(pod),
		Pending:      pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending,
		Grace:        Grace(pod),
		DeletionCost: usersCost(pod),
	}
	if pod.Status.StartTime != nil {
		out.StartedAt = pod.Status.StartTime.UTC()
	}
	if out.Returns && out.Node != "" && metav1.GetControllerOfNoCopy(pod) == nil {
		ends(&out, noController, StandingOf(pod, autoscaler))
	}
	if !ending {
		out.DoNotDisrupt, out.ProtectedUntil = protection(pod, now, autoscaler)
		out.DoNotEvict = doNotEvict(pod)
		out.NotSafeToEvict = notSafeToEvict(pod, autoscaler)
	}
	return out
}

// Grace is how long the pod is given to end in.
func Grace(pod *corev1.Pod) time.Duration {
	if pod.Spec.TerminationGracePeriodSeconds == nil {
		return corev1.DefaultTerminationGracePeriodSeconds * time.Second
	}
	return time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
}

// IsWaiting reports whether the scheduler has tried to find a node for the pod and has none for it
// yet: it found none, so that the pod needs a new one, or it could not place the pod for an error
// of its own, a call that ran out of time say, and tries again: the pod needs its room all the
// same, and what was launched for others may have no part of it. Pods that are gated, bound,
// ending, daemons or mirrors are not waiting.
func IsWaiting(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || IsTerminal(pod) {
		return false
	}
	if ownedBy(pod, "DaemonSet") || IsMirror(pod) {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse &&
				(c.Reason == corev1.PodReasonUnschedulable || c.Reason == corev1.PodReasonSchedulerError)
		}
	}
	return false
}

// IsUnjudged reports whether the default scheduler has yet to try to find a node for the pod. Other
// schedulers may hold pods back without reporting it.
func IsUnjudged(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || IsTerminal(pod) || len(pod.Spec.SchedulingGates) > 0 {
		return false
	}
	if name := pod.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName || IsDaemon(pod) || IsMirror(pod) {
		return false
	}
	return !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
}

// IsTerminal reports whether the pod has succeeded or failed.
func IsTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// IsMirror reports whether the pod mirrors a static pod of its node.
func IsMirror(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || ownedBy(pod, "Node")
}

// IsDaemon reports whether a DaemonSet owns the pod.
func IsDaemon(pod *corev1.Pod) bool { return ownedBy(pod, "DaemonSet") }

// DoNotDisrupt reports whether the annotation karpenter.sh/do-not-disrupt
// protects the pod now: "true" always, a duration from the pod's start on.
// Any other value protects nothing. The v1alpha5 API's word for it,
// karpenter.sh/do-not-evict, protects as "true" alone, and no static pod.
// So does safe-to-evict: "false", where that counts, and no pod of a DaemonSet.
func DoNotDisrupt(pod *corev1.Pod, now time.Time, autoscaler mark.ClusterAutoscaler) bool {
	holds, _ := protection(pod, now, autoscaler)
	return holds
}

// protection also reports when the protection ends by itself; zero: never, or there is none. A pod
// that has not started counts from its creation.
func protection(pod *corev1.Pod, now time.Time, autoscaler mark.ClusterAutoscaler) (holds bool, until time.Time) {
	value, present := pod.Annotations[api.AnnotationDoNotDisrupt]
	switch {
	case doNotEvict(pod), notSafeToEvict(pod, autoscaler):
		return true, time.Time{}
	case !present || value == "true":
		return present, time.Time{}
	}
	length, err := time.ParseDuration(value)
	if err != nil || length <= 0 {
		return false, time.Time{}
	}
	start := pod.CreationTimestamp.UTC()
	if pod.Status.StartTime != nil {
		start = pod.Status.StartTime.UTC()
	}
	if until = start.Add(length); !now.Before(until) {
		return false, time.Time{}
	}
	return true, until
}

// notSafeToEvict passes over pods that end with their node, as Cluster Autoscaler does.
func notSafeToEvict(pod *corev1.Pod, autoscaler mark.ClusterAutoscaler) bool {
	return autoscaler.KeepsPod(pod) && !IsDaemon(pod) && !IsMirror(pod)
}

func doNotEvict(pod *corev1.Pod) bool {
	return pod.Annotations[api.AnnotationDoNotEvict] == "true" && !IsMirror(pod)
}

// Misprotected is the value of karpenter.sh/do-not-disrupt on a pod that is
// not understood and so protects nothing; empty where there is none.
func Misprotected(pod *corev1.Pod) string {
	value, present := pod.Annotations[api.AnnotationDoNotDisrupt]
	if length, err := time.ParseDuration(value); !present || value == "true" || value == "false" || err == nil && length >= 0 {
		return ""
	}
	return strconv.Quote(value)
}

// Stays reports whether the pod asked to stay on nodes that leave, by a
// toleration that names our taint or every taint.
func Stays(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		if t.Effect != "" && t.Effect != corev1.TaintEffectNoSchedule {
			return false
		}
		if t.Key == "" {
			return t.Operator == corev1.TolerationOpExists
		}
		return t.Key == api.TaintDisrupted && (t.Operator == corev1.TolerationOpExists || t.Value == "")
	})
}

// isUnready reports whether the pod's kubelet says that it is not ready; one
// that nothing is said of yet is not meant.
func isUnready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}

// usersCost is what the pod's owner says of the order in which its pods should go; zero where it says nothing that is
// understood. What Daemok says since the node is to empty says nothing of what moving the pod costs.
func usersCost(pod *corev1.Pod) int32 {
	if _, ours := steering.Cost(pod); ours {
		return 0
	}
	return DeletionCost(pod)
}

// DeletionCost is what ReplicaSets that scale down go by, whichever controller or user set it; zero where it is not
// set or not understood.
func DeletionCost(pod *corev1.Pod) int32 {
	cost, err := strconv.ParseInt(pod.Annotations[api.AnnotationPodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int32(cost)
}

// unable says why no instance can be launched for the pod: the rule that placing does not follow.
// An instance launched without it might not help.
func unable(spec *corev1.PodSpec) string {
	var rule string
	switch {
	case spec.HostNetwork && spec.HostUsers != nil && !*spec.HostUsers:
		rule = "hostNetwork together with hostUsers: false, for which a node must declare the feature UserNamespacesHostNetworkSupport"
	case slices.ContainsFunc(spec.Containers, restartsAll) || slices.ContainsFunc(spec.InitContainers, restartsAll):
		rule = "restartPolicyRules with RestartAllContainers, for which a node must declare the feature RestartAllContainersOnContainerExits"
	default:
		return ""
	}
	return "the pod uses " + rule + ", for which this version does not launch instances yet; it waits for room on nodes that exist"
}

func restartsAll(c corev1.Container) bool {
	return slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
		return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
	})
}

func priority(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

func ownedBy(pod *corev1.Pod, kind string) bool {
	for _, o := range pod.OwnerReferences {
		if o.Kind == kind && (o.Controller == nil || *o.Controller) {
			return true
		}
	}
	return false
}

// owner names the pod's controller: "Deployment/web" where a ReplicaSet's name
// shows it was made by one.
func owner(pod *corev1.Pod) string {
	o := metav1.GetControllerOf(pod)
	if o == nil {
		return ""
	}
	if hash := pod.Labels["pod-template-hash"]; o.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(o.Name, "-"+hash); ok {
			return "Deployment/" + name
		}
	}
	return o.Kind + "/" + o.Name
}
