package podspec

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

func TestAPodIsAskedForWhatAdmissionGivesIt(t *testing.T) {
	asks := func(c corev1.Container, own *corev1.ResourceRequirements) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}, Resources: own}}
	}
	limited := corev1.Container{Resources: corev1.ResourceRequirements{Limits: list("cpu", "2")}}
	ranges := []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, DefaultRequest: list("cpu", "1", "memory", "1Gi")}}}}}
	tests := map[string]struct {
		pod    *corev1.Pod
		ranges []*corev1.LimitRange
		want   string
	}{
		"limits where nothing is asked for":            {asks(limited, nil), nil, "cpu=2 pods=1"},
		"the limit range where there is no limit":      {asks(limited, nil), ranges, "cpu=2 memory=1Gi pods=1"},
		"limits of the whole pod":                      {asks(corev1.Container{}, &corev1.ResourceRequirements{Limits: list("cpu", "3")}), nil, "cpu=3 pods=1"},
		"what containers ask for below the pod's own":  {asks(container("1"), &corev1.ResourceRequirements{Limits: list("cpu", "3")}), nil, "cpu=1 pods=1"},
		"what the pod asks for itself, whatever else":  {asks(container("1"), &corev1.ResourceRequirements{Limits: list("cpu", "3"), Requests: list("cpu", "2")}), nil, "cpu=2 pods=1"},
		"what is asked for stays where a limit is too": {asks(corev1.Container{Resources: corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("cpu", "2")}}, nil), nil, "cpu=1 pods=1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			Admit(tt.pod, tt.ranges, nil)
			if got := shapeOf(RulesOf(tt.pod)).Requests.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if len(tt.pod.Spec.Tolerations) != 2 {
				t.Errorf("tolerations are %v, want those of nodes that are not ready or not reachable", tt.pod.Spec.Tolerations)
			}
		})
	}
}

func TestAPodThatToleratesEverythingGetsNoMoreTolerations(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}}
	if Admit(pod, nil, nil); len(pod.Spec.Tolerations) != 1 {
		t.Errorf("got %v", pod.Spec.Tolerations)
	}
}

func TestPodsOfOneTemplateAreAlike(t *testing.T) {
	shape := func(hash string, change ...func(*corev1.Pod)) *cluster.Shape {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: hash}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{container("1")}, TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				MatchLabelKeys: []string{appsv1.DefaultDeploymentUniqueLabelKey},
			}}},
		}
		for _, c := range change {
			c(pod)
		}
		out := shapeOf(RulesOf(pod))
		out.Labels = constraint.NewLabels(pod.Labels)
		return out
	}
	placed := shape("a")
	placed.VolumeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: "zone", Set: constraint.Values("a")})}
	attached := shape("a")
	attached.Volumes = []cluster.Volume{{Driver: "ebs.csi.aws.com"}}
	tests := map[string]struct {
		other *cluster.Shape
		alike bool
	}{
		"the same":                        {shape("a"), true},
		"another version of the template": {shape("b"), true},
		"what every pod tolerates":        {shape("a", func(p *corev1.Pod) { Admit(p, nil, nil) }), true},
		"volumes that lie somewhere":      {placed, true},
		"one volume more":                 {attached, false},
		"more cpu":                        {shape("a", func(p *corev1.Pod) { p.Spec.Containers[0] = container("2") }), false},
		"another label":                   {shape("a", func(p *corev1.Pod) { p.Labels["app"] = "api" }), false},
		"another selector":                {shape("a", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "fast"} }), false},
		"a toleration of its own": {shape("a", func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
		}), false},
		"no spread": {shape("a", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = nil }), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Alike(shape("a"), tt.other); got != tt.alike {
				t.Errorf("Alike = %v, want %v", got, tt.alike)
			}
		})
	}
}
