package podspec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

func TestSpread(t *testing.T) {
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	ignore, honour := corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor
	tests := map[string]struct {
		constraint corev1.TopologySpreadConstraint
		want       cluster.Spread
	}{
		"SC-136 a hard one": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 2, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: web},
			cluster.Spread{Key: "zone", MaxSkew: 2, Selector: choose("app", "web")}},
		"SC-144 one that gives way": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: web},
			cluster.Spread{Key: "zone", MaxSkew: 1, Soft: true, Selector: choose("app", "web")}},
		"SC-131 no selector chooses nobody": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1},
			cluster.Spread{Key: "zone", MaxSkew: 1, Selector: cluster.Selector{Nothing: true}}},
		"SC-132 an empty selector counts nobody either, as in kube-scheduler": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, LabelSelector: &metav1.LabelSelector{}},
			cluster.Spread{Key: "zone", MaxSkew: 1, Selector: cluster.Selector{Nothing: true}}},
		"an older name of a label is today's": {
			corev1.TopologySpreadConstraint{TopologyKey: "failure-domain.beta.kubernetes.io/zone", MaxSkew: 1, LabelSelector: web},
			cluster.Spread{Key: api.LabelZone, MaxSkew: 1, Selector: choose("app", "web")}},
		"SC-139 the least number of domains": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, LabelSelector: web, MinDomains: new(int32(3))},
			cluster.Spread{Key: "zone", MaxSkew: 1, MinDomains: 3, Selector: choose("app", "web")}},
		"SC-151 SC-150 policies other than the default": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, LabelSelector: web, NodeAffinityPolicy: &ignore, NodeTaintsPolicy: &honour},
			cluster.Spread{Key: "zone", MaxSkew: 1, IgnoreNodeTerms: true, HonourTaints: true, Selector: choose("app", "web")}},
		"SC-151 SC-150 the default policies spelt out": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, LabelSelector: web, NodeAffinityPolicy: &honour, NodeTaintsPolicy: &ignore},
			cluster.Spread{Key: "zone", MaxSkew: 1, Selector: choose("app", "web")}},
		"the pod's own values of matchLabelKeys narrow the selector": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, LabelSelector: web, MatchLabelKeys: []string{"hash", "missing"}},
			cluster.Spread{Key: "zone", MaxSkew: 1, Selector: choose("app", "web", "hash", "1")}},
		"matchLabelKeys alone do not choose where there is no selector": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, MatchLabelKeys: []string{"hash"}},
			cluster.Spread{Key: "zone", MaxSkew: 1, Selector: cluster.Selector{Nothing: true}}},
		"but they do where it is empty": {
			corev1.TopologySpreadConstraint{TopologyKey: "zone", MaxSkew: 1, LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"hash"}},
			cluster.Spread{Key: "zone", MaxSkew: 1, Selector: choose("hash", "1")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "hash": "1"}}}
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{tt.constraint}
			got := shapeOf(RulesOf(pod)).Spread
			if len(got) != 1 || fmt.Sprintf("%+v", got[0]) != fmt.Sprintf("%+v", tt.want) {
				t.Errorf("Spread = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// choose is the selector of pods with the given pairs of keys and values.
func choose(pairs ...string) cluster.Selector {
	var out cluster.Selector
	for pair := range slices.Chunk(pairs, 2) {
		out.Requirements = out.Requirements.And(constraint.Requirement{Key: pair[0], Set: constraint.Values(pair[1])})
	}
	return out
}

// TestMergedLabelKeysDoNotTouchTheSelector: two pods may share one selector
// object.
func TestMergedLabelKeysDoNotTouchTheSelector(t *testing.T) {
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for range 2 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"hash": "1"}}}
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", LabelSelector: web, MatchLabelKeys: []string{"hash"}}}
		RulesOf(pod)
	}
	if len(web.MatchLabels) != 1 || len(web.MatchExpressions) != 0 {
		t.Errorf("the selector became %+v", web)
	}
}

