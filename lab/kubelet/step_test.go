package kubelet

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *metav1.Time { t := metav1.NewTime(noon.Add(d)); return &t }

// bound is a pod that its kubelet first sees at noon.
func bound(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1", Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "main", Image: "pause"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func annotate(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

// runs makes it a pod that runs since noon.
func runs(p *corev1.Pod) { p.Status = running(look(p, 0)) }

// deleted makes it a pod that was asked at noon to go within a grace period.
func deleted(grace time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		seconds := int64(grace / time.Second)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = at(grace), &seconds
	}
}

func look(pod *corev1.Pod, after time.Duration) sight {
	return sight{
		pod: pod, seenAt: noon, now: noon.Add(after), pace: Pace{StartAfter: 2 * time.Second, StopAfter: time.Second},
		hostIP: "10.0.0.1", nextIP: func() string { return "10.128.0.1" },
	}
}

// say puts a step in a few words.
func say(s step) string {
	var words []string
	if s.remove {
		words = append(words, "remove")
	}
	if s.status != nil {
		words = append(words, string(s.status.Phase))
		for _, c := range s.status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				words = append(words, "ready")
			}
		}
	}
	if s.recheck > 0 {
		words = append(words, "look in "+s.recheck.String())
	}
	return strings.Join(words, ", ")
}

func TestNext(t *testing.T) {
	gate := func(p *corev1.Pod) { p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "lb"}} }
	open := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "lb", Status: corev1.ConditionTrue})
	}
	batch := func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }
	failed := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	tests := map[string]struct {
		pod   *corev1.Pod
		after time.Duration
		want  string
	}{
		"a new pod takes the usual time to start":       {bound(), 0, "look in 2s"},
		"then it runs and is ready":                     {bound(), 2 * time.Second, "Running, ready"},
		"a pod may say how long it takes to start":      {bound(annotate(StartAfter, "1m")), 30 * time.Second, "look in 30s"},
		"a pod that runs is left alone":                 {bound(runs), time.Hour, ""},
		"a pod may be slow to get ready":                {bound(annotate(ReadyAfter, "30s")), 2 * time.Second, "Running, look in 30s"},
		"and gets ready in the end":                     {bound(annotate(ReadyAfter, "30s"), runs), 30 * time.Second, "Running, ready"},
		"a pod may never get ready":                     {bound(annotate(ReadyAfter, "never"), runs), time.Hour, ""},
		"a closed readiness gate keeps it from ready":   {bound(gate), 2 * time.Second, "Running"},
		"an opened readiness gate makes it ready":       {bound(gate, runs, open), time.Minute, "Running, ready"},
		"a pod that succeeds is looked at in time":      {bound(annotate(SucceedAfter, "30s")), 2 * time.Second, "Running, ready, look in 30s"},
		"it succeeds at its time":                       {bound(annotate(SucceedAfter, "30s"), runs), 30 * time.Second, "Succeeded"},
		"a pod may fail":                                {bound(annotate(FailAfter, "30s"), runs), 31 * time.Second, "Failed"},
		"a pod that ended is left alone":                {bound(failed), time.Hour, ""},
		"a pod that ended is removed when deleted":      {bound(failed, deleted(0)), 0, "remove"},
		"a deleted pod takes the usual time to stop":    {bound(runs, deleted(30*time.Second)), 0, "look in 1s"},
		"then it ends by itself":                        {bound(runs, deleted(30*time.Second)), time.Second, "Succeeded"},
		"a stubborn pod has its whole grace period":     {bound(annotate(StopAfter, "1h"), runs, deleted(30*time.Second)), 29 * time.Second, "look in 1s"},
		"and is killed at its end":                      {bound(annotate(StopAfter, "1h"), runs, deleted(30*time.Second)), 30 * time.Second, "Failed"},
		"a pod that never ran ends at once":             {bound(deleted(30 * time.Second)), 0, "Succeeded"},
		"a job cut short has failed":                    {bound(batch, runs, deleted(30*time.Second)), time.Second, "Failed"},
		"an annotation that is no duration is not read": {bound(annotate(SucceedAfter, "soon"), runs), time.Hour, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := say(next(look(tt.pod, tt.after))); got != tt.want {
				t.Errorf("next after %v = %q, want %q", tt.after, got, tt.want)
			}
		})
	}
}

func TestNextWaitsForVolumes(t *testing.T) {
	s := look(bound(), time.Hour)
	s.waiting = "volume v1 is not attached"
	got := next(s)
	if say(got) != "Pending, look in 200ms" {
		t.Errorf("next = %q, want a pending pod that is looked at again", say(got))
	}
	if why := got.status.ContainerStatuses[0].State.Waiting; why.Reason != "ContainerCreating" || why.Message != s.waiting {
		t.Errorf("waiting = %+v, want ContainerCreating and the reason", why)
	}
}

// What the status says beside the phase is what other controllers read.
func TestRunningStatus(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := bound(func(p *corev1.Pod) {
		p.Generation = 3
		p.Spec.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "mesh", RestartPolicy: &always}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *at(-time.Hour)}}
	})
	got := running(look(pod, time.Minute))
	if got.PodIP != "10.128.0.1" || got.HostIP != "10.0.0.1" || got.ObservedGeneration != 3 || !got.StartTime.Equal(at(0)) {
		t.Errorf("addresses, generation or start are wrong: %+v", got)
	}
	if c := got.ContainerStatuses[0]; !c.Ready || !*c.Started || c.State.Running == nil || c.ContainerID == "" {
		t.Errorf("container = %+v, want it running, started and ready", c)
	}
	if got.InitContainerStatuses[0].State.Terminated == nil || got.InitContainerStatuses[1].State.Running == nil {
		t.Errorf("init containers = %+v, want the first done and the sidecar running", got.InitContainerStatuses)
	}
	if c := got.Conditions[0]; !c.LastTransitionTime.Equal(at(-time.Hour)) {
		t.Errorf("PodScheduled moved to %v, want the scheduler's time kept", c.LastTransitionTime)
	}
}
