package simulate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/simulate"
)

// poolText is a NodePool with one requirement, and what follows in its spec.
func poolText(name, key, value, more string) string {
	return `---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: ` + name + `}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: ` + key + `, operator: In, values: ["` + value + `"]}]
` + more
}

// manifests reads what -f reads.
func manifests(t *testing.T, text string) []manifest.Object {
	t.Helper()
	objects, _, err := manifest.Read([]manifest.Source{{Name: "pools.yaml", Data: []byte(text)}}, "default")
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

const instanceType = "node.kubernetes.io/instance-type"

// A pod of half a core is there for an hour. Of the made-up types the n-th has n cores for 0.3 n dollars an hour.
func TestNodePoolsSayWhatIsLaunched(t *testing.T) {
	path := files(t, map[string]string{".csv": jobColumns + "pod,500,1000,0,3600\n"}) + ".csv"
	tests := map[string]struct {
		manifests string
		capacity  string
		dollars   float64 // an hour, of the instance that is launched
		tooLarge  int
	}{
		"a requirement":          {poolText("default", instanceType, "type-010", ""), "", 3, 0},
		"the heavier of two":     {poolText("a", instanceType, "type-001", "") + poolText("b", instanceType, "type-004", "  weight: 10\n"), "", 1.2, 0},
		"a limit of the heavier": {poolText("a", instanceType, "type-001", "") + poolText("b", instanceType, "type-004", "  weight: 10\n  limits: {cpu: 2}\n"), "", 0.3, 0},
		"--capacity beside that": {poolText("default", "karpenter.sh/capacity-type", "on-demand", ""), "on-demand", 0.3, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := simulate.Run(simulate.Options{Manifests: manifests(t, tt.manifests), Capacity: tt.capacity, Source: simulate.Source{Pods: path, To: 3600}, Policies: []string{"untouched"}})
			if err != nil {
				t.Fatal(err)
			}
			c := got.Policies["untouched"].Course
			if last := c[len(c)-1]; got.TooLarge != tt.tooLarge || last.DollarsPerHour < tt.dollars-1e-6 || last.DollarsPerHour > tt.dollars+1e-6 {
				t.Errorf("$%g an hour in the end and %d pods too large; want $%g and %d", last.DollarsPerHour, got.TooLarge, tt.dollars, tt.tooLarge)
			}
		})
	}
}

// class is an EC2NodeClass with more in its spec.
func class(name, more string) string {
	return `---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: ` + name + `}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
` + more
}

// agent is a DaemonSet that requests half a core on each node.
func agent(selector string) string {
	return `---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: ` + selector + `
      containers: [{name: agent, image: agent, resources: {requests: {cpu: 500m, memory: 100Mi}}}]
`
}

const older = `---
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default}
spec:
  providerRef: {name: default}
  kubeletConfiguration: {maxPods: 1}
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [type-001, type-002, type-003]}]
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec: {amiFamily: Bottlerocket, subnetSelector: {a: b}, securityGroupSelector: {a: b}}
`

