package stories_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The metrics API and the horizontal autoscaler work: a deployment whose pods
// use all they request grows to its limit.
func TestAutoscalerSeesUsage(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.deploy("busy", 1, onStanding(), asking(corev1.ResourceCPU, "10m"))
	s.apply(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: busy}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: busy}
  maxReplicas: 2
  metrics:
    - type: Resource
      resource: {name: cpu, target: {type: Utilization, averageUtilization: 20}}
`)
	s.await("a second pod", "v1/Pod", running(2))
}

// Standing nodes are spread over zones, and system nodes keep ordinary pods
// away.
func TestStandingNodes(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.await("two ordinary nodes in two zones and three tainted ones", "v1/Node", func(nodes []*unstructured.Unstructured) bool {
		zones, tainted := map[string]bool{}, 0
		for _, n := range nodes {
			switch n.GetLabels()["eks.amazonaws.com/nodegroup"] {
			case "standing":
				zones[n.GetLabels()["topology.kubernetes.io/zone"]] = true
			case "system":
				if taints, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints"); len(taints) == 1 {
					tainted++
				}
			}
		}
		return len(zones) == 2 && tainted == 3
	})
}
