package oracle

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// nodeRules draws selectors, node affinity, tolerations and spreads.
func (g *generator) nodeRules(s *corev1.PodSpec) {
	if g.features.nodeTerms && g.one(4) {
		s.NodeSelector = map[string]string{}
		for range 1 + g.IntN(2) {
			key, values := g.nodeLabel()
			s.NodeSelector[key] = pick(g.dice, values...)
		}
	}
	if g.features.nodeTerms && g.one(3) {
		terms := make([]corev1.NodeSelectorTerm, 1+g.IntN(3))
		for i := range terms {
			terms[i] = g.nodeTerm()
		}
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	if g.features.taints {
		for range g.IntN(3) {
			s.Tolerations = append(s.Tolerations, g.toleration())
		}
	}
	if g.features.spread && !g.one(3) {
		for range 1 + g.IntN(2) {
			g.spread(s)
		}
	}
}

// nodeLabel draws a label of nodes and the values it may have.
func (g *generator) nodeLabel() (key string, values []string) {
	switch g.IntN(8) {
	case 0, 1:
		return api.LabelZone, []string{"zone-a", "zone-b", "zone-c"}
	case 2:
		return api.LabelCapacityType, []string{"on-demand", "spot"}
	case 3:
		return api.LabelArch, []string{"amd64", "arm64"}
	case 4:
		return labelRack, []string{"r1", "r2", "r3"}
	case 5:
		return labelTeam, []string{"a", "b"}
	case 6:
		return api.LabelNodePool, []string{"pool-0", "pool-1"}
	}
	return api.LabelInstanceType, []string{"m0.large", "m1.large", "m2.large"}
}

func (g *generator) nodeTerm() corev1.NodeSelectorTerm {
	var out corev1.NodeSelectorTerm
	for range 1 + g.IntN(2) {
		key, values := g.nodeLabel()
		switch g.IntN(8) {
		case 0, 1, 2, 3:
			out.MatchExpressions = append(out.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: some(g.dice, values...)})
		case 4:
			out.MatchExpressions = append(out.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: some(g.dice, values...)})
		case 5:
			out.MatchExpressions = append(out.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: pick(g.dice, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)})
		case 6:
			out.MatchExpressions = append(out.MatchExpressions, corev1.NodeSelectorRequirement{Key: api.LabelCPU, Operator: pick(g.dice, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt), Values: []string{pick(g.dice, "3", "5")}})
		case 7:
			if len(out.MatchFields) == 0 {
				out.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: pick(g.dice, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(g.dice, "node-00", "node-01", "node-02")}}}
			}
		}
	}
	return out
}

func (g *generator) toleration() corev1.Toleration {
	t := g.taint()
	out := corev1.Toleration{Key: t.Key, Effect: pick(g.dice, t.Effect, "")}
	switch g.IntN(3) {
	case 0:
		out.Operator = corev1.TolerationOpExists
	case 1:
		out.Operator, out.Value = corev1.TolerationOpEqual, t.Value
	case 2:
		out.Value = t.Value
	}
	if g.one(6) {
		out.Key, out.Operator, out.Value = "", corev1.TolerationOpExists, ""
	}
	return out
}

func (g *generator) topologyKey() string {
	return pick(g.dice, api.LabelZone, api.LabelZone, api.LabelHostname, api.LabelHostname, api.LabelCapacityType, labelRack, api.LabelArch)
}

func (g *generator) spread(s *corev1.PodSpec) {
	c := corev1.TopologySpreadConstraint{
		TopologyKey:       g.topologyKey(),
		MaxSkew:           int32(1 + g.IntN(2)),
		WhenUnsatisfiable: pick(g.dice, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		LabelSelector:     g.selector(),
	}
	for _, other := range s.TopologySpreadConstraints {
		if other.TopologyKey == c.TopologyKey && other.WhenUnsatisfiable == c.WhenUnsatisfiable {
			return
		}
	}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.one(3) {
		c.MinDomains = new(int32(1 + g.IntN(4)))
	}
	if g.one(4) {
		c.NodeAffinityPolicy = new(pick(g.dice, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if g.one(3) {
		c.NodeTaintsPolicy = new(pick(g.dice, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if g.one(5) && c.LabelSelector != nil {
		c.MatchLabelKeys = []string{"version"}
	}
	s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, c)
}

// selector draws a selector of pods; one in some chooses all, nothing, or by
// expressions.
func (g *generator) selector() *metav1.LabelSelector {
	switch g.IntN(10) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return nil
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "tier", Operator: pick(g.dice, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}}}
	case 3:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: "app", Operator: pick(g.dice, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn), Values: some(g.dice, "web", "db", "queue")}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(g.dice, "web", "db", "queue")}}
}

// neighbourRules draws affinity and anti-affinity between pods.
func (g *generator) neighbourRules(s *corev1.PodSpec) {
	if !g.features.neighbours || g.one(2) {
		return
	}
	if s.Affinity == nil {
		s.Affinity = &corev1.Affinity{}
	}
	if g.one(2) {
		s.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.terms()}
	}
	if g.one(3) {
		s.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: g.terms()}
	}
	if g.one(4) {
		soft := &corev1.PodAntiAffinity{}
		if s.Affinity.PodAntiAffinity != nil {
			soft = s.Affinity.PodAntiAffinity
		}
		soft.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: g.term()}}
		s.Affinity.PodAntiAffinity = soft
	}
}

func (g *generator) terms() []corev1.PodAffinityTerm {
	out := []corev1.PodAffinityTerm{g.term()}
	if g.one(4) {
		out = append(out, g.term())
	}
	return out
}

func (g *generator) term() corev1.PodAffinityTerm {
	out := corev1.PodAffinityTerm{TopologyKey: g.topologyKey(), LabelSelector: g.selector()}
	switch g.IntN(5) {
	case 0:
		out.Namespaces = some(g.dice, namespaceNames...)
	case 1:
		out.NamespaceSelector = pick(g.dice, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"env": "live"}})
	}
	if out.LabelSelector != nil && g.one(5) {
		out.MatchLabelKeys = []string{"version"}
	} else if out.LabelSelector != nil && g.one(8) {
		out.MismatchLabelKeys = []string{"version"}
	}
	return out
}

// portRules draws ports of the host.
func (g *generator) portRules(s *corev1.PodSpec) {
	if !g.features.ports || g.one(2) {
		return
	}
	p := corev1.ContainerPort{ContainerPort: 8080, HostPort: int32(pick(g.dice, 8080, 8081, 9000)), Protocol: pick(g.dice, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP),
		HostIP: pick(g.dice, "", "", "0.0.0.0", "10.0.0.1", "10.0.0.2")}
	if g.one(6) {
		s.HostNetwork = true
		p.HostPort = p.ContainerPort
	}
	s.Containers[0].Ports = append(s.Containers[0].Ports, p)
}