// Three pods of 400 thousandths of a core. Of the made-up types the n-th has n cores; the cheapest for all three has two, or one
// has three cores for 0.9 dollars where a pod does not fit beside another.
func TestClassesAndDaemonSetsSayWhatNodesHave(t *testing.T) {
	path := files(t, map[string]string{".csv": jobColumns + strings.Repeat("pod,400,100,0,7200\n", 3)}) + ".csv"
	pool := func(more string) string { return poolText("default", "karpenter.sh/capacity-type", "on-demand", more) }
	for name, tt := range map[string]struct {
		manifests string
		nodes     int
		dollars   float64 // an hour
	}{
		"no class":                    {pool(""), 1, 0.6},
		"a class that says nothing":   {pool("") + class("default", ""), 1, 0.6},
		"one pod on a node":           {pool("") + class("default", "  kubelet: {maxPods: 1}\n"), 3, 0.9},
		"a class that is not the one": {pool("") + class("default", "") + class("other", "  kubelet: {maxPods: 1}\n"), 1, 0.6},
		"two pools of two classes": {strings.Replace(poolText("a", "karpenter.sh/capacity-type", "on-demand", "  weight: 10\n  limits: {cpu: 1}\n"), "name: default}", "name: sparse}", 1) + pool("") +
			class("default", "") + class("sparse", "  kubelet: {maxPods: 1}\n"), 2, 0.6},
		"a core for the system":         {pool("") + class("default", "  kubelet: {systemReserved: {cpu: '1'}}\n"), 1, 0.9},
		"a core for the kubelet":        {pool("") + class("default", "  kubelet: {kubeReserved: {cpu: 1000m}}\n"), 1, 0.9},
		"an agent on each node":         {pool("") + agent("{}"), 1, 0.6},
		"an agent on other nodes":       {pool("") + agent("{team: other}"), 1, 0.6},
		"an agent and a lot for system": {pool("") + class("default", "  kubelet: {systemReserved: {cpu: 600m}}\n") + agent("{}"), 1, 0.9},
		"the older API generation":      {older, 3, 0.9},
		"a pool with a taint is not used": {pool("") + strings.Replace(poolText("dear", "karpenter.sh/capacity-type", "on-demand", "  weight: 10\n"), "      requirements",
			"      taints: [{key: team, value: a, effect: NoSchedule}]\n      requirements", 1), 1, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := simulate.Run(simulate.Options{Manifests: manifests(t, tt.manifests), Older: provisioner.Generation(), Source: simulate.Source{Pods: path, To: 3600}, Policies: []string{"untouched", "karpenter"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, policy := range got.Order {
				c := got.Policies[policy].Course
				if last := c[len(c)-1]; got.TooLarge > 0 || last.Pending > 0 || last.Nodes != tt.nodes || math.Abs(last.DollarsPerHour-tt.dollars) > 1e-6 {
					t.Errorf("%s: %d nodes for $%g an hour in the end and %d pods without; want %d for $%g", policy, last.Nodes, last.DollarsPerHour, last.Pending, tt.nodes, tt.dollars)
				}
			}
		})
	}
}

// The pods of nine cores leave after an hour, and the instance of ten goes for one of one core, unless the NodePool forbids that.
func TestNodePoolsSayWhetherNodesAreDisrupted(t *testing.T) {
	path := files(t, map[string]string{".csv": jobColumns + "pod,9000,1000,0,3600\npod,900,1000,0,90000\n"}) + ".csv"
	any := func(more string) string {
		return poolText("default", "kubernetes.io/os", "linux", "  disruption:\n"+more)
	}
	for name, tt := range map[string]struct {
		manifests string
		budget    string
		evictions int
	}{
		"a budget of all":              {any("    budgets: [{nodes: '100%'}]\n"), "", 1},
		"a budget of none":             {any("    budgets: [{nodes: '0'}]\n"), "", 0},
		"--budget in place of that":    {any("    budgets: [{nodes: '0'}]\n"), "1", 1},
		"a budget for others":          {any("    budgets: [{nodes: '0', reasons: [Empty]}]\n"), "", 1},
		"empty nodes alone":            {any("    consolidationPolicy: WhenEmpty\n    consolidateAfter: 30s\n"), "", 0},
		"a consolidateAfter of a week": {any("    consolidateAfter: 168h\n"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := simulate.Run(simulate.Options{Manifests: manifests(t, tt.manifests), Budget: tt.budget, Source: simulate.Source{Pods: path, To: 4 * 3600}, Policies: []string{"plain", "ours"}})
			if err != nil {
				t.Fatal(err)
			}
			if n := got.Policies["ours"].Evictions; n != tt.evictions {
				t.Errorf("%d evictions, want %d", n, tt.evictions)
			}
		})
	}
}

// A pod of eight cores shares an instance of ten with one that leaves after an hour. One of nine costs a tenth less: too little for
// a pool that is Balanced, whose only node would go for it.
func TestNodePoolsSayHowKarpenterConsolidates(t *testing.T) {
	path := files(t, map[string]string{".csv": jobColumns + "pod,8000,1000,0,90000\npod,1500,1000,0,3600\n"}) + ".csv"
	for policy, evictions := range map[string]int{"WhenEmptyOrUnderutilized": 1, "Balanced": 0, "WhenEmpty": 0} {
		pool := poolText("default", "karpenter.sh/capacity-type", "on-demand", "  disruption: {budgets: [{nodes: '100%'}], consolidateAfter: 0s, consolidationPolicy: "+policy+"}\n")
		got, err := simulate.Run(simulate.Options{Manifests: manifests(t, pool), Source: simulate.Source{Pods: path, To: 2 * 3600}, Policies: []string{"karpenter"}})
		if err != nil || got.Policies["karpenter"].Evictions != evictions {
			t.Errorf("%s: %d evictions, %v; want %d", policy, got.Policies["karpenter"].Evictions, err, evictions)
		}
	}
}

func TestManifestsThatCannotBeSimulated(t *testing.T) {
	path := files(t, map[string]string{".csv": jobColumns + "pod,500,1000,0,3600\n"}) + ".csv"
	for name, tt := range map[string]struct{ manifests, want string }{
		"no NodePool":            {class("other", ""), "the manifests have no NodePool"},
		"a class that is not":    {poolText("default", instanceType, "type-001", "") + class("other", ""), "the manifests have no EC2NodeClass default, which it names: add it"},
		"nothing that fits":      {poolText("default", instanceType, "m5.large", ""), "nothing is left to simulate: pod job-00000, created at second 0, is left out: it requests cpu=500m memory=1000Mi pods=1, more than any instance that may be launched has; NodePool/default launches nothing: no instance type of the catalogue has all that it requires"},
		"a template that is not": {older[:strings.LastIndex(older, "---")], "the manifests have no AWSNodeTemplate default, which it names: add it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := simulate.Run(simulate.Options{Manifests: manifests(t, tt.manifests), Older: provisioner.Generation(), Source: simulate.Source{Pods: path, To: 3600}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run = %v, want %q", err, tt.want)
			}
		})
	}
}
