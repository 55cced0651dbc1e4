package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/translate"
)

// spreads converts the topology spread constraints of a pod with the given
// labels, in their order.
func spreads(list []corev1.TopologySpreadConstraint, labels map[string]string) ([]cluster.Spread, error) {
	var out []cluster.Spread
	for i := range list {
		s, err := spread(&list[i], labels)
		if err != nil {
			return nil, fmt.Errorf("topologySpreadConstraints[%d].labelSelector: %w", i, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func spread(c *corev1.TopologySpreadConstraint, labels map[string]string) (cluster.Spread, error) {
	chosen, err := selector(c.LabelSelector)
	if err != nil {
		return cluster.Spread{}, err
	}
	chosen = withLabels(chosen, c.MatchLabelKeys, labels, constraint.In)
	if len(chosen.Requirements) == 0 {
		chosen.Nothing = true // kube-scheduler counts no pods for an empty selector
	}
	out := cluster.Spread{
		Key:             translate.NormaliseKey(c.TopologyKey),
		Selector:        chosen,
		MaxSkew:         c.MaxSkew,
		Soft:            c.WhenUnsatisfiable == corev1.ScheduleAnyway,
		IgnoreNodeTerms: c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore,
		HonourTaints:    c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
	}
	if c.MinDomains != nil {
		out.MinDomains = *c.MinDomains
	}
	return out, nil
}
