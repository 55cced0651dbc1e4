package stories_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// expectation is what a manifest's first lines say, as far as the rules that
// its pods carry do not say it themselves.
type expectation struct {
	machines int                                                      // launched in all; 0: as many as the plan finds best
	before   func(*manifest)                                          // what happens before all pods can run
	then     func(*manifest, []*unstructured.Unstructured) (more int) // what happens to the pods that run, and how many instances it costs
}

// together are the manifests that are applied all at once.
var together = map[string]expectation{
	"zone-spread":                          {},
	"zone-spread-min-domains":              {machines: 3},
	"spread-of-each-version":               {},
	"zone-and-host-spread":                 {machines: 6},
	"capacity-type-spread":                 {},
	"soft-spread":                          {},
	"one-pod-per-host":                     {machines: 5},
	"one-pod-per-zone":                     {machines: 3},
	"beside-a-cache-in-its-zone":           {},
	"beside-a-database-on-its-host":        {machines: 2},
	"together-in-one-zone":                 {machines: 4},
	"preferred-neighbours":                 {},
	"chain-of-three":                       {},
	"apart-from-another-team":              {},
	"stateful-set-with-disks":              {machines: 3, then: (*manifest).loseMachine},
	"scratch-disks":                        {},
	"more-disks-than-one-machine-attaches": {machines: 2},
	"shared-disk":                          {machines: 1},
	"disk-for-one-pod-alone":               {machines: 1, before: (*manifest).handOver},
	"host-ports":                           {machines: 4},
	"gpu":                                  {},
	"arm64-and-amd64":                      {},
	"priorities-under-a-limit":             {machines: 8, before: (*manifest).urgentFirst},
	"weights-are-an-order":                 {machines: 5, then: (*manifest).inOrder},
	"dedicated-pools":                      {},
	"pool-better-avoided":                  {},
	"either-of-two-kinds":                  {},
	"sizes-between-two-bounds":             {machines: 1},
	"overhead-of-a-runtime":                {machines: 2},
	"init-containers-and-sidecars":         {machines: 2},
	"extended-resources":                   {},
	"pods-per-machine":                     {machines: 3},
}

// oneByOne are those that need a cluster without nodes of other stories: their pods name no
// pool, so that the system's tainted nodes count as domains of their spreads, or their
// instances must join within moments of each other.
var oneByOne = map[string]expectation{
	"open-zone-spread":          {},
	"open-host-spread":          {machines: 4},
	"open-zone-affinity":        {},
	"zone-spread-of-small-pods": {machines: 3},
}

// Of every manifest it is said what must become of it.
func TestEveryManifestIsExpected(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob(filepath.Join("testdata", "rules", "*.yaml"))
	if err != nil || len(all) != len(together)+len(oneByOne) {
		t.Errorf("found %d manifests, %v, want %d and %d", len(all), err, len(together), len(oneByOne))
	}
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		_, some := together[name]
		if _, alone := oneByOne[name]; some == alone {
			t.Errorf("what must become of %s is said twice or not at all", path)
		}
	}
}

// Manifests as users write them, each with rules of another kind: in the end every pod runs
// where its rules allow, no instance was launched that the pods do not use, and nothing is
// left when they are deleted. All are applied at once.
func TestManifestsRun(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--nodes=2")) // they use up what launch templates the cloud makes in a minute
	s.own(classes, s.filled("class"), "")
	launched := s.followPurchases()
	applied := map[string]*manifest{}
	for _, name := range slices.Sorted(maps.Keys(together)) {
		applied[name] = s.manifest(name, launched)
	}
	for _, name := range slices.Sorted(maps.Keys(together)) {
		applied[name].deploy()
	}
	atOnce(t, applied, func(t *testing.T, of *manifest) {
		m := *of
		m.story = m.of(t)
		m.unfold(together[m.name])
	})
	for _, m := range applied {
		m.nothingLeft()
	}
}

// The same holds one by one, with no nodes but the system's beside them.
func TestManifestsRunAlone(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t))
	s.own(classes, s.filled("class"), "")
	launched := s.followPurchases()
	for name, want := range oneByOne {
		t.Run(name, func(t *testing.T) {
			m := s.of(t).manifest(name, launched)
			m.deploy()
			m.unfold(want)
			m.nothingLeft()
		})
	}
}

// loseMachine deletes the node of one of the pods and waits until the pod runs
// elsewhere. The rules of its disk say where that may be.
func (m *manifest) loseMachine(pods []*unstructured.Unstructured) int {
	m.Helper()
	name, node := pods[1].GetName(), text(pods[1], "spec", "nodeName")
	m.drop("v1/Node", node)
	m.awaitPods("the pod to run on another machine", func(now []*unstructured.Unstructured) bool {
		found := named(now, name)
		return len(found) == 1 && text(found[0], "spec", "nodeName") != node && running(m.pods)(now)
	})
	return 1
}

// handOver waits until one of two pods has the disk, and ends its deployment.
func (m *manifest) handOver() {
	m.Helper()
	app := ""
	m.awaitPods("one pod to run and one to wait", func(pods []*unstructured.Unstructured) bool {
		waits := 0
		for _, p := range pods {
			switch {
			case text(p, "status", "phase") == "Running":
				app = p.GetLabels()["app"]
			case text(p, "spec", "nodeName") == "" && hasReason(p, "Unschedulable"):
				waits++
			}
		}
		return app != "" && waits == 1
	})
	m.scale(app, 0)
	m.pods = 1
}

func hasReason(o *unstructured.Unstructured, reason string) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool { return c.(map[string]any)["reason"] == reason })
}

// urgentFirst waits until all pods are pending and raises the limit twice: what it allows first is used up by the
// urgent pods alone.
func (m *manifest) urgentFirst() {
	m.Helper()
	m.awaitPods("eight pods to be pending", func(pods []*unstructured.Unstructured) bool { return len(pods) == 8 && countRunning(pods) == 0 })
	m.patch(pools, m.pools[0], `{"spec":{"limits":{"cpu":"8"}}}`)
	pods := m.awaitPods("four pods to run", func(pods []*unstructured.Unstructured) bool { return len(pods) == 8 && countRunning(pods) == 4 })
	for _, p := range pods {
		if app, phase := p.GetLabels()["app"], text(p, "status", "phase"); (phase == "Running") != (app == "urgent") {
			m.Errorf("%s pod %s is %s while the limit is used up", app, p.GetName(), phase)
		}
	}
	m.patch(pools, m.pools[0], `{"spec":{"limits":{"cpu":"64"}}}`)
}

// inOrder checks how many instances each of the pools has, in their order.
func (m *manifest) inOrder([]*unstructured.Unstructured) int {
	m.Helper()
	var got []int
	for _, pool := range m.pools {
		got = append(got, m.launched.of([]string{pool}))
	}
	if want := []int{2, 1, 2}; !slices.Equal(got, want) {
		m.Errorf("pools %v bought %s machines, want %v", m.pools, fmt.Sprint(got), want)
	}
	return 0
}
