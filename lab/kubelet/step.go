package kubelet

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The annotations by which a pod says what its containers do. Durations are
// written as Go writes them, such as 30s; one that does not parse is ignored.
const (
	StartAfter   = "lab.daemok.sh/start-after"   // from being seen by the kubelet to running
	ReadyAfter   = "lab.daemok.sh/ready-after"   // from running to ready; "never" for never
	SucceedAfter = "lab.daemok.sh/succeed-after" // from running to phase Succeeded, whatever the restart policy
	FailAfter    = "lab.daemok.sh/fail-after"    // from running to phase Failed, likewise
	StopAfter    = "lab.daemok.sh/stop-after"    // from deletion to stopped; more than the grace period is killed at its end
)

// Pace is how long pods take that do not say so themselves.
type Pace struct {
	StartAfter time.Duration
	StopAfter  time.Duration
}

// sight is all that a kubelet knows about a pod at one moment.
type sight struct {
	pod     *corev1.Pod
	seenAt  time.Time // by the kubelet, first
	now     time.Time
	pace    Pace
	waiting string // for volumes; "" when there is nothing to wait for
	hostIP  string
	nextIP  func() string
	real    *contained // nil: the pod's containers are emulated
}

// contained is how the containers are that are run for real.
type contained struct {
	statuses map[string]corev1.ContainerStatus // by name; of those that are asked to end, none
	ended    bool
}

// begun reports whether a container has run.
func (c *contained) begun() bool {
	for _, s := range c.statuses {
		if s.State.Running != nil || s.LastTerminationState.Terminated != nil {
			return true
		}
	}
	return false
}

// step is the one thing to do next for a pod: remove it from the API, report a status, or
// check again later. The zero step is to wait for a change.
type step struct {
	remove  bool
	status  *corev1.PodStatus
	recheck time.Duration
}

// next decides what a kubelet does about a pod.
func next(s sight) step {
	switch {
	case terminal(s.pod):
		return step{remove: s.pod.DeletionTimestamp != nil}
	case s.pod.DeletionTimestamp != nil:
		return stop(s)
	case s.pod.Status.Phase == corev1.PodRunning:
		return run(s)
	}
	return start(s)
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// start brings a pod to Running when its volumes are there and its time has come.
func start(s sight) step {
	delay := annotated(s.pod, StartAfter, s.pace.StartAfter)
	if s.waiting != "" {
		return step{status: changed(s.pod, creating(s, s.waiting)), recheck: volumeRecheck}
	}
	if s.real != nil && !s.real.begun() {
		return step{status: changed(s.pod, creating(s, ""))}
	}
	if wait := s.seenAt.Add(delay).Sub(s.now); wait > 0 {
		return step{recheck: wait}
	}
	return step{status: changed(s.pod, running(s)), recheck: untilNext(s)}
}

// run keeps the status of a running pod true and ends it when it says so.
func run(s sight) step {
	startedAt := startedAt(s.pod)
	if due(s, FailAfter, startedAt) {
		return step{status: changed(s.pod, ended(s, corev1.PodFailed, 1))}
	}
	if due(s, SucceedAfter, startedAt) {
		return step{status: changed(s.pod, ended(s, corev1.PodSucceeded, 0))}
	}
	return step{status: changed(s.pod, running(s)), recheck: untilNext(s)}
}

// stop ends a deleted pod: by its own will within the grace period, else
// killed at the end of it. A pod that never ran ends at once.
func stop(s sight) step {
	if s.real != nil {
		if !s.real.ended {
			return step{}
		}
		return step{status: changed(s.pod, ended(s, corev1.PodSucceeded, 0))}
	}
	grace := time.Duration(0)
	if s.pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*s.pod.DeletionGracePeriodSeconds) * time.Second
	}
	takes := annotated(s.pod, StopAfter, s.pace.StopAfter)
	killed := takes > grace
	if s.pod.Status.Phase != corev1.PodRunning {
		takes, killed = 0, false
	}
	asked := s.pod.DeletionTimestamp.Add(-grace)
	if wait := asked.Add(min(takes, grace)).Sub(s.now); wait > 0 {
		return step{recheck: wait}
	}
	switch {
	case killed:
		return step{status: changed(s.pod, ended(s, corev1.PodFailed, 137))}
	case s.pod.Spec.RestartPolicy == corev1.RestartPolicyNever, s.pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		// Work that was to end by itself was cut short: it must not count as done.
		return step{status: changed(s.pod, ended(s, corev1.PodFailed, 143))}
	}
	return step{status: changed(s.pod, ended(s, corev1.PodSucceeded, 0))}
}

// due reports whether the moment named by an annotation has come.
func due(s sight, key string, since time.Time) bool {
	delay := annotated(s.pod, key, -1)
	return delay >= 0 && !s.now.Before(since.Add(delay))
}

// untilNext is the time to the next moment that an annotation names.
func untilNext(s sight) time.Duration {
	since := startedAt(s.pod)
	if since.IsZero() {
		since = s.now
	}
	var soonest time.Duration
	for _, key := range []string{ReadyAfter, SucceedAfter, FailAfter} {
		delay := annotated(s.pod, key, -1)
		wait := since.Add(delay).Sub(s.now)
		if delay >= 0 && wait > 0 && (soonest == 0 || wait < soonest) {
			soonest = wait
		}
	}
	return soonest
}

func startedAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil {
			return c.State.Running.StartedAt.Time
		}
	}
	return time.Time{}
}

// annotated returns the duration that a pod's annotation names, else fallback.
func annotated(pod *corev1.Pod, key string, fallback time.Duration) time.Duration {
	d, err := time.ParseDuration(cmp.Or(pod.Annotations[key], "none"))
	if err != nil {
		return fallback
	}
	return d
}
