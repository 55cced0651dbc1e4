package stories_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deployment is a manifest of n pods that fit standing nodes.
func deployment(name string, n int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {eks.amazonaws.com/nodegroup: standing}
      containers:
        - name: main
          image: any
          resources: {requests: {cpu: 10m, memory: 10Mi}}
`, name, n)
}

// Each part of the control plane can be stopped and started again under
// everybody who uses it: what was there stays, and what is asked for after it
// is done.
func TestControlPlaneRestarts(t *testing.T) {
	for _, component := range []string{"apiserver", "controller-manager", "scheduler"} {
		t.Run(component, func(t *testing.T) {
			s := begin(t, shared)
			s.apply(deployment("before", 2))
			s.await("two pods to run", "v1/Pod", running(2))
			mustLab(t, 0, s.dir, "restart", component)
			s.apply(deployment("after", 3))
			s.await("three pods more to run", "v1/Pod", running(5))
		})
	}
}

// The metrics API and the horizontal autoscaler work: a deployment whose pods
// use all they request grows to its limit.
func TestAutoscalerSeesUsage(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.apply(deployment("busy", 1))
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