func TestNeighbours(t *testing.T) {
	db := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	tests := map[string]struct {
		term corev1.PodAffinityTerm
		want cluster.Neighbours
	}{
		"SC-172 without namespaces the pod's own counts": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db},
			cluster.Neighbours{Key: "zone", Selector: choose("app", "db"), Namespaces: []string{"default"}}},
		"SC-172 a list is taken as it stands": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db, Namespaces: []string{"shop", "bank", "shop"}},
			cluster.Neighbours{Key: "zone", Selector: choose("app", "db"), Namespaces: []string{"bank", "shop"}}},
		"SC-172 an empty namespace selector is all": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db, Namespaces: []string{"shop"}, NamespaceSelector: &metav1.LabelSelector{}},
			cluster.Neighbours{Key: "zone", Selector: choose("app", "db"), AllNamespaces: true}},
		"SC-172 a namespace selector chooses by labels, and adds to the list": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db, Namespaces: []string{"default"}, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "bank"}}},
			cluster.Neighbours{Key: "zone", Selector: choose("app", "db"), Namespaces: []string{"bank", "default"}}},
		"SC-172 a namespace selector that chooses none leaves none": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "other"}}},
			cluster.Neighbours{Key: "zone", Selector: choose("app", "db")}},
		"no selector chooses nobody": {
			corev1.PodAffinityTerm{TopologyKey: "zone"},
			cluster.Neighbours{Key: "zone", Selector: cluster.Selector{Nothing: true}, Namespaces: []string{"default"}}},
		"an empty selector chooses everybody": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{}},
			cluster.Neighbours{Key: "zone", Namespaces: []string{"default"}}},
		"label keys to match": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db, MatchLabelKeys: []string{"hash", "missing"}},
			cluster.Neighbours{Key: "zone", Selector: choose("app", "db", "hash", "1"), Namespaces: []string{"default"}}},
		"label keys not to match": {
			corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: db, MismatchLabelKeys: []string{"hash"}},
			cluster.Neighbours{Key: "zone", Namespaces: []string{"default"}, Selector: cluster.Selector{Requirements: choose("app", "db").Requirements.And(
				constraint.Requirement{Key: "hash", Set: must(constraint.NewSet(constraint.NotIn, "1"))})}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list := []corev1.PodAffinityTerm{tt.term}
			weighted := []corev1.WeightedPodAffinityTerm{{Weight: 7, PodAffinityTerm: tt.term}, {Weight: 0, PodAffinityTerm: tt.term}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"hash": "1"}}}
			pod.Spec.Affinity = &corev1.Affinity{
				PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: list, PreferredDuringSchedulingIgnoredDuringExecution: weighted},
				PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: list, PreferredDuringSchedulingIgnoredDuringExecution: weighted},
			}
			var want []cluster.Neighbours
			for _, weight := range []int32{0, 7} {
				for _, apart := range []bool{false, true} {
					n := tt.want
					n.Apart, n.Weight = apart, weight
					want = append(want, n)
				}
			}
			if got := shapeOf(RulesOf(pod)).Neighbours; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("Neighbours = %+v\nwant %+v", got, want)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestPreferences(t *testing.T) {
	zone := func(z string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: api.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{z}}}}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: 5, Preference: zone("a")}, {Weight: 90, Preference: zone("b")}, {Weight: 0, Preference: zone("c")}, {Weight: 9},
	}}}}}
	got := shapeOf(RulesOf(pod)).Preferences
	if len(got) != 2 || got[0].Weight != 5 || got[1].Term.String() != api.LabelZone+" in b" {
		t.Errorf("SC-176: Preferences = %+v, want those on a and b in the pod's order, without those that weigh or say nothing", got)
	}
	if got := shapeOf(ForEveryNode(pod)).Preferences; len(got) != 0 {
		t.Errorf("SC-94: preferences of a daemon pod are %+v, want none", got)
	}
}

func TestPorts(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	with := func(ports ...corev1.ContainerPort) corev1.Container { return corev1.Container{Ports: ports} }
	tests := map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"a port of a container is none of the host":    {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{ContainerPort: 80})}}, "[]"},
		"SC-109 a port of the host":                    {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{HostPort: 80})}}, "[{TCP 80 }]"},
		"SC-111 its protocol":                          {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{HostPort: 80, Protocol: "UDP"})}}, "[{UDP 80 }]"},
		"SC-110 all addresses":                         {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{HostPort: 80, HostIP: "0.0.0.0"})}}, "[{TCP 80 }]"},
		"one address":                                  {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.1"})}}, "[{TCP 80 10.0.0.1}]"},
		"the scheduler sees :: as one address":         {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{HostPort: 80, HostIP: "::"})}}, "[{TCP 80 ::}]"},
		"on the host's network every port is one":      {corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{with(corev1.ContainerPort{ContainerPort: 80})}}, "[{TCP 80 }]"},
		"sidecars hold theirs, init containers do not": {corev1.PodSpec{InitContainers: []corev1.Container{with(corev1.ContainerPort{HostPort: 1}), {RestartPolicy: &always, Ports: []corev1.ContainerPort{{HostPort: 2}}}}}, "[{TCP 2 }]"},
		"sorted and each once":                         {corev1.PodSpec{Containers: []corev1.Container{with(corev1.ContainerPort{HostPort: 9}, corev1.ContainerPort{HostPort: 8}), with(corev1.ContainerPort{HostPort: 9})}}, "[{TCP 8 } {TCP 9 }]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(shapeOf(RulesOf(&corev1.Pod{Spec: tt.spec})).Ports); got != tt.want {
				t.Errorf("Ports = %s, want %s", got, tt.want)
			}
		})
	}
}

// TestReads: a selector reads the labels of the namespaces it searches.
func TestReads(t *testing.T) {
	shape := cluster.Shape{Namespace: "default", Spread: []cluster.Spread{{Selector: choose("app", "web", "hash", "1")}},
		Neighbours: []cluster.Neighbours{{Selector: choose("app", "db"), Namespaces: []string{"bank", "shop"}}, {Selector: choose("team", "one"), AllNamespaces: true}}}
	var got []string
	Reads(&shape, func(namespace string, all bool, key string) {
		got = append(got, fmt.Sprintf("%s/%v/%s", namespace, all, key))
	})
	if want := "default/false/app default/false/hash bank/false/app shop/false/app /true/team"; strings.Join(got, " ") != want {
		t.Errorf("Reads told %v, want %s", got, want)
	}
}

func TestACordonedNodeIsTaintedOnce(t *testing.T) {
	n := &corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}}
	want := "node.kubernetes.io/unschedulable:NoSchedule"
	for _, taints := range [][]corev1.Taint{nil, {{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}} {
		n.Spec.Taints = taints
		if got := translate.Node(n, nil, false).Taints; len(got) != 1 || got[0].String() != want {
			t.Errorf("taints = %v, want %s once", got, want)
		}
	}
}

func TestAComparisonOfTolerationsMatchesNothing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{
		{Key: "load", Operator: "Gt", Value: "5"}, {Key: "a", Value: "1"}, {Key: "b", Operator: corev1.TolerationOpEqual, Value: "1"}, {Operator: corev1.TolerationOpExists}}}}
	if got := shapeOf(RulesOf(pod)).Tolerations; len(got) != 3 || got[0].Key != "a" || !got[2].Exists {
		t.Errorf("Tolerations = %v, want those but the comparison", got)
	}
}
