package podspec

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

func container(cpu string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}
}

func sidecar(cpu string) corev1.Container {
	always := corev1.ContainerRestartPolicyAlways
	c := container(cpu)
	c.RestartPolicy = &always
	return c
}

func TestPodRequests(t *testing.T) {
	tests := map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"containers add up":                                {corev1.PodSpec{Containers: []corev1.Container{container("1"), container("500m")}}, "cpu=1500m pods=1"},
		"SC-65 the peak of the init containers counts":     {corev1.PodSpec{InitContainers: []corev1.Container{container("3"), container("2")}, Containers: []corev1.Container{container("1")}}, "cpu=3 pods=1"},
		"SC-67 a sidecar adds to the main containers":      {corev1.PodSpec{InitContainers: []corev1.Container{sidecar("1")}, Containers: []corev1.Container{container("1")}}, "cpu=2 pods=1"},
		"SC-67 and to init containers after it":            {corev1.PodSpec{InitContainers: []corev1.Container{sidecar("1"), container("3")}, Containers: []corev1.Container{container("1")}}, "cpu=4 pods=1"},
		"SC-67 but not to init containers before it":       {corev1.PodSpec{InitContainers: []corev1.Container{container("3"), sidecar("1")}, Containers: []corev1.Container{container("1")}}, "cpu=3 pods=1"},
		"SC-64 the overhead of the runtime class is added": {corev1.PodSpec{Overhead: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}, Containers: []corev1.Container{container("1")}}, "cpu=1250m pods=1"},
		"SC-69 pod-level requests override the sum": {corev1.PodSpec{
			Resources:  &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5")}},
			Containers: []corev1.Container{container("1")},
		}, "cpu=5 pods=1"},
		"SC-72 a request of nothing is fine":     {corev1.PodSpec{Containers: []corev1.Container{container("0")}}, "pods=1"},
		"a tenth of a millicore is rounded up":   {corev1.PodSpec{Containers: []corev1.Container{container("100u")}}, "cpu=1m pods=1"},
		"extended resources are counted as such": {corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")}}}}}, "pods=1 nvidia.com/gpu=2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := PodRequests(&corev1.Pod{Spec: tt.spec}).String(); got != tt.want {
				t.Errorf("requests = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestResizeInPlaceCountsTheLargerAmount(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{container("1")}}}
	p.Spec.Containers[0].Name = "c"
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:               "c",
		AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
		Resources:          &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
	}}
	if got := PodRequests(p); got.CPU != 2000 {
		t.Errorf("SC-71: requests = %s, want the 2 cores it still holds", got)
	}
}

func TestNodeTerms(t *testing.T) {
	affinity := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	expressions := func(list ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: list}
	}
	zone := corev1.NodeSelectorRequirement{Key: api.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}
	tests := map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"no selector admits every node":                       {corev1.PodSpec{}, ""},
		"a selector is one term":                              {corev1.PodSpec{NodeSelector: map[string]string{"x": "1"}}, "x in 1"},
		"SC-34 the selector holds in every alternative":       {corev1.PodSpec{NodeSelector: map[string]string{"x": "1"}, Affinity: affinity(expressions(zone), expressions(corev1.NodeSelectorRequirement{Key: "y", Operator: corev1.NodeSelectorOpExists}))}, "topology.kubernetes.io/zone in a; x in 1 | x in 1; y exists"},
		"SC-39 older names of labels behave as today's":       {corev1.PodSpec{NodeSelector: map[string]string{"beta.kubernetes.io/arch": "arm64"}}, "kubernetes.io/arch in arm64"},
		"an empty alternative matches nothing, the rest does": {corev1.PodSpec{Affinity: affinity(corev1.NodeSelectorTerm{}, expressions(zone))}, "topology.kubernetes.io/zone in a"},
		"only empty alternatives match no node":               {corev1.PodSpec{Affinity: affinity(corev1.NodeSelectorTerm{})}, translate.FieldName + " nothing"},
		"a comparison with a word matches no node":            {corev1.PodSpec{Affinity: affinity(expressions(corev1.NodeSelectorRequirement{Key: "n", Operator: corev1.NodeSelectorOpGt, Values: []string{"many"}}))}, translate.FieldName + " nothing"},
		"a field is a node's name":                            {corev1.PodSpec{Affinity: affinity(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}}}})}, translate.FieldName + " in n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var words []string
			for _, term := range NodeTerms(&tt.spec) {
				words = append(words, term.String())
			}
			if got := strings.Join(words, " | "); got != tt.want {
				t.Errorf("terms = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestADaemonPodsOwnNodeDoesNotBindTheRule(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}}},
		}}},
	}}}}
	if got := shapeOf(ForEveryNode(pod)).NodeTerms; len(got) != 0 {
		t.Errorf("SC-92: terms = %v, want none", got)
	}
	if got := shapeOf(RulesOf(pod)).NodeTerms; len(got) != 1 {
		t.Errorf("the pod itself is bound to its node: terms = %v", got)
	}
}

