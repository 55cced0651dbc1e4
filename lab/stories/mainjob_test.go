package stories_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pool is a class and a pool of the story's own, as the getting-started guides
// write them, but that empty nodes go after a second.
func (s *story) pool() {
	s.Helper()
	cluster := environment(s.T, s.dir)["CLUSTER_NAME"]
	s.apply(fmt.Sprintf(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: %[1]s}
spec:
  instanceProfile: KarpenterNodeInstanceProfile-%[2]s
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: %[2]s}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: %[2]s}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %[1]s}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %[1]s}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1s, budgets: [{nodes: "100%%"}]}
`, s.namespace, cluster))
	s.Cleanup(func() {
		for _, kind := range []string{"nodepool", "ec2nodeclass"} {
			got, err := lab(context.Background(), s.dir, "kubectl", "delete", kind, s.namespace, "--wait=false")
			if err != nil || got.code != 0 {
				s.Errorf("delete %s: %v %s", kind, err, got.stderr)
			}
		}
	})
}

// inflate is a deployment whose pods ask for a core each, from the story's own
// pool.
func (s *story) inflate(replicas int) {
	s.Helper()
	s.apply(fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: inflate}
spec:
  replicas: %d
  selector: {matchLabels: {app: inflate}}
  template:
    metadata: {labels: {app: inflate}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {karpenter.sh/nodepool: %s}
      containers:
        - name: inflate
          image: public.ecr.aws/eks-distro/kubernetes/pause:3.7
          resources: {requests: {cpu: "1"}}
`, replicas, s.namespace))
}

// poolHas holds when the story's pool has as many nodes or claims as wanted.
func (s *story) poolHas(wanted func(n int) bool) func([]*unstructured.Unstructured) bool {
	return func(objects []*unstructured.Unstructured) bool {
		n := 0
		for _, o := range objects {
			if o.GetLabels()["karpenter.sh/nodepool"] == s.namespace {
				n++
			}
		}
		return wanted(n)
	}
}

func none(n int) bool { return n == 0 }
func some(n int) bool { return n > 0 }

// Pending pods become machines and run; when they go, so do the machines, and
// nothing is left in the cloud.
func TestPendingPodsBecomeMachines(t *testing.T) {
	s := begin(t, shared)
	s.pool()
	s.inflate(5)
	s.await("five pods to run", "v1/Pod", running(5))
	s.boughtAsPlanned()
	s.inflate(0)
	s.await("no pods", "v1/Pod", running(0))
	s.await("the claims to go", "karpenter.sh/v1/NodeClaim", s.poolHas(none))
	s.await("the nodes to go", "v1/Node", s.poolHas(none))
	s.awaitNoInstances()
}

// boughtAsPlanned checks that EC2 sold a machine for each claim and no other,
// each of the type and in the zone that the controller said it would buy.
func (s *story) boughtAsPlanned() {
	s.Helper()
	s.nothingTwice()
	var got []*unstructured.Unstructured
	s.await("the claims", claims, func(seen []*unstructured.Unstructured) bool {
		got = inPool(seen, s.namespace)
		return len(got) > 0
	})
	for _, c := range got {
		labels := c.GetLabels()
		bought := fmt.Sprintf("%q:%q,%q:%q", "type", labels["node.kubernetes.io/instance-type"], "zone", labels["topology.kubernetes.io/zone"])
		planned := controllerSays(s.T, s.dir, `"message":"ordered a machine"`)
		if !slices.ContainsFunc(planned, func(line string) bool {
			return strings.Contains(line, `"claim":"`+c.GetName()+`"`) && strings.Contains(line, bought)
		}) {
			s.Errorf("claim %s was bought as %s, which no plan says:\n%s", c.GetName(), bought, strings.Join(planned, "\n"))
		}
	}
}

// Load makes the autoscaler ask for more replicas, those wait for a machine,
// one is bought; the load falls, the replicas go, and the machine after them.
func TestAutoscalerAndMachines(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool()
	s.inflate(1)
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
	s.await("more than one node", "v1/Node", s.poolHas(func(n int) bool { return n > 1 }))
	mustKubectl(t, s.dir, "-n", s.namespace, "patch", "deployment", "inflate", "--type=merge",
		`--patch={"spec":{"template":{"metadata":{"annotations":{"lab.daemok.sh/cpu-usage":"10m"}}}}}`)
	s.await("one replica", "v1/Pod", running(1))
	s.await("one node", "v1/Node", s.poolHas(func(n int) bool { return n == 1 }))
}
