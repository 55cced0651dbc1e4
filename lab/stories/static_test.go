package stories_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kubectl scales a static NodePool: its nodes come and go whatever pods there are, up to its limit, and pods run on
// them. Its hours come first.
func TestStaticPoolsAreScaledByKubectl(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	scale := func(replicas string) { mustKubectl(t, s.dir, "scale", "nodepool", s.namespace, "--replicas="+replicas) }
	s.pool("{replicas: 2, limits: {nodes: 3}, " + template(s.namespace, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}") + "}")
	s.await("two nodes without pods", "v1/Node", ofPool(s.namespace, 2))
	scale("4")
	s.await("as many nodes as the limit allows", "v1/Node", ofPool(s.namespace, 3))
	s.awaitEvent(eventsOfCluster, "NodePool", s.namespace, "NodesMissing", "nodes limit reached")
	s.workload("inflate", s.namespace, "1", 1)
	s.await("a pod to run", "v1/Pod", running(1))
	scale("1")
	s.await("the node with the pod alone", "v1/Node", ofPool(s.namespace, 1))
	s.await("the pod to run on", "v1/Pod", running(1))
	s.await("the NodePool to say so", pools, func(list []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(list, func(p *unstructured.Unstructured) bool {
			nodes, _, _ := unstructured.NestedInt64(p.Object, "status", "nodes")
			return p.GetName() == s.namespace && nodes == 1
		})
	})
	hours := func(nodes string) {
		schedule := `daemok.sh/hours={changes: [{at: "0 0 * * *", nodes: ` + nodes + `}]}`
		mustKubectl(t, s.dir, "annotate", "--overwrite", "nodepool", s.namespace, schedule)
	}
	hours("0")
	s.await("no node outside the hours of the NodePool", "v1/Node", ofPool(s.namespace, 0))
	hours("2")
	s.await("two nodes as its hours say", "v1/Node", ofPool(s.namespace, 2))
	s.await("the pod to run again", "v1/Pod", running(1))
	mustKubectl(t, s.dir, "annotate", "nodepool", s.namespace, "daemok.sh/hours-")
	scale("0")
	s.await("no claim", claims, ofPool(s.namespace, 0))
	s.await("no node", "v1/Node", ofPool(s.namespace, 0))
	s.awaitNoInstances()
}
