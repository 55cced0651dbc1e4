package stories_test

import (
	"path/filepath"
	"testing"
)

// verticalPodAutoscalers defines the kind as its project does, as far as Daemok reads it.
const verticalPodAutoscalers = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: verticalpodautoscalers.autoscaling.k8s.io
  annotations: {api-approved.kubernetes.io: https://github.com/kubernetes/kubernetes/pull/63797}
spec:
  group: autoscaling.k8s.io
  names: {kind: VerticalPodAutoscaler, plural: verticalpodautoscalers, shortNames: [vpa]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// In a cluster that comes from Cluster Autoscaler its words still keep pods where they are, and a pod that a
// VerticalPodAutoscaler makes larger when it moves gets a node that is large enough.
func TestOtherAutoscalersAreHeeded(t *testing.T) {
	t.Parallel()
	values := filepath.Join(t.TempDir(), "values.yaml")
	write(t, values, `{settings: {clusterAutoscalerAnnotations: true}}`)
	s := begin(t, ownLab(t, "--install=chart", "--values="+values))
	s.kubectlApply(verticalPodAutoscalers)
	mustKubectl(t, s.dir, "wait", "--for=condition=Established", "crd/verticalpodautoscalers.autoscaling.k8s.io")
	mustKubectl(t, s.dir, "-n", "kube-system", "rollout", "restart", "deployment/karpenter")
	mustKubectl(t, s.dir, "-n", "kube-system", "rollout", "status", "deployment/karpenter", "--timeout=180s")

	version := func(name string) {
		s.pool("{disruption: {consolidateAfter: 5s}, template: {metadata: {labels: {version: " + name + "}}, spec: {" +
			"nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: " + s.namespace + "}, requirements: [" +
			"{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.2xlarge]}, " +
			"{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}")
	}
	version("one")
	s.workload("web", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", running(1))
	s.await("a small node", "v1/Node", s.ofType("m5.large"))
	the := func(path string) string {
		return mustKubectl(t, s.dir, "get", "pod", "-n", s.namespace, "-o", "jsonpath={.items[0]"+path+"}")
	}
	const word = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	mustKubectl(t, s.dir, "annotate", "-n", s.namespace, "pod", the(".metadata.name"), word+"=false")
	s.kubectlApply(`
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
status:
  recommendation: {containerRecommendations: [{containerName: main, target: {cpu: "6"}}]}
`)
	version("two")
	s.awaitEvent(eventsOfCluster, "Node", the(".spec.nodeName"), "DisruptionBlocked", "safe-to-evict")
	mustKubectl(t, s.dir, "annotate", "-n", s.namespace, "pod", the(".metadata.name"), word+"-")
	s.await("a node that is large enough for what is recommended", "v1/Node", s.ofType("m5.2xlarge"))
	s.await("the pod to run on it", "v1/Pod", running(1))
	off := `{"spec":{"updatePolicy":{"updateMode":"Off"}}}`
	mustKubectl(t, s.dir, "patch", "-n", s.namespace, "vpa", "web", "--type=merge", "-p", off)
	s.await("a small node again", "v1/Node", s.ofType("m5.large"))
}
