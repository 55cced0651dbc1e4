package stories_test

import (
	"fmt"
	"testing"
)

const requests = "autoscaling.x-k8s.io/v1/ProvisioningRequest"

// Capacity for a Job is found before its pods are created, as Kueue asks for it: instances are launched for all of them
// at once, and the pods run there. Pods whose request has no capacity wait; check-capacity launches nothing.
func TestProvisioningRequestsOfJobs(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("{" + template(s.namespace, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}") +
		", disruption: {consolidateAfter: 10s}}")
	s.apply(fmt.Sprintf(`
apiVersion: v1
kind: PodTemplate
metadata: {name: train, namespace: %[1]s}
template:
  spec:
    nodeSelector: {karpenter.sh/nodepool: %[1]s}
    containers: [{name: main, image: registry.k8s.io/pause, resources: {requests: {cpu: "1"}}}]
---
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: room, namespace: %[1]s}
spec:
  provisioningClassName: check-capacity.autoscaling.x-k8s.io
  podSets: [{podTemplateRef: {name: train}, count: 1}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: %[1]s}
spec:
  parallelism: 2
  completions: 2
  suspend: true
  template:
    metadata:
      annotations:
        autoscaling.x-k8s.io/consume-provisioning-request: train
        autoscaling.x-k8s.io/provisioning-class-name: best-effort-atomic-scale-up.autoscaling.x-k8s.io
    spec:
      restartPolicy: Never
      nodeSelector: {karpenter.sh/nodepool: %[1]s}
      containers: [{name: main, image: registry.k8s.io/pause, resources: {requests: {cpu: "1"}}}]
`, s.namespace))
	s.await("that there is no room", requests,
		saysOf("room", "Provisioned", "False CapacityIsNotFound there is no capacity for 1 of 1 pods"))
	s.apply(fmt.Sprintf(`
apiVersion: autoscaling.x-k8s.io/v1
kind: ProvisioningRequest
metadata: {name: train, namespace: %[1]s}
spec:
  provisioningClassName: best-effort-atomic-scale-up.autoscaling.x-k8s.io
  parameters: {ValidUntilSeconds: "3600"}
  podSets: [{podTemplateRef: {name: train}, count: 2}]
`, s.namespace))
	s.await("capacity for both pods", requests,
		saysOf("train", "Provisioned", "True CapacityIsProvisioned there is capacity for all 2 pods"))
	s.await("two nodes", "v1/Node", ofPool(s.namespace, 2))
	mustKubectl(t, s.dir, "patch", "-n", s.namespace, "job", "train", "--type=merge", "-p", `{"spec":{"suspend":false}}`)
	s.await("both pods to run", "v1/Pod", running(2))
	s.await("no third node", "v1/Node", ofPool(s.namespace, 2))
	mustKubectl(t, s.dir, "delete", "-n", s.namespace, "job/train", "provisioningrequest/train", "provisioningrequest/room")
	s.await("no node", "v1/Node", ofPool(s.namespace, 0))
	s.awaitNoInstances()
}
