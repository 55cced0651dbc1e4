package stories_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const quotas = "autoscaling.x-k8s.io/v1beta1/CapacityQuota"

// A CapacityQuota of the nodes of a pool keeps further ones from being launched until it allows them, and its status
// says what is used.
func TestACapacityQuotaKeepsNodesFromBeingLaunched(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("{" + template(s.namespace, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}") +
		", disruption: {consolidateAfter: 10s}}")
	s.quota(2)
	s.workload("inflate", s.namespace, "1", 4)
	s.await("as many nodes as the quota allows", "v1/Node", ofPool(s.namespace, 2))
	s.awaitEvent(eventsOfCluster, "NodePool", s.namespace, "LimitReached",
		"CapacityQuota/"+s.namespace+": nodes limit reached")
	s.await("the status to say what is used", quotas, s.usesNodes("2"))
	s.await("no more nodes than that", "v1/Node", ofPool(s.namespace, 2))
	s.quota(4)
	s.await("all pods to run", "v1/Pod", running(4))
	s.await("four nodes", "v1/Node", ofPool(s.namespace, 4))
	s.drop(quotas, s.namespace)
}

// quota makes a CapacityQuota of so many nodes of the story's pool, or changes it.
func (s *story) quota(nodes int) {
	s.kubectlApply(fmt.Sprintf(`apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityQuota
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {karpenter.sh/nodepool: %[1]s}}
  limits: {resources: {nodes: %[2]d}}
`, s.namespace, nodes))
}

// usesNodes reports whether the status of the story's CapacityQuota says that so many nodes are used.
func (s *story) usesNodes(n string) func([]*unstructured.Unstructured) bool {
	return func(list []*unstructured.Unstructured) bool {
		for _, q := range named(list, s.namespace) {
			used, _, _ := unstructured.NestedString(q.Object, "status", "used", "resources", "nodes")
			return used == n
		}
		return false
	}
}
