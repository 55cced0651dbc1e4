package stories_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What is on demand, and what is paid for already, in a lab of its own: commitments concern all in it.
func TestOnDemandMinimumAndCommitments(t *testing.T) {
	t.Parallel()
	l := ownLab(t)
	t.Run("a workload keeps its nodes on demand", func(t *testing.T) { begin(t, l).keepsOnDemand() })
	t.Run("commitments decide what is launched", func(t *testing.T) { begin(t, l).followsCommitments() })
}

// SC-657: two of four pods are on demand, also after a spot instance was interrupted, and after consolidation has moved
// those on spot to a larger node, which has room for a third.
func (s *story) keepsOnDemand() {
	s.pool("{disruption: {consolidateAfter: 5s, budgets: [{nodes: '100%'}]}, " + template(s.namespace,
		"{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.2xlarge]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}") + "}")
	s.deploy("web", 4, from(s.namespace), asking(corev1.ResourceCPU, "1"), noted("daemok.sh/on-demand-minimum", "2"))
	s.await("four pods to run", "v1/Pod", running(4))
	s.await("two nodes on demand and two on spot", "v1/Node", s.balanced(2, 2))
	onDemand := s.ofOption("on-demand")
	lost := s.ofOption("spot")[0]
	mustLab(s.T, 0, s.dir, "interrupt", lost)
	s.awaitFor(3*limit, "the spot node to go", "v1/Node", left([]string{lost}, none))
	s.await("four pods to run again", "v1/Pod", running(4))
	s.await("two nodes on demand and two on spot again", "v1/Node", s.balanced(2, 2))
	s.workload("batch", s.namespace, "4", 1)
	s.awaitFor(3*limit, "the pods on spot to share one node", "v1/Node", s.balanced(2, 1))
	s.await("all pods to run", "v1/Pod", running(5))
	for _, node := range onDemand {
		s.awaitEvent(eventsOfCluster, "Node", node, "Unconsolidatable", "on-demand minimum")
	}
	s.await("the same nodes on demand", "v1/Node", func(list []*unstructured.Unstructured) bool {
		return len(still(list, onDemand)) == len(onDemand) && s.balanced(2, 1)(list)
	})
}

// SC-658: pods move to a type that Reserved Instances pay for, though its price is higher.
func (s *story) followsCommitments() {
	s.pool("{disruption: {consolidateAfter: 5s, budgets: [{nodes: '100%'}]}, " + template(s.namespace,
		"{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, r5.large]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}") + "}")
	s.workload("web", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", running(1))
	s.await("it to run on the cheapest type", "v1/Node", s.ofType("m5.large"))
	s.commits("reservedInstances: [{id: db, instanceType: r5.large, count: 1}]")
	s.awaitFor(3*limit, "it to move to what is paid for", "v1/Node", s.ofType("r5.large"))
	s.await("it to run there", "v1/Pod", running(1))
}

// commits writes the ConfigMap of commitments.
func (s *story) commits(file string) {
	s.Helper()
	c := &corev1.ConfigMap{Data: map[string]string{"commitments.yaml": file}}
	c.Namespace, c.Name = "kube-system", "daemok-commitments"
	if err := s.client.Create(s.Context(), c); err != nil {
		s.Fatal(err)
	}
}

// ofOption lists the nodes of the story's pool that have a capacity type.
func (s *story) ofOption(option string) (names []string) {
	for _, n := range inPool(s.list("v1/Node"), s.namespace) {
		if n.GetLabels()["karpenter.sh/capacity-type"] == option {
			names = append(names, n.GetName())
		}
	}
	return names
}

// balanced reports whether the story's pool has so many nodes on demand and on spot, and no others.
func (s *story) balanced(onDemand, spot int) func([]*unstructured.Unstructured) bool {
	return func(list []*unstructured.Unstructured) bool {
		ours := inPool(list, s.namespace)
		on := slices.DeleteFunc(slices.Clone(ours), func(n *unstructured.Unstructured) bool {
			return n.GetLabels()["karpenter.sh/capacity-type"] != "on-demand"
		})
		return len(on) == onDemand && len(ours) == onDemand+spot
	}
}
