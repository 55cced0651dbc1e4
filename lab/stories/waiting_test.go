package stories_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/lab/await"
)

// eventsOfCluster is where events about objects without a namespace are kept.
const eventsOfCluster = "default"

// class makes a class of the story's own as the getting-started guides have
// it; change is YAML that replaces fields of its spec.
func (s *story) class(name, change string) {
	s.Helper()
	cluster := environment(s.T, s.dir)["CLUSTER_NAME"]
	s.own(classes, fmt.Sprintf(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: %[1]s}
spec:
  instanceProfile: KarpenterNodeInstanceProfile-%[2]s
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: %[2]s}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: %[2]s}}]
`, name, cluster), change)
}

// poolOf makes a pool that launches amd64 instances on demand from a class, and lets empty
// ones go after a second; change is YAML that replaces fields of its spec.
func (s *story) poolOf(name, class, change string) {
	s.Helper()
	s.own(pools, fmt.Sprintf(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %[1]s}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %[2]s}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1s, budgets: [{nodes: "100%%"}]}
`, name, class), change)
}

// pool makes a class and a pool of it that have the story's name; change is
// YAML that replaces fields of the pool's spec.
func (s *story) pool(change string) {
	s.Helper()
	s.class(s.namespace, "")
	s.poolOf(s.namespace, s.namespace, change)
}

// own applies an object with changed fields; it goes with the story, and so do the
// nodes of a pool, at once.
func (s *story) own(kind, manifest, change string) {
	s.Helper()
	o, fields := s.decode(manifest)[0], map[string]any{}
	if err := yaml.Unmarshal([]byte(change), &fields); err != nil {
		s.Fatalf("read changes: %v\n%s", err, change)
	}
	maps.Copy(o.Object["spec"].(map[string]any), fields)
	s.applyObject(o)
	s.dropAtEnd(kind, o.GetName())
}

// template writes a pool's template with these requirements in place of the
// usual ones.
func template(class string, requirements ...string) string {
	return fmt.Sprintf("template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %s}, requirements: [%s]}}",
		class, strings.Join(requirements, ", "))
}

// workload is a deployment whose pods ask for so much CPU from one pool.
func (s *story) workload(name, pool, cpu string, replicas int) {
	s.Helper()
	s.deploy(name, int32(replicas), from(pool), asking(corev1.ResourceCPU, cpu))
}

// of narrows what a story waits for to the pods of one workload.
func of(workload string, holds func([]*unstructured.Unstructured) bool) func([]*unstructured.Unstructured) bool {
	return func(objects []*unstructured.Unstructured) bool {
		return holds(slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
			return o.GetLabels()["app"] != workload
		}))
	}
}

// awaitCondition waits until an object without a namespace has a condition in
// a status, whose reason and message together say all of the words.
func (s *story) awaitCondition(kind, name, condition, status string, says ...string) {
	s.Helper()
	s.await(fmt.Sprintf("%s %s to have %s=%s saying %q", kind, name, condition, status, says), kind,
		func(seen []*unstructured.Unstructured) bool {
			for _, o := range named(seen, name) {
				conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
				for _, c := range conditions {
					c := c.(map[string]any)
					if c["type"] == condition && c["status"] == status && saysAll(fmt.Sprint(c["reason"], " ", c["message"]), says) {
						return true
					}
				}
			}
			return false
		})
}

// awaitEvent waits for a warning about an object whose name begins so, from
// the controller, that says all of the words.
func (s *story) awaitEvent(namespace, kind, name string, says ...string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	var about []string
	err := await.Until(ctx, s.resourceIn("v1/Event", namespace), metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
		about = nil
		for _, e := range seen {
			if text(e, "source", "component") != "karpenter" || text(e, "involvedObject", "kind") != kind ||
				!strings.HasPrefix(text(e, "involvedObject", "name"), name) {
				continue
			}
			about = append(about, text(e, "reason")+": "+text(e, "message"))
			if saysAll(text(e, "reason")+" "+text(e, "message"), says) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		s.Fatalf("waited for an event about %s %s that says %q: %v\nseen are:\n%s\nlogs are in %s",
			kind, name, says, err, strings.Join(about, "\n"), filepath.Join(s.dir, "logs"))
	}
}

func saysAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
