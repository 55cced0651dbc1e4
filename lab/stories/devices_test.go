package stories_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// nvidia is what users of NVIDIA's DRA driver have: its class, a template for one GPU, and a workload whose pods have
// one each.
const nvidia = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec:
  selectors:
  - cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.nvidia.com
          selectors:
          - cel: {expression: "device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*t4.*$')"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 1
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      nodeSelector: {karpenter.sh/nodepool: %s}
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
      containers:
      - name: train
        image: example.com/train
        resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}
`

const resourceSlices = "resource.k8s.io/v1/ResourceSlice"

// Pods that request GPUs by ResourceClaims get nodes with GPUs: a driver publishes the devices of a node once that is
// up, kube-scheduler allocates them, and the NodeClaim is initialized. A second pod gets a node of its own, which goes
// with it.
func TestPodsRunOnNodesWithTheDevicesOfTheirClaims(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLabWith(t, []string{"IGNORE_DRA_REQUESTS=false"}, "--dra-drivers"))
	s.pool(template(s.namespace, "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}",
		"{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, g4dn.xlarge]}"))
	s.apply(fmt.Sprintf(nvidia, s.namespace))
	published := func(n int) func([]*unstructured.Unstructured) bool {
		return func(list []*unstructured.Unstructured) bool { return len(list) == n }
	}
	s.await("the pod to run", "v1/Pod", of("train", running(1)))
	s.await("its node initialized", claims, func(list []*unstructured.Unstructured) bool {
		return len(list) == 1 && list[0].GetAnnotations()["karpenter.sh/requested-dra-drivers"] == "gpu.nvidia.com" &&
			hasCondition(list[0], "Initialized")
	})
	s.await("the devices of one node", resourceSlices, published(1))
	mustKubectl(t, s.dir, "-n", s.namespace, "scale", "deployment", "train", "--replicas=2")
	s.await("both pods to run", "v1/Pod", of("train", running(2)))
	s.await("the devices of both nodes", resourceSlices, published(2))
	mustKubectl(t, s.dir, "-n", s.namespace, "scale", "deployment", "train", "--replicas=1")
	s.await("one node", "v1/Node", ofPool(s.namespace, 1))
	s.await("one pod to run", "v1/Pod", of("train", running(1)))
	mustKubectl(t, s.dir, "-n", s.namespace, "delete", "deployment", "train")
	s.await("no node", "v1/Node", ofPool(s.namespace, 0))
	s.await("no devices", resourceSlices, published(0))
	s.awaitNoInstances()
}
