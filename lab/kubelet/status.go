package kubelet

import (
	"fmt"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// changed returns the status when it differs from the one the pod has.
func changed(pod *corev1.Pod, status corev1.PodStatus) *corev1.PodStatus {
	if equality.Semantic.DeepEqual(pod.Status, status) {
		return nil
	}
	return &status
}

// creating is the status of a pod whose containers cannot start yet.
func creating(s sight, why string) corev1.PodStatus {
	status := base(s, corev1.PodPending)
	status.ContainerStatuses = nil
	for _, c := range s.pod.Spec.Containers {
		cs := containerStatus(s, c)
		cs.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating", Message: why}
		contain(s, &cs)
		status.ContainerStatuses = append(status.ContainerStatuses, cs)
	}
	setReady(s, &status, false, "ContainersNotReady")
	return status
}

// running is the status of a pod all of whose containers run.
func running(s sight) corev1.PodStatus {
	status := base(s, corev1.PodRunning)
	if status.PodIP == "" {
		status.PodIP = s.hostIP
		if !s.pod.Spec.HostNetwork {
			status.PodIP = s.nextIP()
		}
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	}
	since := metav1.NewTime(s.now).Rfc3339Copy()
	if at := startedAt(s.pod); !at.IsZero() {
		since = metav1.NewTime(at)
	}
	ready := containersReady(s, since)
	allReady := ready
	status.ContainerStatuses = nil
	for _, c := range s.pod.Spec.Containers {
		cs := runningContainer(s, c, since, ready)
		contain(s, &cs)
		allReady = allReady && cs.Ready
		status.ContainerStatuses = append(status.ContainerStatuses, cs)
	}
	status.InitContainerStatuses = nil
	for _, c := range s.pod.Spec.InitContainers {
		status.InitContainerStatuses = append(status.InitContainerStatuses, initContainer(s, c, since))
	}
	setReady(s, &status, allReady, "ContainersNotReady")
	return status
}

// ended is the status of a pod whose containers have all exited.
func ended(s sight, phase corev1.PodPhase, code int32) corev1.PodStatus {
	status := base(s, phase)
	began := metav1.NewTime(startedAt(s.pod))
	for i := range status.ContainerStatuses {
		c := &status.ContainerStatuses[i]
		c.Ready, c.Started = false, new(bool)
		c.State = exited(began, metav1.NewTime(s.now).Rfc3339Copy(), code)
	}
	reason := "PodCompleted"
	if phase == corev1.PodFailed {
		reason = "PodFailed"
	}
	setReady(s, &status, false, reason)
	return status
}

// base is what every status of an admitted pod says.
func base(s sight, phase corev1.PodPhase) corev1.PodStatus {
	status := *s.pod.Status.DeepCopy()
	status.Phase = phase
	status.ObservedGeneration = s.pod.Generation
	status.HostIP = s.hostIP
	status.HostIPs = []corev1.HostIP{{IP: s.hostIP}}
	if status.StartTime == nil {
		at := metav1.NewTime(s.seenAt).Rfc3339Copy()
		status.StartTime = &at
	}
	setCondition(s, &status, corev1.PodScheduled, true, "")
	setCondition(s, &status, "PodReadyToStartContainers", phase == corev1.PodRunning, "")
	setCondition(s, &status, corev1.PodInitialized, phase != corev1.PodPending, "ContainersNotInitialized")
	return status
}

// containersReady reports whether the readiness probes would pass.
func containersReady(s sight, since metav1.Time) bool {
	if s.pod.Annotations[ReadyAfter] == "never" {
		return false
	}
	return annotated(s.pod, ReadyAfter, -1) < 0 || due(s, ReadyAfter, since.Time)
}

// setReady sets both conditions of readiness; a pod is ready when its
// containers and all its readiness gates are.
func setReady(s sight, status *corev1.PodStatus, containers bool, reason string) {
	setCondition(s, status, corev1.ContainersReady, containers, reason)
	ready := containers
	for _, gate := range s.pod.Spec.ReadinessGates {
		i := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		if i < 0 || status.Conditions[i].Status != corev1.ConditionTrue {
			if ready {
				reason = "ReadinessGatesNotReady"
			}
			ready = false
		}
	}
	setCondition(s, status, corev1.PodReady, ready, reason)
}

// setCondition sets one condition; the reason counts only for False. The time
// of transition moves when the status does.
func setCondition(s sight, status *corev1.PodStatus, kind corev1.PodConditionType, is bool, reason string) {
	want := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, ObservedGeneration: s.pod.Generation}
	if is {
		want.Status, want.Reason = corev1.ConditionTrue, ""
	}
	want.LastTransitionTime = metav1.NewTime(s.now).Rfc3339Copy()
	i := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		status.Conditions = append(status.Conditions, want)
		return
	}
	if have := status.Conditions[i]; have.Status == want.Status {
		want.LastTransitionTime = have.LastTransitionTime
	}
	status.Conditions[i] = want
}

// contain has the status of a container that is run for real say how it is.
func contain(s sight, cs *corev1.ContainerStatus) {
	if s.real == nil {
		return
	}
	if is, ok := s.real.statuses[cs.Name]; ok {
		cs.State, cs.LastTerminationState, cs.RestartCount = is.State, is.LastTerminationState, is.RestartCount
		cs.Ready, cs.Started = is.Ready, is.Started
	}
}

func containerStatus(s sight, c corev1.Container) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: new(bool), ImageID: ""}
}

func runningContainer(s sight, c corev1.Container, since metav1.Time, ready bool) corev1.ContainerStatus {
	started := true
	cs := containerStatus(s, c)
	cs.Started, cs.Ready = &started, ready
	cs.ContainerID = containerID(s, c.Name)
	cs.ImageID = c.Image
	cs.AllocatedResources = c.Resources.Requests.DeepCopy()
	cs.Resources = c.Resources.DeepCopy()
	cs.State.Running = &corev1.ContainerStateRunning{StartedAt: since}
	return cs
}

// initContainer is done by the time a pod runs, unless it is a sidecar.
func initContainer(s sight, c corev1.Container, since metav1.Time) corev1.ContainerStatus {
	cs := runningContainer(s, c, since, true)
	if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		cs.Started = new(bool)
		cs.State = exited(since, since, 0)
		cs.State.Terminated.ContainerID = cs.ContainerID
	}
	return cs
}

func exited(from, to metav1.Time, code int32) corev1.ContainerState {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: from, FinishedAt: to,
	}}
}

func containerID(s sight, name string) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s", s.pod.UID, name)
	return fmt.Sprintf("containerd://%064x", h.Sum(nil))
}
