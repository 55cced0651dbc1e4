package termination

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// pod builds a pod by changing an ordinary running one.
func pod(name string, change ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for _, c := range change {
		c(&p)
	}
	return p
}

func daemon(p *corev1.Pod) {
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "ds"}}
}
func critical(p *corev1.Pod)  { p.Spec.PriorityClassName = "system-cluster-critical" }
func succeeded(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
func mirror(p *corev1.Pod) {
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
}

func dying(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now.Add(-ago)} }
}

func tolerating(t corev1.Toleration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, t) }
}

func annotated(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: value} }
}

func TestLeaving(t *testing.T) {
	tests := map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"SC-265 ordinary pods leave first": {[]corev1.Pod{pod("a"), pod("d", daemon),
			pod("c", critical), pod("cd", critical, daemon)}, "a"},
		"SC-265 then ordinary daemons": {[]corev1.Pod{pod("d", daemon), pod("c", critical),
			pod("cd", critical, daemon)}, "d"},
		"SC-265 then critical pods": {[]corev1.Pod{pod("c", critical),
			pod("cd", critical, daemon)}, "c"},
		"SC-265 and critical daemons last": {[]corev1.Pod{pod("cd", critical, daemon)}, "cd"},
		"SC-266 a dying pod of the group holds the next one": {[]corev1.Pod{pod("a", dying(time.Second)),
			pod("c", critical)}, "a"},
		"SC-262 finished pods are not waited for":           {[]corev1.Pod{pod("a", succeeded)}, ""},
		"SC-267 static pods are not waited for":             {[]corev1.Pod{pod("a", mirror)}, ""},
		"SC-262 ownerless pods are evicted like others":     {[]corev1.Pod{pod("a")}, "a"},
		"pods stuck a minute beyond their end are given up": {[]corev1.Pod{pod("a", dying(61*time.Second))}, ""},
		"SC-260 tolerating our taint by Exists means staying": {[]corev1.Pod{pod("a",
			tolerating(corev1.Toleration{Key: api.TaintDisrupted, Operator: corev1.TolerationOpExists}))}, ""},
		"SC-260 tolerating our taint by Equal means staying": {[]corev1.Pod{pod("a",
			tolerating(corev1.Toleration{Key: api.TaintDisrupted, Operator: corev1.TolerationOpEqual}))}, ""},
		"SC-260 tolerating everything means staying": {[]corev1.Pod{pod("a",
			tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists}))}, ""},
		"SC-261 tolerating unschedulable nodes means leaving": {[]corev1.Pod{pod("a",
			tolerating(corev1.Toleration{Key: corev1.TaintNodeUnschedulable,
				Operator: corev1.TolerationOpExists}))}, "a"},
		"tolerating our taint's NoExecute form means leaving": {[]corev1.Pod{pod("a",
			tolerating(corev1.Toleration{Key: api.TaintDisrupted, Operator: corev1.TolerationOpExists,
				Effect: corev1.TaintEffectNoExecute}))}, "a"},
		"protected pods are waited for, not skipped (SC-277)": {[]corev1.Pod{pod("a", annotated("true"))}, "a"},
		"a node without pods is drained":                      {nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var names []string
			group, later := leaving(tt.pods, now)
			for _, p := range group {
				names = append(names, p.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("leaving = %q, want %q", got, tt.want)
			}
			for _, p := range later {
				if slices.Contains(names, p.Name) || len(group)+len(later) > len(tt.pods) {
					t.Errorf("pod %s is to leave now and later", p.Name)
				}
			}
		})
	}
}

func TestHowToRemove(t *testing.T) {
	grace := func(seconds int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
	}
	tests := map[string]struct {
		pod      corev1.Pod
		deadline time.Duration // from now; 0 for none
		want     removal
		grace    time.Duration
	}{
		"an ordinary pod is evicted":   {pod("a"), 0, evict, 0},
		"SC-277 a protected pod stays": {pod("a", annotated("true")), 0, leave, 0},
		"SC-277 protection for a time that is over no longer holds": {pod("a", annotated("1m"),
			func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: now.Add(-time.Hour)} }), 0, evict, 0},
		"a value that is no length of time protects nothing": {pod("a", annotated("soon")), 0, evict, 0},
		"a dying pod is left to die":                         {pod("a", dying(time.Second)), 0, leave, 0},
		"SC-272 a pod is deleted early enough for its grace": {pod("a", grace(60)), 50 * time.Second, remove,
			50 * time.Second},
		"SC-272 a pod with a short grace is still evicted": {pod("a", grace(10)), 50 * time.Second, evict, 0},
		"SC-272 the deadline overrides protection": {pod("a", annotated("true"), grace(60)),
			30 * time.Second, remove, 30 * time.Second},
		"SC-272 a dying pod whose end lies beyond it is tightened": {pod("a", dying(-2*time.Minute)), time.Minute,
			remove, time.Minute},
		"SC-275 after the deadline a pod still gets one second": {pod("a", grace(30)), -time.Minute, remove,
			time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var deadline time.Time
			if tt.deadline != 0 {
				deadline = now.Add(tt.deadline)
			}
			if how, grace := howToRemove(&tt.pod, deadline, now, false); how != tt.want || grace != tt.grace {
				t.Errorf("howToRemove = %v, %v; want %v, %v", how, grace, tt.want, tt.grace)
			}
		})
	}
}
