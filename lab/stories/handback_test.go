package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/kube/api"
)

// words are what a command says while it runs.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// lives are the pods, nodes and instances of the story, by what they keep for life; that a
// busy host's kubelet is late for a moment, or that a plan has another node empty, is of no
// matter.
func (s *story) lives() string {
	s.Helper()
	var b strings.Builder
	for _, p := range s.list("v1/Pod") {
		fmt.Fprintf(&b, "%s on %s\n", p.GetUID(), text(p, "spec", "nodeName"))
	}
	for _, n := range inPool(s.list("v1/Node"), s.namespace) {
		fmt.Fprintf(&b, "%s is %s %v", n.GetUID(), text(n, "spec", "providerID"), n.GetDeletionTimestamp())
		taints, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints")
		for _, t := range taints {
			if key := fmt.Sprint(t.(map[string]any)["key"]); !strings.HasPrefix(key, ofKubelets) && key != emptyingTaint {
				b.WriteString(" " + key)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stop ends a controller in good order.
func (c *controller) stop() {
	c.story.Helper()
	c.signal(syscall.SIGTERM)
	c.awaitEnd(limit)
}

// A cluster is handed back to Karpenter, whose marks are written as Karpenter would, and is
// taken over again; then a node that has lost its claim is given another. No pod, node or
// instance is another all that while, and consolidation goes on.
func TestHandedBackAndTakenOver(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	first := s.run("first", "PAYBACK=off")
	first.awaitLeader(limit)
	s.pool(moving("100%"))
	nodes := s.oneEach(3)
	s.awaitFor(3*limit, "a deletion cost of Daemok's", "v1/Pod", func(seen []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(seen, func(p *unstructured.Unstructured) bool { return p.GetAnnotations()[api.AnnotationDeletionCost] != "" })
	})
	before := s.lives()
	unchanged := func(when string) {
		s.Helper()
		if now := s.lives(); now != before {
			s.Fatalf("%s there are\n%sand before there were\n%s", when, now, before)
		}
	}

	ctx, cancel := context.WithTimeout(s.Context(), 3*limit)
	defer cancel()
	command := exec.CommandContext(ctx, program("daemok"), "handback", "--kubeconfig", filepath.Join(s.dir, "kubeconfig"))
	said := &words{}
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if !poll(2*limit, farEvery, func() bool { return strings.Contains(said.String(), "now stop the controller") }) {
		t.Fatalf("it says\n%s", said)
	}
	first.stop()
	if err := command.Wait(); err != nil || !strings.Contains(said.String(), "the cluster is Karpenter's") {
		t.Fatalf("daemok handback: %v\n%s", err, said)
	}
	unchanged("after the hand-back")
	if all := mustKubectl(t, s.dir, "get", "nodes", "-o", "jsonpath={.items[*].spec.taints}"); strings.Contains(all, emptyingTaint) {
		t.Errorf("after the hand-back nodes have the taints %s", all)
	}
	if all := mustKubectl(t, s.dir, "get", "nodeclaims,nodes,ec2nodeclasses,pods", "-A", "-o", "jsonpath={.items[*].metadata.annotations}"); strings.Contains(all, "daemok.sh/") || strings.Contains(all, api.AnnotationPodDeletionCost) {
		t.Errorf("after the hand-back there is %s", all)
	}
	if holder := mustKubectl(t, s.dir, "get", "lease", "-n", "kube-system", "karpenter-leader-election", "-o", "jsonpath={.spec.holderIdentity}"); holder != "" {
		t.Errorf("after the hand-back %s holds the lease", holder)
	}

	karpenters := []string{"karpenter.sh/nodepool-hash=1", "karpenter.sh/nodepool-hash-version=v3", "karpenter.k8s.aws/ec2nodeclass-hash=2", "karpenter.k8s.aws/ec2nodeclass-hash-version=v5"}
	mustKubectl(t, s.dir, append([]string{"annotate", "--overwrite", "nodeclaims", "--all"}, karpenters...)...)
	mustKubectl(t, s.dir, append([]string{"annotate", "--overwrite", "nodepool", s.namespace}, karpenters[:2]...)...)
	mustKubectl(t, s.dir, append([]string{"annotate", "--overwrite", "ec2nodeclasses", "--all"}, karpenters[2:]...)...)
	second := s.run("second", "PAYBACK=off")
	second.awaitLeader(takeover)
	s.await("fingerprints to be ours", claims, func(seen []*unstructured.Unstructured) bool {
		mine := inPool(seen, s.namespace)
		for _, c := range mine {
			if v := c.GetAnnotations(); !strings.HasPrefix(v["karpenter.sh/nodepool-hash-version"], "daemok-") || !strings.HasPrefix(v["karpenter.k8s.aws/ec2nodeclass-hash-version"], "daemok-") {
				return false
			}
		}
		return len(mine) == len(nodes)
	})
	s.never(10*time.Second, "a node has drifted", claims, func(seen []*unstructured.Unstructured) bool {
		for _, c := range seen {
			if hasCondition(c, "Drifted") {
				return true
			}
		}
		return false
	})
	unchanged("after the cluster was taken over")
	second.stop()

	s.loseClaim(nodes[0])
	s.run("third", "PAYBACK=off").awaitLeader(takeover)
	s.awaitCondition(claims, s.namespace+"-adopted", "Initialized", "True")
	s.await("no other claim to be bought", claims, func(seen []*unstructured.Unstructured) bool { return len(inPool(seen, s.namespace)) == len(nodes) })
	unchanged("after a node was taken over")
	s.scale("apart", 1)
	s.awaitFor(3*limit, "consolidation to go on", claims, func(seen []*unstructured.Unstructured) bool { return len(inPool(seen, s.namespace)) == 1 })
}

// loseClaim deletes a claim without its instance, and makes one that takes the instance
// over.
func (s *story) loseClaim(name string) {
	s.Helper()
	claim := s.object("karpenter.sh/v1", "NodeClaim", name)
	s.patch("v1/Node", text(claim, "status", "nodeName"), `{"metadata":{"ownerReferences":null}}`)
	s.patch(claims, name, `{"metadata":{"finalizers":null}}`)
	s.drop(claims, name)
	s.apply(`
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: ` + s.namespace + `-adopted
  labels: {karpenter.sh/nodepool: ` + s.namespace + `}
  annotations: {daemok.sh/adopt: "` + text(claim, "status", "providerID") + `"}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: ` + s.namespace + `}
  requirements: []
  expireAfter: Never
`)
}
