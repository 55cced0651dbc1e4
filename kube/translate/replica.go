package translate

import (
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// isOwn reports whether a label tells one replica, or one revision of a
// workload, from another.
func isOwn(label string) bool {
	switch label {
	case "pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index":
		return true
	}
	return false
}

// ReplicaLabels are the labels of a pod that all replicas of its workload share,
// those of other revisions too.
func ReplicaLabels(pod map[string]string) map[string]string {
	out := maps.Clone(pod)
	maps.DeleteFunc(out, func(label, _ string) bool { return isOwn(label) })
	return out
}

// Lasting names what keeps making pods like those of an owner: of a Job that a
// CronJob made, the CronJob, and else the owner itself. Such a Job is known by its
// name, which ends in the minute for which it was due: the hour before its pod was
// made is believed, so that other Jobs with numbers in their names stay what they are.
func Lasting(owner string, podMadeAt time.Time) string {
	name, isJob := strings.CutPrefix(owner, "Job/")
	if !isJob {
		return owner
	}
	cut := strings.LastIndexByte(name, '-')
	minute, err := strconv.ParseInt(name[cut+1:], 10, 64)
	if late := podMadeAt.Unix()/60 - minute; cut <= 0 || err != nil || late < 0 || late > 60 {
		return owner
	}
	return "CronJob/" + name[:cut]
}

// AreReplicas reports whether pods of one namespace with these labels are
// replicas of one workload. Pods without labels are not.
func AreReplicas(a, b map[string]string) bool {
	return len(a) > 0 && covers(a, b) && covers(b, a)
}

func covers(all, some map[string]string) bool {
	for label, value := range some {
		if has, there := all[label]; !isOwn(label) && (!there || has != value) {
			return false
		}
	}
	return true
}

// IsUp reports whether the pod's kubelet says that it is ready, and nobody has
// asked it to end.
func IsUp(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || IsTerminal(pod) || pod.Spec.NodeName == "" {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Start is how long the pod took from having a node until its kubelet said that it
// is ready, in whole seconds as the API tells moments; known is false while it is
// not. Of a pod that was unready in between it is the time until it was ready again.
func Start(pod *corev1.Pod) (took time.Duration, known bool) {
	var bound, ready time.Time
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == corev1.PodScheduled:
			bound = c.LastTransitionTime.Time
		case c.Type == corev1.PodReady:
			ready = c.LastTransitionTime.Time
		}
	}
	if bound.IsZero() || ready.Before(bound) {
		return 0, false
	}
	return ready.Sub(bound), true
}
