package shadow

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/observe/comparison"
)

const offered = `snapshot 1 2026-11-21T04:00:00Z
shape web cpu=500m memory=512Mi
catalogue shop 1
kind c.small cpu=2 memory=4Gi pods=20
  allocatable cpu=1900m memory=3Gi pods=20
  labels node.kubernetes.io/instance-type=c.small kubernetes.io/arch=amd64
  offer a on-demand 0.08
  offer a spot 0.03
`

// parsed is a cluster of the instance type c.small.
func parsed(t *testing.T, text string) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse(offered + text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pool is a NodePool of the catalogue; each rule is a line of it.
func pool(name string, rules ...string) string {
	return "pool NodePool/" + name + " catalogue=shop\n  labels karpenter.sh/nodepool=" + name + "\n  " +
		strings.Join(append(rules, "policy after=30s", "allow 10"), "\n  ") + "\n"
}

// groupNode is a node of node group web, with more labels and lines.
func groupNode(more string, lines ...string) string {
	return "node n1 ready initialized created=2026-11-20T04:00:00Z\n  labels eks.amazonaws.com/nodegroup=web node.kubernetes.io/instance-type=c.small topology.kubernetes.io/zone=a kubernetes.io/arch=amd64 kubernetes.io/hostname=n1 " +
		more + "\n  " + strings.Join(append(lines, "allocatable cpu=1900m memory=3Gi pods=20"), "\n  ") + "\n"
}

// A node of a node group counts as one of the NodePool whose labels and taints it has and whose requirements it meets;
// of several of the one with most labels, then the greatest weight, then the first name.
func TestANodeOfAGroupIsOfTheNodePoolThatSuitsIt(t *testing.T) {
	const dedicated = "taint team=web:NoSchedule"
	weighty := strings.Replace(pool("heavy"), "catalogue", "weight=10 catalogue", 1)
	tests := map[string]struct{ cluster, want string }{
		"the only one": {pool("default") + groupNode(""), "default"},
		"one whose labels it lacks": {strings.Replace(pool("web"), "nodepool=web",
			"nodepool=web team=web", 1) + groupNode(""), ""},
		"one whose labels it has": {strings.Replace(pool("web"), "nodepool=web",
			"nodepool=web team=web", 1) + groupNode("team=web"), "web"},
		"one with more labels before others": {weighty + strings.Replace(pool("web"), "nodepool=web",
			"nodepool=web team=web", 1) + groupNode("team=web"), "web"},
		"one whose taint it lacks":           {pool("web", dedicated) + groupNode(""), ""},
		"one whose taint it has":             {pool("web", dedicated) + groupNode("", dedicated), "web"},
		"a taint of its own does not matter": {pool("default") + groupNode("", dedicated), "default"},
		"requirements that it meets": {pool("default",
			"require kubernetes.io/arch In amd64") + groupNode(""), "default"},
		"requirements that it does not meet": {pool("arm", "require kubernetes.io/arch In arm64") + groupNode(""),
			""},
		"on demand, as its group does not say": {pool("spot",
			"require karpenter.sh/capacity-type In spot") + groupNode(""), ""},
		"spot, as its group says": {pool("spot",
			"require karpenter.sh/capacity-type In spot") + groupNode("eks.amazonaws.com/capacityType=SPOT"), "spot"},
		"the greatest weight": {pool("a") + weighty + groupNode(""), "heavy"},
		"the first name":      {pool("b") + pool("a") + groupNode(""), "a"},
		"an instance type that is not offered": {pool("default") + strings.Replace(groupNode(""), "c.small",
			"x.large", 1), ""},
		"a node that is not selected": {pool("default") + strings.Replace(groupNode(""), "nodegroup",
			"other", 1), ""},
		"a NodeClaim's node is its pool's alone": {pool("a") + pool("b") + strings.Replace(groupNode("karpenter.sh/nodepool=b"), "node n1", "node n1 claim=n1-c pool=NodePool/b", 1), "b"},
	}
	selects, err := labels.Parse("eks.amazonaws.com/nodegroup")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := parsed(t, tt.cluster)
			before := s.Nodes[0]
			got := (&Groups{Nodes: selects}).adopt(s)
			if got.Nodes[0].Pool.Name != tt.want || (got.Nodes[0].Claim != "") != (tt.want != "") {
				t.Errorf("the node is of NodePool %q, by claim %q; want %q", got.Nodes[0].Pool.Name,
					got.Nodes[0].Claim, tt.want)
			}
			if s.Nodes[0].Pool != before.Pool || s.Nodes[0].Claim != before.Claim {
				t.Error("the snapshot of the actual cluster has changed")
			}
		})
	}
}

// What such a node costs is what its instance type costs, and its age for consolidateAfter begins when it is first
// seen.
func TestANodeOfAGroupHasAPriceAndAnAge(t *testing.T) {
	groups := &Groups{Nodes: labels.Everything()}
	s := parsed(t, pool("default")+groupNode(""))
	first := groups.adopt(s)
	later := parsed(t, pool("default")+groupNode(""))
	later.Now = later.Now.Add(3600e9)
	n := groups.adopt(later).Nodes[0]
	if got := n.Price.Dollars(); got != .08 {
		t.Errorf("it costs $%.3f, want $0.080", got)
	}
	if !n.QuietSince.Equal(s.Now) || !first.Nodes[0].QuietSince.Equal(s.Now) {
		t.Errorf("an hour later it is quiet since %v, want since it was first seen at %v", n.QuietSince, s.Now)
	}
}

