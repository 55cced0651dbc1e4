package stories_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const provisioners = "karpenter.sh/v1alpha5/Provisioner"

// guide is what the author of a manifest expects of it.
type guide struct {
	reader func(s *story)    // does this by hand meanwhile
	pods   map[string]int    // that run in the end, by workload
	of     []string          // pools on whose instances they run, on some of each
	labels map[string]string // of every node of theirs
	nodes  expected
	then   events
}

// guides reads the manifests of a folder of testdata; there is one of each of them.
func (s *story) guides(folder string, want map[string]guide) string {
	s.Helper()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		all = append(all, s.filled(filepath.Join(folder, name)))
	}
	if files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml")); err != nil || len(files) != len(want) {
		s.Errorf("there are manifests %v, %v, and %d guides", files, err, len(want))
	}
	return join(all)
}

const betweenDocuments = "\n---\n"

func join(documents []string) string { return strings.Join(documents, betweenDocuments) }

// start applies manifests as they are, first what instances are made of, and their
// workloads when all pools are ready: pods that came sooner might rightly run elsewhere.
func (s *story) start(manifests string) {
	s.Helper()
	first, workloads := parted(manifests)
	s.kubectlApply(first)
	for _, kind := range []string{pools, provisioners} {
		s.await("all pools to be ready", kind, func(all []*unstructured.Unstructured) bool {
			return !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool { return !hasCondition(o, "Ready") })
		})
	}
	s.kubectlApply(workloads)
}

// parted splits a manifest into its workloads and what instances are made of.
func parted(manifest string) (machines, workloads string) {
	var first, then []string
	for _, one := range strings.Split(manifest, betweenDocuments) {
		if strings.Contains(one, "\nkind: Deployment\n") {
			then = append(then, one)
		} else {
			first = append(first, one)
		}
	}
	return join(first), join(then)
}

// kubectlApply applies a manifest, with all that kubectl has against mistakes in it.
func (s *story) kubectlApply(manifest string) {
	s.Helper()
	path := filepath.Join(s.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		s.Fatal(err)
	}
	mustKubectl(s.T, s.dir, "-n", s.namespace, "apply", "-f", path)
}

// sideBySide sees guides that were started to their end.
func (s *story) sideBySide(guides map[string]guide) {
	atOnce(s.T, guides, func(t *testing.T, g guide) { s.of(t).follow(g) })
}

// atOnce runs a test for each of what goes on in a lab already. They wait for no other
// stories, as parallel tests would: the lab would stay up for them until the last one began.
func atOnce[T any](t *testing.T, all map[string]T, see func(*testing.T, T)) {
	var running sync.WaitGroup
	for name, one := range all {
		running.Go(func() { t.Run(name, func(t *testing.T) { see(t, one) }) })
	}
	running.Wait()
}

// follow checks what comes of a guide.
func (s *story) follow(g guide) {
	s.Helper()
	if g.reader != nil {
		g.reader(s)
	}
	nodes := s.stabilize(g.pods)
	found := map[string]bool{}
	for _, n := range nodes {
		found[originOf(n)] = true
		for key, value := range g.labels {
			if got := n.GetLabels()[key]; got != value {
				s.Errorf("node %s has label %s=%q, want %q", n.GetName(), key, got, value)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, slices.Sorted(slices.Values(g.of))) {
		s.Errorf("the pods run on nodes of %v, want %v", got, g.of)
	}
	for _, holds := range g.nodes {
		holds(s, nodes)
	}
	for _, happens := range g.then {
		happens(s)
	}
}

// stabilize waits until so many pods of each workload run, all on nodes that are initialised,
// and returns these. Where a node was removed because its pods had a cheaper place, they are
// searched for again.
func (s *story) stabilize(pods map[string]int) (nodes []*unstructured.Unstructured) {
	s.Helper()
	for moved := true; moved; {
		on := map[string]bool{}
		for workload, n := range pods {
			for _, p := range s.awaitRunning(workload, n) {
				on[text(p, "spec", "nodeName")] = true
			}
		}
		delete(on, "") // of pods that wait
		s.await("their nodes to be initialised", "v1/Node", func(all []*unstructured.Unstructured) bool {
			nodes = slices.DeleteFunc(slices.Clone(all), func(n *unstructured.Unstructured) bool { return !on[n.GetName()] })
			moved = len(nodes) < len(on)
			return moved || !slices.ContainsFunc(nodes, func(n *unstructured.Unstructured) bool {
				return n.GetLabels()["karpenter.sh/initialized"] != "true" || n.GetDeletionTimestamp() != nil
			})
		})
	}
	return nodes
}

// awaitRunning waits until exactly n pods of a workload run and none ends, and returns all.
func (s *story) awaitRunning(workload string, n int) (pods []*unstructured.Unstructured) {
	s.Helper()
	s.awaitFor(2*limit, "the pods of "+workload+" to run", "v1/Pod", of(workload, func(all []*unstructured.Unstructured) bool {
		pods = all
		return countRunning(all) == n && !slices.ContainsFunc(all, func(p *unstructured.Unstructured) bool { return p.GetDeletionTimestamp() != nil })
	}))
	return pods
}

// originOf is the NodePool or Provisioner of a node or claim.
func originOf(o *unstructured.Unstructured) string {
	if pool := o.GetLabels()["karpenter.sh/nodepool"]; pool != "" {
		return pool
	}
	return o.GetLabels()["karpenter.sh/provisioner-name"]
}

func kindOf(n *unstructured.Unstructured) string {
	return n.GetLabels()["node.kubernetes.io/instance-type"]
}
