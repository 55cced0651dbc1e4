package stories_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A NodeOverlay decides what EC2 launches, against its own prices, and which nodes stay; another one that says the
// same is in conflict until the first is gone.
func TestOverlaysDecideWhatIsLaunched(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("{disruption: {consolidateAfter: 5s}, " + template(s.namespace,
		"{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.2xlarge]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}") + "}")
	first, second := s.namespace+"-z", s.namespace+"-a"
	s.overlay(first, "m5.2xlarge", "0.001")
	s.await("the overlay to be applied", overlays, s.overlayIs(first, "True ValidationSucceeded"))
	s.overlay(second, "m5.2xlarge", "9")
	s.await("the other to be in conflict", overlays, s.overlayIs(second, "False Conflict"))
	s.workload("inflate", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", running(1))
	s.await("it to run on the type that the overlay makes cheaper", "v1/Node", s.ofType("m5.2xlarge"))
	s.await("the claim to say so", claims, func(list []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(list, func(c *unstructured.Unstructured) bool {
			return c.GetLabels()["karpenter.sh/nodepool"] == s.namespace &&
				c.GetAnnotations()["karpenter.sh/price-overlay-applied"] == "true"
		})
	})
	s.drop(overlays, first)
	s.await("the other to be applied", overlays, s.overlayIs(second, "True ValidationSucceeded"))
	s.await("the node to be replaced by one that is cheaper now", "v1/Node", s.ofType("m5.large"))
	s.drop(overlays, second)
}

const overlays = "karpenter.sh/v1alpha1/NodeOverlay"

// overlay makes a NodeOverlay that sets the price of an instance type in the story's pool.
func (s *story) overlay(name, instanceType, price string) {
	s.kubectlApply(fmt.Sprintf(`apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: %s}
spec:
  requirements:
  - {key: karpenter.sh/nodepool, operator: In, values: [%s]}
  - {key: node.kubernetes.io/instance-type, operator: In, values: [%s]}
  price: %q
`, name, s.namespace, instanceType, price))
}

// overlayIs reports whether the condition ValidationSucceeded of a NodeOverlay has this status and reason.
func (s *story) overlayIs(name, want string) func([]*unstructured.Unstructured) bool {
	return func(list []*unstructured.Unstructured) bool {
		for _, o := range list {
			conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
			for _, c := range conditions {
				is, _ := c.(map[string]any)
				if o.GetName() == name && is["type"] == "ValidationSucceeded" {
					return fmt.Sprint(is["status"], " ", is["reason"]) == want
				}
			}
		}
		return false
	}
}

// ofType reports whether the story's pool has one node, of an instance type.
func (s *story) ofType(instanceType string) func([]*unstructured.Unstructured) bool {
	return func(list []*unstructured.Unstructured) bool {
		ours := slices.DeleteFunc(slices.Clone(list), func(n *unstructured.Unstructured) bool {
			return n.GetLabels()["karpenter.sh/nodepool"] != s.namespace
		})
		return len(ours) == 1 && ours[0].GetLabels()["node.kubernetes.io/instance-type"] == instanceType
	}
}
