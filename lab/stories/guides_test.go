package stories_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Manifests in the shapes that public guides use are applied as they are, the
// cluster's name filled in; their pods run, on machines of the pool meant.
func TestGuidesWorkUnchanged(t *testing.T) {
	t.Parallel()
	guides := map[string]struct {
		pods int
		pool string
		node map[string]string // labels of every node of the pool
		then func(s *story)    // what the guide's reader does by hand
	}{
		"getting-started": {5, "default", map[string]string{"kubernetes.io/arch": "amd64", "karpenter.sh/capacity-type": "on-demand"}, nil},
		"spot-first":      {4, "spot", map[string]string{"karpenter.sh/capacity-type": "spot", "intent": "apps"}, nil},
		"graviton":        {3, "graviton", map[string]string{"kubernetes.io/arch": "arm64"}, nil},
		"bottlerocket":    {2, "bottlerocket", map[string]string{"node-os": "bottlerocket"}, nil},
		"dedicated":       {3, "dedicated", map[string]string{"team": "data"}, (*story).agentStarts},
		"custom-node":     {12, "custom-node", map[string]string{"node-setup": "custom"}, nil},
	}
	s := begin(t, ownLab(t, "--controller=true"))
	s.namespace = "default"
	cluster := environment(t, s.dir)["CLUSTER_NAME"]
	for name, guide := range guides {
		t.Run(name, func(t *testing.T) {
			if name != "getting-started" {
				t.Parallel() // after it: its pods go wherever there is room
			}
			s := *s
			s.T = t
			mustKubectl(t, s.dir, "apply", "-f", filled(t, name, cluster))
			if guide.then != nil {
				guide.then(&s)
			}
			app := name
			if name == "getting-started" {
				app = "inflate"
			}
			on := map[string]bool{}
			s.await("the guide's pods to run", "v1/Pod", of(app, func(pods []*unstructured.Unstructured) bool {
				for _, p := range pods {
					on[text(p, "spec", "nodeName")] = true
				}
				return running(guide.pods)(pods)
			}))
			s.await("the pods' nodes to be the pool's", "v1/Node", func(nodes []*unstructured.Unstructured) bool {
				found := 0
				for _, n := range inPool(nodes, guide.pool) {
					for key, value := range guide.node {
						if got := n.GetLabels()[key]; got != value {
							t.Errorf("node %s has label %s=%q, want %q", n.GetName(), key, got, value)
						}
					}
					if on[n.GetName()] {
						found++
					}
				}
				return found > 0
			})
		})
	}
}

// filled writes a guide's manifest with the cluster's name in it, as envsubst
// would.
func filled(t *testing.T, guide, cluster string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "guides", guide+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := os.Expand(string(content), func(name string) string {
		if name != "CLUSTER_NAME" {
			t.Fatalf("guide %s asks for variable %s", guide, name)
		}
		return cluster
	})
	path := filepath.Join(t.TempDir(), guide+".yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// agentStarts takes the startup taint off, as the agent of the guide would.
func (s *story) agentStarts() {
	s.Helper()
	tainted := func(n *unstructured.Unstructured) bool {
		taints, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints")
		for _, t := range taints {
			if t.(map[string]any)["key"] == "node.cilium.io/agent-not-ready" {
				return true
			}
		}
		return false
	}
	s.await("a registered node with the startup taint", "v1/Node", func(nodes []*unstructured.Unstructured) bool {
		for _, n := range inPool(nodes, "dedicated") {
			if tainted(n) && n.GetLabels()["karpenter.sh/registered"] == "true" {
				return true
			}
		}
		return false
	})
	mustKubectl(s.T, s.dir, "taint", "nodes", "-l", "karpenter.sh/nodepool=dedicated", "node.cilium.io/agent-not-ready-")
}