func TestRulesNotFollowedYetAreNamed(t *testing.T) {
	tests := map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"an ordinary pod":               {corev1.PodSpec{}, ""},
		"a feature of some nodes":       {corev1.PodSpec{HostNetwork: true, HostUsers: new(false)}, "UserNamespacesHostNetworkSupport"},
		"another feature of some nodes": {corev1.PodSpec{InitContainers: []corev1.Container{{RestartPolicyRules: []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}}}}, "RestartAllContainers"},
		"the host's network alone":      {corev1.PodSpec{HostNetwork: true, HostUsers: new(true)}, ""},
		"an unreadable pod spread":      {corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{LabelSelector: unreadable}}}, "topologySpreadConstraints[0]"},
		"an unreadable neighbour":       {corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: unreadable}}}}}, "labelSelector of pod affinity"},
		"an unreadable namespace":       {corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{NamespaceSelector: unreadable}}}}}, "namespaceSelector of pod affinity"},
		"SC-157 affinity of nobody":     {corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}, NodeAffinity: &corev1.NodeAffinity{}}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := shapeOf(RulesOf(&corev1.Pod{Spec: tt.spec})).Unable
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("Unable = %q, want it to name %q", got, tt.want)
			}
		})
	}
}

var unreadable = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Likes", Values: []string{"web"}}}}

// shapeOf is the shape of rules in a cluster with the namespaces shop and
// bank, whose labels are their own names, and team, which they share.
func shapeOf(r Rules) *cluster.Shape {
	shape := r.Shape(func(by labels.Selector) []string {
		var out []string
		for _, name := range []string{"shop", "bank"} {
			if by.Matches(labels.Set{"name": name, "team": "one"}) {
				out = append(out, name)
			}
		}
		return out
	})
	return &shape
}

// Cluster Autoscaler's safe-to-evict counts where the option says so: "false" protects whatever Karpenter's own words
// say, and "true" lets a pod go that nothing creates again.
func TestSafeToEvict(t *testing.T) {
	tests := map[string]struct {
		value            string
		counts           mark.ClusterAutoscaler
		protects, mayEnd bool
	}{
		"false protects":             {"false", true, true, false},
		"true lets it end":           {"true", true, false, true},
		"another word means nothing": {"never", true, false, false},
		"false, without the option":  {"false", false, false, false},
		"true, without the option":   {"true", false, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Annotations = map[string]string{api.AnnotationSafeToEvict: tt.value}
			p, holds := Pod(pod, time.Now(), tt.counts), DoNotDisrupt(pod, time.Now(), tt.counts)
			if p.DoNotDisrupt != tt.protects || p.NotSafeToEvict != tt.protects || holds != tt.protects {
				t.Errorf("protected: %v, %v and %v, want %v", p.DoNotDisrupt, p.NotSafeToEvict, holds, tt.protects)
			}
			if got := StandingOf(pod, tt.counts).MayEnd; got != tt.mayEnd {
				t.Errorf("it may end: %v, want %v", got, tt.mayEnd)
			}
		})
	}
}

// Cluster Autoscaler passes over pods of DaemonSets and static pods, so that the annotation keeps no node for them.
func TestSafeToEvictOfDaemonPodsKeepsNoNode(t *testing.T) {
	for _, kind := range []string{"DaemonSet", "Node"} {
		pod := &corev1.Pod{}
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Controller: new(true)}}
		pod.Annotations = map[string]string{api.AnnotationSafeToEvict: "false"}
		if p := Pod(pod, time.Now(), true); p.DoNotDisrupt || p.NotSafeToEvict || DoNotDisrupt(pod, time.Now(), true) {
			t.Errorf("a pod of a %s is protected", kind)
		}
		pod.Annotations[api.AnnotationDoNotDisrupt] = "true"
		if p := Pod(pod, time.Now(), true); !p.DoNotDisrupt || p.NotSafeToEvict {
			t.Errorf("of a pod of a %s Karpenter's own word does not count alone", kind)
		}
	}
}

// The v1alpha5 API's word protects a pod whatever the newer one says, and neither
// static pods nor those that are ending.
func TestDoNotEvict(t *testing.T) {
	said := func(value string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationDoNotEvict: value}}}
	}
	changed := func(f func(*corev1.Pod)) *corev1.Pod {
		p := said("true")
		f(p)
		return p
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"true protects":               {said("true"), true},
		"false does not":              {said("false"), false},
		"nor does a length of time":   {said("1h"), false},
		"the newer word adds nothing": {changed(func(p *corev1.Pod) { p.Annotations[api.AnnotationDoNotDisrupt] = "false" }), true},
		"a static pod is not meant":   {changed(func(p *corev1.Pod) { p.Annotations[corev1.MirrorPodAnnotationKey] = "x" }), false},
		"nor is one that is ending":   {changed(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), false},
		"nor one that is finished":    {changed(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), false},
		"nor one that has failed":     {changed(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Pod(tt.pod, time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC), false); got.DoNotDisrupt != tt.want || !got.ProtectedUntil.IsZero() {
				t.Errorf("protected: %v until %v, want %v for ever", got.DoNotDisrupt, got.ProtectedUntil, tt.want)
			}
		})
	}
}

func TestDoNotDisrupt(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		value string
		age   time.Duration
		want  bool
	}{
		"true protects":  {"true", time.Hour, true},
		"false does not": {"false", time.Hour, false},
		"SC-277 a duration protects from the start": {"30m", 29 * time.Minute, true},
		"SC-277 and then no longer":                 {"30m", 31 * time.Minute, false},
		"nonsense protects nothing":                 {"soon", time.Minute, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationDoNotDisrupt: tt.value}}}
			p.Status.StartTime = &metav1.Time{Time: now.Add(-tt.age)}
			if got := DoNotDisrupt(p, now, false); got != tt.want {
				t.Errorf("DoNotDisrupt = %v, want %v", got, tt.want)
			}
		})
	}
}