// going is the taint of a node that the Cluster Autoscaler drains.
const going = "taint ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule"

// grouped is a world of NodePool default beside node groups.
func grouped() (*World, func() comparison.History) {
	w, noted := watching()
	w.Groups = &Groups{Nodes: labels.Everything()}
	return w, noted
}

// groupPods are pods that come again, as lines of a node.
func groupPods(names ...string) (lines []string) {
	for _, name := range names {
		lines = append(lines, "pod default/"+name+" uid="+name+" shape=web returns started=2026-11-20T05:00:00Z")
	}
	return lines
}

// The Cluster Autoscaler taints a node, evicts its pods and then terminates it: the evictions count, though the node is
// empty when it vanishes. One that it keeps after all does not count.
func TestEvictionsOfTheClusterAutoscalerAreCounted(t *testing.T) {
	w, noted := grouped()
	node := func(lines ...string) {
		w.Project(parsed(t, pool("default")+groupNode("", lines...)))
	}
	node(groupPods("a", "b", "c")...)
	node(append(groupPods("a", "b", "c"), going)...)
	node(append(groupPods("c"), going)...)
	node(groupPods("c")...)
	if a := noted().Actual; a.Terminated != 0 || a.Evicted != 0 {
		t.Errorf("a node that stays: terminated %d, evicted %d; want none", a.Terminated, a.Evicted)
	}
	node(groupPods("c", "d")...)
	node(append(groupPods("d"), going)...)
	node(going)
	w.Project(parsed(t, pool("default")))
	if a := noted().Actual; a.Terminated != 1 || a.Evicted != 2 {
		t.Errorf("terminated %d, evicted %d; want 1 and 2", a.Terminated, a.Evicted)
	}
}

// What the end of a node does to it in the actual cluster is no reason for Daemok to put no pods on it, or to count it
// as one that is not ready.
func TestANodeThatGoesElsewhereStaysOpenInShadowMode(t *testing.T) {
	const (
		candidate = "taint DeletionCandidateOfClusterAutoscaler=1700000000:PreferNoSchedule"
		cordon    = "taint node.kubernetes.io/unschedulable:NoSchedule"
		notReady  = "taint node.kubernetes.io/not-ready:NoSchedule"
	)
	dead := func(lines ...string) string { return strings.Replace(groupNode("", lines...), " ready", "", 1) }
	tests := map[string][]string{
		"a candidate":                    {groupNode("", candidate)},
		"drained by the other":           {groupNode("", candidate), groupNode("", going)},
		"cordoned and drained":           {groupNode("", going, cordon)},
		"not ready at its end":           {groupNode("", going), dead(going, notReady), ""},
		"not ready before it vanishes":   {dead(notReady), ""},
		"cordoned before it vanishes":    {groupNode("", cordon), ""},
		"vanished without a sign before": {""},
	}
	for name, then := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := grouped()
			seen := w.Project(parsed(t, pool("default")+groupNode("")))
			for _, text := range then {
				seen = w.Project(parsed(t, pool("default")+text))
			}
			if len(seen.Nodes) != 1 {
				t.Fatalf("there are %d nodes, want 1", len(seen.Nodes))
			}
			if n := seen.Nodes[0]; n.Deleting || !n.Ready || len(n.Taints) > 0 {
				t.Errorf("deleting: %t, ready: %t, taints %v; want a node that is ready and open", n.Deleting, n.Ready,
					n.Taints)
			}
		})
	}
	w, _ := grouped()
	if n := w.Project(parsed(t, pool("default")+dead(cordon))).Nodes[0]; n.Ready || len(n.Taints) != 1 {
		t.Errorf("ready: %t, taints %v; want the state of a node that is there", n.Ready, n.Taints)
	}
}

// A node that has gone is forgotten: one that comes by its name later is new.
func TestTheAgeOfANodeThatHasGoneIsForgotten(t *testing.T) {
	groups := &Groups{Nodes: labels.Everything()}
	at := func(passed time.Duration, text string) *cluster.Snapshot {
		s := parsed(t, pool("default")+text)
		s.Now = s.Now.Add(passed)
		return groups.adopt(s)
	}
	instance := func(id string) string { return strings.Replace(groupNode(""), "node n1", "node n1 machine="+id, 1) }
	at(0, instance("i-1"))
	later := at(time.Hour, instance("i-2"))
	if n := later.Nodes[0]; !n.QuietSince.Equal(later.Now) {
		t.Errorf("a new instance of that name is quiet since %v, want %v", n.QuietSince, later.Now)
	}
	at(2*time.Hour, "")
	if len(groups.first) != 0 {
		t.Errorf("without nodes %v are kept", groups.first)
	}
}
