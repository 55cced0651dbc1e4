package stories_test

import (
	"bytes"
	"context"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// newestKubernetes is the version of a lab that is not configured with another.
const newestKubernetes = "1.36"

// Manifests in the shapes that public guides use are applied as they are, the cluster's
// name filled in; those of v1beta1 go through `daemok migrate` before. Their pods run, on
// instances of the pools meant, and the nodes are what the authors wanted.
func TestGuidesWorkUnchanged(t *testing.T) {
	t.Parallel()
	al2023 := runs("Amazon Linux 2023", newestKubernetes)
	first := guide{
		pods: map[string]int{"inflate": 5}, of: []string{"default"},
		labels: map[string]string{"kubernetes.io/arch": "amd64", "karpenter.sh/capacity-type": "on-demand"},
		then:   events{expire("default", "720h"), scaleToNothing("inflate")},
	}
	guides := map[string]guide{
		"spot-first": {
			pods: map[string]int{"spot-first": 4}, of: []string{"spot"},
			labels: map[string]string{"karpenter.sh/capacity-type": "spot", "intent": "apps"},
		},
		"graviton": {
			pods: map[string]int{"graviton": 3}, of: []string{"graviton"},
			labels: map[string]string{"kubernetes.io/arch": "arm64"},
		},
		"bottlerocket": {
			pods: map[string]int{"bottlerocket": 2}, of: []string{"bottlerocket"},
			labels: map[string]string{"node-os": "bottlerocket"},
		},
		"dedicated": {
			reader: agentStarts,
			pods:   map[string]int{"dedicated": 3}, of: []string{"dedicated"},
			labels: map[string]string{"team": "data"},
			nodes:  expected{tainted("dedicated")},
		},
		"custom-node": {
			pods: map[string]int{"custom-node": 12}, of: []string{"custom-node"},
			labels: map[string]string{"node-setup": "custom"},
			nodes:  expected{al2023, brings("vm.max_map_count", "NodeConfig"), offering("pods", "8")},
		},
		"gpu": {
			pods: map[string]int{"gpu": 2, "stranger": 0}, of: []string{"gpu"},
			labels: map[string]string{"accelerator": "nvidia"},
			nodes:  expected{tainted("nvidia.com/gpu")},
			then:   events{waits("stranger", 1, "NodePool/gpu: tolerate nvidia.com/gpu=true:NoSchedule")},
		},
		"savings-plan": {
			pods: map[string]int{"savings-plan": 6}, of: []string{"savings-plan", "general-purpose"},
			nodes: expected{savingsPlanIsFull("savings-plan", "general-purpose")},
			then:  events{expire("savings-plan", "168h")},
		},
		"node-types": {
			pods: map[string]int{"infra": 2, "worker": 2}, of: []string{"infra", "worker"},
			nodes: expected{infraApart},
		},
		"enable-ipvs": {
			pods: map[string]int{"enable-ipvs": 1}, of: []string{"enable-ipvs"},
			labels: map[string]string{"network-proxy": "ipvs"},
			nodes:  expected{al2023, brings("modprobe ip_vs", "shutdownGracePeriod")},
		},
		"ssh-keys": {
			pods: map[string]int{"ssh-keys": 1}, of: []string{"ssh-keys"},
			nodes: expected{al2023, brings("authorized_keys", "NodeConfig")},
		},
		"spot-limits": {
			pods: map[string]int{"batch": 6}, of: []string{"batch"},
			labels: map[string]string{"karpenter.sh/capacity-type": "spot", "karpenter.k8s.aws/instance-cpu": "4"},
			nodes:  expected{tainted("spot")},
			then:   events{waits("batch", 2, "cpu limit reached")},
		},
		"kubelet": {
			pods: map[string]int{"kubelet": 12}, of: []string{"kubelet"},
			nodes: expected{offering("pods", "10"), offering("cpu", "3700m")},
		},
		"zones": {
			pods: map[string]int{"zones": 4}, of: []string{"zones"},
			nodes: expected{inTwoZones},
		},
	}
	beta := map[string]guide{
		"inflate": {
			pods: map[string]int{"beta-inflate": 5}, of: []string{"beta-default"},
			labels: map[string]string{"kubernetes.io/arch": "amd64", "karpenter.sh/capacity-type": "on-demand"},
			nodes:  expected{al2023},
			then:   events{expire("beta-default", "720h"), scaleToNothing("beta-inflate"), machinesGo("beta-default")},
		},
		"gpu": {
			pods: map[string]int{"beta-gpu": 2}, of: []string{"beta-gpu"},
			labels: map[string]string{"beta-accelerator": "nvidia"},
			nodes:  expected{tainted("nvidia.com/gpu")},
			then: events{
				waits("beta-gpu", 1, "nvidia.com/gpu limit reached"), expire("beta-gpu", "Never"),
				scaleToNothing("beta-gpu"), machinesGo("beta-gpu"),
			},
		},
		"savings-plan": {
			pods: map[string]int{"beta-savings-plan": 6}, of: []string{"beta-savings-plan", "beta-on-demand"},
			nodes: expected{savingsPlanIsFull("beta-savings-plan", "beta-on-demand")},
			then:  events{expire("beta-savings-plan", "168h")},
		},
		"kubelet": {
			pods: map[string]int{"beta-few-pods": 12, "beta-many-pods": 2}, of: []string{"beta-few-pods", "beta-many-pods"},
			nodes: expected{those("beta-few-pods", offering("pods", "8")), those("beta-many-pods", offering("pods", "110"))},
		},
		"spot": {
			pods: map[string]int{"beta-spot": 4, "beta-trainer": 1}, of: []string{"beta-spot"},
			labels: map[string]string{"karpenter.sh/capacity-type": "spot", "intent": "beta-batch"},
			then:   events{waits("beta-trainer", 1, "nvidia.com/gpu limit reached")},
		},
		"ssh-keys": {
			pods: map[string]int{"beta-ssh-keys": 1}, of: []string{"beta-ssh-keys"},
			nodes: expected{al2023, brings("authorized_keys", "NodeConfig")},
		},
	}
	s := begin(t, ownLab(t, "--controller=true"))
	s.start(s.filled("getting-started"))
	s.follow(first) // alone: its pods go wherever there is room
	s.start(join([]string{s.guides("guides", guides), s.migrated("beta", beta)}))
	all := map[string]guide{"getting-started, whose machines go": {then: events{machinesGo("default")}}}
	maps.Copy(all, guides)
	for name, g := range beta {
		all["v1beta1 "+name] = g
	}
	s.sideBySide(all)
}

// migrated is what `daemok migrate` makes of a folder's manifests, beside their workloads, which
// it has nothing against.
func (s *story) migrated(folder string, want map[string]guide) string {
	s.Helper()
	_, workloads := parted(s.guides(folder, want))
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, program("daemok"), "migrate", "-f", filepath.Join("testdata", folder), "--kubernetes-version", newestKubernetes)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		s.Fatalf("daemok migrate: %v\n%s", err, &stderr)
	}
	return join([]string{s.fill(stdout.String()), workloads})
}

// agentStarts takes the startup taint off each node that has joined, as the agent of the guide
// would, until no pod waits for a node.
func agentStarts(s *story) {
	s.Helper()
	const taint = "node.cilium.io/agent-not-ready"
	taken := 0
	if !poll(2*limit, farEvery, func() bool {
		for _, n := range inPool(s.list("v1/Node"), "dedicated") {
			if carries(n, taint) && n.GetLabels()["karpenter.sh/registered"] == "true" {
				mustKubectl(s.T, s.dir, "taint", "nodes", n.GetName(), taint+"-")
				taken++
			}
		}
		return taken > 0 && of("dedicated", placed)(s.list("v1/Pod"))
	}) {
		s.Fatalf("the pods do not run though the startup taint was taken off %d nodes", taken)
	}
}

// placed holds when no pod waits for a node.
func placed(pods []*unstructured.Unstructured) bool {
	return !slices.ContainsFunc(pods, func(p *unstructured.Unstructured) bool { return text(p, "spec", "nodeName") == "" })
}
