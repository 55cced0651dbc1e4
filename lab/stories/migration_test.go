package stories_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const olderGeneration = `
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: older}
spec:
  instanceProfile: KarpenterNodeInstanceProfile-lab
  subnetSelector: {karpenter.sh/discovery: lab}
  securityGroupSelector: {karpenter.sh/discovery: lab}
---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: older}
spec:
  providerRef: {name: older}
  consolidation: {enabled: true}
  requirements:
    - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
`

// Thirty nodes of a Provisioner are moved to a NodePool while their pods run. The move is
// killed at every step, and goes on, and so does the way back: no pod is started again or moved, and no node is
// replaced. Then nodes go under the NodePool, and nothing is left behind.
func TestAClusterIsMovedToANodePool(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--nodes=2"))
	s.apply(olderGeneration)
	const nodes = 30
	load := func(pods int32) {
		s.deploy("load", pods, on("karpenter.sh/capacity-type", "on-demand"), asking(corev1.ResourceCPU, "1"))
	}
	load(nodes)
	s.awaitFor(3*limit, "all pods to run", "v1/Pod", of("load", running(nodes)))
	s.await("machines of the Provisioner alone", claims, ofProvisioner("older", nodes))
	before := s.scenery()
	same := func(when string) {
		s.Helper()
		if after := s.scenery(); !maps.Equal(after, before) {
			t.Errorf("before\n%v\n%s\n%v", before, when, after)
		}
	}
	for _, step := range []string{"has frozen", "creates", "carries", "are to be taken over yet", "deletes", ""} {
		s.migrate("--apply", step)
	}
	same("moved")
	for _, step := range []string{"rolls back", "are to be taken over yet", ""} {
		s.migrate("--rollback", step)
	}
	same("moved back")
	s.await("claims of the Provisioner alone", claims, ofProvisioner("older", nodes))
	s.migrate("--apply", "")
	same("moved again")
	for _, kind := range []string{"provisioners.karpenter.sh", "awsnodetemplates.karpenter.k8s.aws"} {
		if left := mustKubectl(t, s.dir, "get", kind, "-o", "name"); left != "" {
			t.Errorf("left are %s", left)
		}
	}
	s.await("claims of the NodePool alone", claims, ofPool("older", nodes))
	load(5)
	s.awaitFor(5*limit, "nodes to go", claims, ofPool("older", 5))
	load(0)
	s.awaitFor(5*limit, "all nodes to go", claims, ofPool("older", 0))
}

// ofProvisioner holds for n claims or nodes of a Provisioner, and none of a pool that has taken
// its place.
func ofProvisioner(name string, n int) func([]*unstructured.Unstructured) bool {
	return func(objects []*unstructured.Unstructured) bool {
		found := 0
		for _, o := range objects {
			if o.GetLabels()["karpenter.sh/provisioner-name"] == name && o.GetLabels()["karpenter.sh/nodepool"] == "" {
				found++
			}
		}
		return found == n && len(inPool(objects, name)) == 0
	}
}

// migrate moves the cluster, or moves it back; where words are given, until they are said: then it is killed.
func (s *story) migrate(way, until string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 5*limit)
	defer cancel()
	command := exec.CommandContext(ctx, program("daemok"), "migrate", way, "--report", filepath.Join(s.TempDir(), "report"), "--kubeconfig", filepath.Join(s.dir, "kubeconfig"))
	out, err := command.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		s.Fatal(err)
	}
	said := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if until != "" && strings.Contains(lines.Text(), until) {
			_ = command.Process.Kill()
			break
		}
	}
	err = errors.Join(lines.Err(), command.Wait())
	s.Logf("until %q it says\n%s", until, said)
	if until == "" && err != nil || until != "" && !strings.Contains(said, until) {
		s.Fatalf("the move, which was to be killed at %q, ended by %v and said\n%s", until, err, said)
	}
}

// scenery is which pods of the story run where and how often they were started, and which
// nodes a Provisioner had.
func (s *story) scenery() map[string]string {
	s.Helper()
	out := map[string]string{}
	var pods corev1.PodList
	if err := s.client.List(s.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	for _, p := range pods.Items {
		restarts := int32(0)
		for _, c := range p.Status.ContainerStatuses {
			restarts += c.RestartCount
		}
		out["pod "+p.Name] = fmt.Sprintf("%s on %s, started again %d times, ends %v", p.UID, p.Spec.NodeName, restarts, p.DeletionTimestamp)
	}
	var nodes corev1.NodeList
	if err := s.client.List(s.Context(), &nodes, client.HasLabels{"karpenter.sh/provisioner-name"}); err != nil {
		s.Fatal(err)
	}
	for _, n := range nodes.Items {
		out["node "+n.Name] = fmt.Sprintf("%s %s, ends %v", n.UID, n.Spec.ProviderID, n.DeletionTimestamp)
	}
	return out
}
