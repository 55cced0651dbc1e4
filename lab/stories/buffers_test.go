package stories_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const buffers = "autoscaling.x-k8s.io/v1beta1/CapacityBuffer"

// saysOf reports whether a condition of the named object is so: "True FitsExistingCapacity ...".
func saysOf(name, kind, want string) func([]*unstructured.Unstructured) bool {
	return func(list []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(named(list, name), func(o *unstructured.Unstructured) bool {
			all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
			return slices.ContainsFunc(all, func(c any) bool {
				is := c.(map[string]any)
				return is["type"] == kind && strings.HasPrefix(fmt.Sprint(is["status"], " ", is["reason"], " ", is["message"]), want)
			})
		})
	}
}

// Capacity is kept for a PodTemplate, and for a share of a Deployment by the older version of the API. Pods take it at
// once, other capacity is kept then, and nodes go with the buffers.
func TestCapacityBuffersKeepNodes(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool("{" + template(s.namespace, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}") + ", disruption: {consolidateAfter: 10s}}")
	s.apply(fmt.Sprintf(`
apiVersion: v1
kind: PodTemplate
metadata: {name: web, namespace: %[1]s}
template:
  spec:
    nodeSelector: {karpenter.sh/nodepool: %[1]s}
    containers: [{name: web, image: registry.k8s.io/pause, resources: {requests: {cpu: "1"}}}]
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare, namespace: %[1]s}
spec: {podTemplateRef: {name: web}, replicas: 2}
`, s.namespace))
	s.await("a buffer that requires capacity", buffers, saysOf("spare", "ReadyForProvisioning", "True Resolved"))
	s.await("two nodes for the buffer", "v1/Node", ofPool(s.namespace, 2))
	s.await("the buffer to fit", buffers, saysOf("spare", "Provisioning", "True FitsExistingCapacity All 2 virtual pods fit"))
	s.workload("inflate", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", running(1))
	s.await("another node for the buffer", "v1/Node", ofPool(s.namespace, 3))
	s.apply(fmt.Sprintf(`
apiVersion: autoscaling.x-k8s.io/v1alpha1
kind: CapacityBuffer
metadata: {name: share, namespace: %[1]s}
spec: {scalableRef: {apiGroup: apps, kind: Deployment, name: inflate}, percentage: 50}
`, s.namespace))
	s.await("a node for half a pod", "v1/Node", ofPool(s.namespace, 4))
	s.await("the share to fit", buffers, saysOf("share", "Provisioning", "True FitsExistingCapacity All 1 virtual pods fit"))
	mustKubectl(t, s.dir, "delete", "-n", s.namespace, "capacitybuffer", "spare", "share")
	s.await("the node with the pod alone", "v1/Node", ofPool(s.namespace, 1))
	s.await("the pod to run on", "v1/Pod", running(1))
	s.scale("inflate", 0)
	s.await("no node", "v1/Node", ofPool(s.namespace, 0))
	s.awaitNoInstances()
}
