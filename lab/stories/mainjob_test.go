package stories_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Pending pods become instances and run; when they go, so do the instances, and nothing is
// left in the cloud.
func TestPendingPodsBecomeMachines(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("")
	s.workload("inflate", s.namespace, "1", 5)
	s.await("five pods to run", "v1/Pod", running(5))
	s.launchedAsPlanned()
	s.workload("inflate", s.namespace, "1", 0)
	s.await("no pods", "v1/Pod", running(0))
	s.await("the claims to go", claims, ofPool(s.namespace, 0))
	s.await("the nodes to go", "v1/Node", ofPool(s.namespace, 0))
	s.awaitNoInstances()
}

// launchedAsPlanned checks that EC2 offered an instance for each claim and no other, each
// of the type and in the zone that the controller said it would launch.
func (s *story) launchedAsPlanned() {
	s.Helper()
	s.nothingTwice()
	var got []*unstructured.Unstructured
	s.await("the claims", claims, func(seen []*unstructured.Unstructured) bool {
		got = inPool(seen, s.namespace)
		return len(got) > 0
	})
	for _, c := range got {
		labels := c.GetLabels()
		launched := fmt.Sprintf("%q:%q,%q:%q", "type", labels["node.kubernetes.io/instance-type"], "zone", labels["topology.kubernetes.io/zone"])
		planned := controllerSays(s.T, s.dir, `"message":"created nodeclaim"`)
		if !slices.ContainsFunc(planned, func(line string) bool {
			return strings.Contains(line, `"claim":"`+c.GetName()+`"`) && strings.Contains(line, launched)
		}) {
			s.Errorf("claim %s was bought as %s, which no plan says:\n%s", c.GetName(), launched, strings.Join(planned, "\n"))
		}
	}
}

// Load makes the autoscaler ask for more replicas, those wait for an instance, one is
// launched; the load falls, the replicas go, and the instance after them.
func TestAutoscalerAndMachines(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("")
	s.workload("inflate", s.namespace, "1", 1)
	s.await("the first pod to run", "v1/Pod", running(1))
	s.apply(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: inflate}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: inflate}
  minReplicas: 1
  maxReplicas: 2
  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 40}}}]
`)
	s.await("a second replica to run", "v1/Pod", running(2))
	s.await("more than one node", "v1/Node", func(nodes []*unstructured.Unstructured) bool {
		return len(inPool(nodes, s.namespace)) > 1
	})
	s.patch(deployments, "inflate", `{"spec":{"template":{"metadata":{"annotations":{"lab.daemok.sh/cpu-usage":"10m"}}}}}`)
	s.await("one replica", "v1/Pod", running(1))
	s.await("one node", "v1/Node", ofPool(s.namespace, 1))
}
