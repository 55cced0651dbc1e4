package podspec

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func TestDaemonPodsAskForWhatAdmissionGivesThem(t *testing.T) {
	limits := []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypePod, DefaultRequest: list("cpu", "9")},
		{Type: corev1.LimitTypeContainer, DefaultRequest: list("cpu", "100m", "memory", "64Mi")},
	}}}}
	heavy := &nodev1.RuntimeClass{Overhead: &nodev1.Overhead{PodFixed: list("cpu", "250m")}}
	tests := map[string]struct {
		resources corev1.ResourceRequirements
		ranges    []*corev1.LimitRange
		class     *nodev1.RuntimeClass
		want      string
	}{
		"nothing asked": {corev1.ResourceRequirements{}, nil, nil, "pods=1"},
		"SC-74 SC-70 limits stand in for requests": {corev1.ResourceRequirements{Limits: list("cpu", "2")}, nil, nil, "cpu=2 pods=1"},
		"SC-87 the defaults of a limit range":      {corev1.ResourceRequirements{}, limits, nil, "cpu=100m memory=64Mi pods=1"},
		"SC-87 own requests and limits first":      {corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("memory", "1Gi")}, limits, nil, "cpu=1 memory=1Gi pods=1"},
		"SC-64 the overhead of a runtime class":    {corev1.ResourceRequirements{Requests: list("cpu", "1")}, nil, heavy, "cpu=1250m pods=1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ds := &appsv1.DaemonSet{}
			ds.Spec.Template.Spec.Containers = []corev1.Container{{Resources: tt.resources}}
			if got := shapeOf(ForEveryNode(DaemonPod(ds, tt.ranges, tt.class))).Requests.String(); got != tt.want {
				t.Errorf("requests = %s, want %s", got, tt.want)
			}
			if got := ds.Spec.Template.Spec.Containers[0].Resources; len(got.Requests) != len(tt.resources.Requests) {
				t.Errorf("the DaemonSet itself was changed: %v", got)
			}
		})
	}
}

// The API server has a pod with limits of its own ask for these; the template says
// nothing of it, and no pod may be there yet.
func TestDaemonPodsAskForTheLimitsOfThePod(t *testing.T) {
	ds := &appsv1.DaemonSet{}
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
	ds.Spec.Template.Spec.Resources = &corev1.ResourceRequirements{Limits: list("cpu", "1", "memory", "512Mi")}
	if got, want := shapeOf(ForEveryNode(DaemonPod(ds, nil, nil))).Requests.String(), "cpu=1 memory=512Mi pods=1"; got != want {
		t.Errorf("requests = %s, want %s", got, want)
	}
	if len(ds.Spec.Template.Spec.Resources.Requests) > 0 {
		t.Error("the DaemonSet itself was changed")
	}
}

func TestDaemonPodsTolerateWhatTheirControllerSays(t *testing.T) {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system"}}
	ds.Spec.Template.Spec.HostNetwork = true
	class := &nodev1.RuntimeClass{Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "yes"}, Tolerations: []corev1.Toleration{{Key: "sandbox", Operator: corev1.TolerationOpExists}}}}
	shape := shapeOf(ForEveryNode(DaemonPod(ds, nil, class)))
	var words []string
	for _, tolerated := range shape.Tolerations {
		words = append(words, tolerated.String())
	}
	for _, want := range []string{"node.kubernetes.io/unschedulable:NoSchedule", "node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/network-unavailable:NoSchedule"} {
		if !strings.Contains(strings.Join(words, " "), want) {
			t.Errorf("tolerations are %v, want %s among them", words, want)
		}
	}
	if strings.Contains(strings.Join(words, " "), "sandbox") {
		t.Errorf("tolerations are %v: the DaemonSet's controller makes no pod where only the runtime class tolerates", words)
	}
	if len(shape.NodeTerms) != 1 || shape.NodeTerms[0].String() != "sandbox in yes" || shape.Namespace != "kube-system" {
		t.Errorf("shape = %+v, want the nodes of the runtime class", shape)
	}
}

func TestResizeThatCanNeverBeGivenCountsWhatIsHeld(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{container("8")}}}
	p.Spec.Containers[0].Name = "c"
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "c", AllocatedResources: list("cpu", "2"), Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1")},
	}}
	if got := PodRequests(p); got.CPU != 8000 {
		t.Errorf("SC-71: requests = %s while the resize may come, want the 8 cores asked for", got)
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
	if got := PodRequests(p); got.CPU != 2000 {
		t.Errorf("SC-71: requests = %s, want the 2 cores that are held", got)
	}
}

func TestResizeOfAWholePodCountsTheLargerAmount(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", Resources: &corev1.ResourceRequirements{Requests: list("cpu", "1")}, Containers: []corev1.Container{container("1")}}}
	p.Status.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "3")}
	p.Status.AllocatedResources = list("cpu", "3")
	if got := PodRequests(p); got.CPU != 3000 {
		t.Errorf("SC-71: requests = %s, want the 3 cores that the pod still holds", got)
	}
}
