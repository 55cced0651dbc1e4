package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/simulate/rules"
)

func karpenter() decider { return rules.Karpenter() }

// validated is when a command is found, and when it is carried out.
var validated = []time.Duration{0, 15 * time.Second}

func TestKarpenterProvisions(t *testing.T) {
	check(t, karpenter, map[string]story{
		"a node that has room is used first": {
			text: usual + nodeOf("n", "c2", "0.1", "one") + waiting("one", 1),
			want: "one-0 on n",
		},
		"initialized nodes come before others": {
			text: usual + strings.Replace(nodeOf("a", "c2", "0.1"), " initialized", "", 1) + nodeOf("b", "c2", "0.1") + waiting("one", 1),
			want: "one-0 on b",
		},
		"a claim grows until no type holds its pods, whatever that costs": {
			text: usual + waiting("one", 4),
			want: "c4 in a,b on-demand for one-0,one-1,one-2,one-3",
		},
		"and what it may become is each type that holds them, the cheapest first": {
			text: usual + waiting("one", 2),
			want: "c2,c4 in a,b on-demand for one-0,one-1",
		},
		"pods with much cpu are first": {
			text: usual + waiting("one", 3) + waiting("two", 2),
			want: "c4 in a,b on-demand for two-0,two-1; c4 in a,b on-demand for one-0,one-1,one-2",
		},
		"of the claims that have room the one with the fewest pods is next": {
			text: usual + "shape three cpu=3 memory=1Gi\n" + waiting("three", 2) + waiting("half", 2),
			want: "c4 in a,b on-demand for half-0,three-0; c4 in a,b on-demand for half-1,three-1",
		},
		"a claim that is not launched pauses everything": {
			text: usual + "machine new pool=NodePool/default\n  allocatable cpu=2 memory=4Gi pods=10\n" + waiting("two", 3),
			want: "",
		},
		"an instance that is launched is a node": {
			text: usual + "machine new pool=NodePool/default launched\n  allocatable cpu=2 memory=4Gi pods=10\n" + waiting("one", 1),
			want: "one-0 on new",
		},
		"the heaviest pool is first": {
			text: types + "pool NodePool/a weight=1 catalogue=c\n  require node.kubernetes.io/instance-type In c2\npool NodePool/b catalogue=c\n  require node.kubernetes.io/instance-type In c4\n" + waiting("one", 1),
			want: "c2 in a,b on-demand for one-0",
		},
		"of equally heavy pools the last by name": {
			text: types + "pool NodePool/a catalogue=c\n  require node.kubernetes.io/instance-type In c2\npool NodePool/b catalogue=c\n  require node.kubernetes.io/instance-type In c4\n" + waiting("one", 1),
			want: "c4 in a,b on-demand for one-0",
		},
		"a pod that no type holds has no place": {
			text: usual + "shape huge cpu=9 memory=1Gi\n" + waiting("huge", 1),
			want: "no place for huge-0",
		},
		"what limits leave decides which types a claim may become": {
			text: types + "pool NodePool/default catalogue=c\n  limit cpu=3\n" + waiting("one", 3),
			want: "c2 in a,b on-demand for one-0,one-1; no place for one-2",
		},
		"and so does the number of nodes": {
			text: types + "pool NodePool/default catalogue=c nodes=1\n  limit nodes=1\n" + waiting("one", 1),
			want: "no place for one-0",
		},
		"of which a claim takes one": {
			text: types + "pool NodePool/default catalogue=c nodes=1\n  limit nodes=2\n" + waiting("two", 3),
			want: "c4 in a,b on-demand for two-0,two-1; no place for two-2",
		},
		"minValues ends the growth of a claim": {
			text: types + "pool NodePool/default catalogue=c\n  require node.kubernetes.io/instance-type Exists minvalues 2\n" + waiting("one", 3),
			want: "c2,c4 in a,b on-demand for one-0,one-1; c2,c4 in a,b on-demand for one-2",
		},
	})
}

// Rules about labels and other pods narrow down what a claim may become.
func TestKarpenterKeepsRulesOfPods(t *testing.T) {
	const head, tail = "shape web cpu=1 memory=1Gi\n  labels app=web\n", "    select app In web\n"
	spread := usual + head + "  spread topology.kubernetes.io/zone\n" + tail
	check(t, karpenter, map[string]story{
		"a spread over zones begins where the fewest pods are": {
			text: spread + nodeOf("n", "c2", "0.1", "web", "web") + waiting("web", 1),
			want: "c2,c4 in b on-demand for web-0",
		},
		"and goes on in turn": {
			text: spread + waiting("web", 3),
			want: "c2,c4 in a on-demand for web-0,web-2; c2,c4 in b on-demand for web-1",
		},
		"also where others have room by its skew": {
			text: usual + head + "  spread topology.kubernetes.io/zone skew=2\n" + tail + nodeOf("n", "c2", "0.1", "web", "one") + waiting("web", 1),
			want: "c2,c4 in b on-demand for web-0",
		},
		"a spread that may give way holds for as long as it can": {
			text: usual + head + "  spread topology.kubernetes.io/zone soft\n" + tail + nodeOf("n", "c4", "0.3", "web", "web") + waiting("web", 1),
			want: "c2,c4 in b on-demand for web-0",
		},
		"and gives way then": {
			text: usual + head + "  term\n    require topology.kubernetes.io/zone In a\n  spread topology.kubernetes.io/zone soft ignore-node-terms\n" + tail + nodeOf("n", "c4", "0.3", "web", "web") +
				strings.ReplaceAll(nodeOf("m", "c2", "0.1", "two"), "zone=a", "zone=b") + waiting("web", 1),
			want: "web-0 on n",
		},
		"so does preferred pod affinity": {
			text: usual + head + nodeOf("n", "c2", "0.1") + strings.ReplaceAll(nodeOf("m", "c2", "0.1", "web", "one"), "zone=a", "zone=b") +
				"shape fan cpu=1 memory=1Gi\n  near topology.kubernetes.io/zone weight=1\n" + tail + "shape lone cpu=1 memory=1Gi\n  near topology.kubernetes.io/zone weight=1\n    select app In none\n" +
				waiting("fan", 1) + waiting("lone", 1),
			want: "lone-0 on n; c2,c4 in b on-demand for fan-0",
		},
		"and preferred pod anti-affinity": {
			text: usual + head + nodeOf("n", "c4", "0.3", "web") + strings.ReplaceAll(nodeOf("m", "c2", "0.1", "two"), "zone=a", "zone=b") +
				"shape shy cpu=1 memory=1Gi\n  apart topology.kubernetes.io/zone weight=1\n" + tail + "shape stuck cpu=1 memory=1Gi\n  term\n    require topology.kubernetes.io/zone In a\n  apart topology.kubernetes.io/zone weight=1\n" + tail +
				waiting("shy", 1) + waiting("stuck", 1),
			want: "stuck-0 on n; c2,c4 in b on-demand for shy-0",
		},
		"pods that must share the host of others get no claim": {
			text: usual + head + nodeOf("n", "c2", "0.1", "web", "one") + "shape near cpu=1 memory=1Gi\n  near kubernetes.io/hostname\n" + tail + waiting("near", 1),
			want: "no place for near-0",
		},
		"pods that are apart by host get a claim each": {
			text: usual + head + "  apart kubernetes.io/hostname\n" + tail + waiting("web", 2),
			want: "c2,c4 in a,b on-demand for web-0; c2,c4 in a,b on-demand for web-1",
		},
		"pods that are apart by zone find no third zone": {
			text: usual + head + "  apart topology.kubernetes.io/zone\n" + tail + waiting("web", 3),
			want: "c2,c4 in a on-demand for web-0; c2,c4 in b on-demand for web-1; no place for web-2",
		},
		"pods that are near each other share a zone, and wait for each other": {
			text: usual + "shape one-b cpu=1 memory=1Gi\n  labels app=web\n  term\n    require topology.kubernetes.io/zone In b\n" +
				"shape near cpu=3 memory=1Gi\n  near topology.kubernetes.io/zone\n    select app In web\n" + waiting("near", 1) + waiting("one-b", 1),
			want: "c4 in b on-demand for near-0,one-b-0",
		},
		"the heaviest preference for nodes is required, until it cannot be had": {
			text: usual + "shape picky cpu=1 memory=1Gi\n  prefer weight=1\n    require topology.kubernetes.io/zone In a\n  prefer weight=9\n    require topology.kubernetes.io/zone In nowhere\n  prefer weight=5\n    require topology.kubernetes.io/zone In b\n" +
				nodeOf("n", "c2", "0.1") + waiting("picky", 1),
			want: "c2,c4 in b on-demand for picky-0",
		},
		"of alternative terms the first counts, as long as it can be met": {
			text: usual + "shape either cpu=1 memory=1Gi\n  term\n    require topology.kubernetes.io/zone In b\n  term\n    require topology.kubernetes.io/zone In a\n" +
				nodeOf("n", "c2", "0.1") + waiting("either", 1),
			want: "c2,c4 in b on-demand for either-0",
		},
		"the next one then": {
			text: usual + "shape either cpu=1 memory=1Gi\n  term\n    require topology.kubernetes.io/zone In nowhere\n  term\n    require topology.kubernetes.io/zone In a\n" +
				nodeOf("n", "c2", "0.1") + waiting("either", 1),
			want: "either-0 on n",
		},
		"a taint PreferNoSchedule of a node": {
			text: types + "pool NodePool/default catalogue=c\n  taint x=y:PreferNoSchedule\npool NodePool/b catalogue=c\n" + nodeOf("n", "c2", "0.1") + "  taint x=y:PreferNoSchedule\n" + waiting("one", 1),
			want: "c2,c4 in a,b on-demand for one-0",
		},
		"a taint PreferNoSchedule of a pool keeps pods away until nothing else is left": {
			text: types + "pool NodePool/a weight=1 catalogue=c\n  taint x=y:PreferNoSchedule\n  require node.kubernetes.io/instance-type In c4\npool NodePool/b catalogue=c\n  require node.kubernetes.io/instance-type In c2\nshape big cpu=4 memory=1Gi\n" +
				waiting("big", 1) + waiting("one", 1),
			want: "c4 in a,b on-demand for big-0; c2 in a,b on-demand for one-0",
		},
		"a host port is taken once": {
			text: usual + "shape port cpu=1 memory=1Gi\n  port TCP 80\n" + nodeOf("n", "c4", "0.3", "port") + waiting("port", 2),
			want: "c2,c4 in a,b on-demand for port-0; c2,c4 in a,b on-demand for port-1",
		},
	})
}

func TestKarpenterAsksTheCloud(t *testing.T) {
	var many string
	for i := range 70 {
		many += fmt.Sprintf("kind t%02d cpu=2 memory=4Gi pods=10\n  offer a on-demand %.2f\n", i, 9-float64(i)/100)
	}
	check(t, karpenter, map[string]story{
		"for spot instances before on-demand ones, but for none that costs more": {
			text: strings.Replace(usual, "kind c4", "  offer a spot 0.04\n  offer b spot 0.11\nkind c4", 1) + waiting("one", 1),
			want: "c2 in a spot for one-0",
		},
		"for bare metal only if nothing else will do": {
			text: strings.Replace(usual, "kind c4", "kind c2.metal cpu=8 memory=4Gi pods=10\n  offer a on-demand 0.05\nkind c4", 1) + "shape big cpu=8 memory=1Gi\n" + waiting("big", 1) + waiting("one", 4),
			want: "c2.metal in a on-demand for big-0; c4 in a,b on-demand for one-0,one-1,one-2,one-3",
		},
		"for accelerators only if nothing else will do": {
			text: strings.Replace(usual, "kind c4", "kind gpu cpu=2 memory=4Gi pods=10 nvidia.com/gpu=1\n  offer a on-demand 0.05\nkind c4", 1) + waiting("one", 1),
			want: "c2,c4 in a,b on-demand for one-0",
		},
	})
	s := asked(t, karpenter(), "snapshot 1 2026-01-01T00:00:00Z\nshape one cpu=1 memory=1Gi\ncatalogue c 1\n"+many+"pool NodePool/default catalogue=c\n"+waiting("one", 1), 0)
	kinds, _ := s.Launches[0].Requirements.Get(cluster.LabelInstanceType).Finite()
	if len(kinds) != 60 || !slices.Contains(kinds, "t69") || slices.Contains(kinds, "t00") {
		t.Errorf("asks for %d types: %v, want the 60 cheapest", len(kinds), kinds)
	}
}

func TestKarpenterRemovesEmptyNodes(t *testing.T) {
	two := nodeOf("a", "c2", "0.1") + nodeOf("b", "c2", "0.1")
	check(t, karpenter, map[string]story{
		"together, after 15 seconds":      {text: usual + two, at: validated, want: "Empty a b"},
		"not before":                      {text: usual + two, at: []time.Duration{0, 14 * time.Second}},
		"as many as the budget allows":    {text: strings.Replace(usual, "allow 100", "allow 1", 1) + two, at: validated, want: "Empty a"},
		"with consolidateAfter never":     {text: strings.Replace(usual, "allow 100", "policy never\n  allow 100", 1) + two, at: validated},
		"not within consolidateAfter":     {text: strings.Replace(usual, "allow 100", "policy after=48h\n  allow 100", 1) + two, at: validated},
		"not those with do-not-disrupt":   {text: strings.Replace(usual+two, "node a", "node a do-not-disrupt", 1), at: validated, want: "Empty b"},
		"not those that are to get pods":  {text: usual + nodeOf("a", "c2", "0.1") + waiting("one", 1), at: validated, want: "one-0 on a"},
		"those alone with WhenEmpty":      {text: strings.Replace(usual, "allow 100", "policy consolidate=WhenEmpty\n  allow 100", 1) + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "half"), at: validated},
		"also with pods of low priority":  {text: usual + "shape low cpu=1 memory=1Gi priority=-33554432\n" + nodeOf("a", "c2", "0.1", "low"), at: validated, want: "Empty a"},
		"not those of static pools":       {text: strings.Replace(usual, " catalogue=c", " replicas=2 catalogue=c", 1) + two, at: validated},
		"also with pods of low cost":      {text: strings.Replace(usual+nodeOf("a", "c2", "0.1", "one"), "returns", "returns deletion-cost=-134217728", 1), at: validated, want: "Empty a"},
		"and old ones at once, with pods": {text: strings.Replace(usual+nodeOf("a", "c2", "0.1", "one"), "node a", "node a expires=2025-12-31T00:00:00Z", 1), want: "Expired a"},
		"for one reason":                  {text: strings.Replace(usual+nodeOf("a", "c2", "0.1"), "node a", "node a expires=2025-12-31T00:00:00Z", 1), at: validated, want: "Expired a"},
	})
}

// What has changed within the 15 seconds counts.
func TestKarpenterValidates(t *testing.T) {
	decide := karpenter()
	asked(t, decide, usual+nodeOf("a", "c2", "0.1")+nodeOf("b", "c2", "0.1"), 0)
	if got := said(asked(t, decide, usual+nodeOf("a", "c2", "0.1", "one")+nodeOf("b", "c2", "0.1"), 15*time.Second)); got != "Empty b" {
		t.Errorf("got %q, want that the empty node goes alone", got)
	}
	decide = karpenter()
	asked(t, decide, usual+nodeOf("a", "c2", "0.1", "half")+nodeOf("b", "c2", "0.1", "one"), 0)
	if got := said(asked(t, decide, usual+nodeOf("a", "c2", "0.1", "half")+nodeOf("b", "c2", "0.1", "two"), 15*time.Second)); got != "" {
		t.Errorf("got %q, want nothing: its pods have no room any more", got)
	}
	pair := usual + nodeOf("a", "c4", "0.3", "half") + nodeOf("b", "c4", "0.3", "half") + nodeOf("x", "c2", "0.1", "two")
	three := usual + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "half") + nodeOf("x", "c4", "0.1", "one", "two")
	decide = karpenter()
	asked(t, decide, three, 0)
	if got := said(asked(t, decide, strings.Replace(three, "node a", "node a do-not-disrupt", 1), 15*time.Second)); got != "" {
		t.Errorf("got %q, want nothing: one of the nodes may not go any more", got)
	}
	pair = strings.Replace(pair, "kind c2", "kind s2 cpu=2 memory=4Gi pods=10\n  offer a on-demand 0.11\nkind c2", 1)
	decide = karpenter()
	asked(t, decide, pair, 0)
	if got := said(asked(t, decide, strings.Replace(pair, "0.11", "0.11 unavailable", 1), 15*time.Second)); got != "" {
		t.Errorf("got %q, want nothing: it may not become an s2 any more", got)
	}
}

func TestKarpenterConsolidates(t *testing.T) {
	fits := nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "one", "half")
	check(t, karpenter, map[string]story{
		"a node whose pods fit elsewhere": {text: usual + fits, at: validated, want: "Underutilized a"},
		"what saves most for each pod first": {
			text: usual + nodeOf("a", "c2", "0.1", "half", "half") + nodeOf("b", "c2", "0.1", "half") + nodeOf("x", "c4", "0.1", "two", "two"),
			at:   validated, want: "Underutilized b"},
		"the most nodes that one cheaper node replaces": {
			text: usual + nodeOf("a", "c4", "0.3", "half") + nodeOf("b", "c4", "0.3", "half") + nodeOf("x", "c2", "0.1", "two"),
			at:   validated, want: "Underutilized a b -> c2 in a,b on-demand for a-0,b-0"},
		"as many as can go": {
			text: usual + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "half") + nodeOf("d", "c2", "0.1", "half") + nodeOf("x", "c4", "0.1", "one", "half", "half", "half"),
			at:   validated, want: "Underutilized a b d"},
		"single nodes of each pool in turn": {
			text: usual + "shape four cpu=4 memory=1Gi\npool NodePool/other catalogue=c\n  allow 100\n" + nodeOf("a", "c4", "0.05", "four") + nodeOf("b", "c4", "0.03", "one") +
				strings.Replace(nodeOf("d", "c4", "0.02", "one"), "NodePool/default", "NodePool/other", 1) + nodeOf("x", "c4", "0.01", "two", "one"),
			at: validated, want: "Underutilized d"},
		"not by a type that costs more in some zone": {
			text: strings.Replace(usual, "offer b on-demand 0.10", "offer b on-demand 0.50", 1) + nodeOf("a", "c4", "0.3", "one"), at: validated},
		"not to nodes that have not started": {
			text: usual + nodeOf("a", "c2", "0.1", "half") + strings.Replace(nodeOf("b", "c2", "0.1", "one", "half"), " initialized", "", 1), at: validated},
		"not pods that are gone for good then": {
			text: strings.Replace(usual+fits, "returns", `one-off="it has no controller"`, 1), at: validated, want: "Underutilized b"},
		"a single node by a cheaper one": {text: usual + nodeOf("a", "c4", "0.3", "one"), at: validated, want: "Underutilized a -> c2 in a,b on-demand for a-0"},
		"not by one that costs as much":  {text: usual + nodeOf("a", "c2", "0.1", "one"), at: validated},
		"not several by one of their type that costs as much as one of them": {
			text: strings.Replace(usual, "kind c2", "kind c1 cpu=1 memory=2Gi pods=10\n  offer a on-demand 0.20\nkind c2", 1) + nodeOf("a", "c2", "0.1", "one", "half") + nodeOf("b", "c2", "0.1", "half", "one"),
			at:   validated},
		"not over the budget": {text: strings.Replace(usual, "allow 100", "allow 0", 1) + fits, at: validated},
		"not by evicting protected pods": {
			text: strings.Replace(usual+fits, "pod default/a-0", "pod default/a-0 do-not-disrupt", 1), at: validated, want: "Underutilized b"},
		"not against a PodDisruptionBudget": {
			text: strings.Replace(usual+fits, "pod default/a-0", "pod default/a-0 pdbs=g", 1) + "pdb default/g allows=0\n", at: validated, want: "Underutilized b"},
		"on-demand nodes by spot ones": {
			text: strings.Replace(usual, "kind c4", "  offer a spot 0.04\nkind c4", 1) + nodeOf("a", "c2", "0.1", "one"),
			at:   validated, want: "Underutilized a -> c2 in a spot for a-0"},
		"but not spot nodes by spot ones": {
			text: strings.Replace(usual, "kind c4", "  offer a spot 0.04\nkind c4", 1) + strings.Replace(nodeOf("a", "c2", "0.08", "one"), "on-demand", "spot", 1),
			at:   validated},
		"without pods of nodes on which something has just happened": {
			text: strings.Replace(usual, "allow 100", "policy after=1h\n  allow 100", 1) + nodeOf("a", "c2", "0.1", "half") + strings.Replace(nodeOf("b", "c2", "0.1", "one", "half"), "2025-12-31T00:00:00Z", "2025-12-31T23:59:00Z", 1),
			at:   validated},
		"with Balanced where the share saved is half of the share disrupted or more": {
			text: strings.Replace(usual, "allow 100", "policy consolidate=Balanced\n  allow 100", 1) + fits, at: validated, want: "Underutilized a"},
		"and not where it is less": {
			text: strings.Replace(usual, "allow 100", "policy consolidate=Balanced\n  allow 100", 1) + nodeOf("a", "c2", "0.11", "one") + nodeOf("b", "c4", "0.3", "two", "two"),
			at:   validated},
	})
}

// A search that found nothing is not repeated while nothing changes, for five minutes.
func TestKarpenterLooksAgainWhenSomethingChanges(t *testing.T) {
	decide := karpenter()
	full := usual + nodeOf("a", "c2", "0.1", "one")
	asked(t, decide, full+nodeOf("b", "c4", "0.1", "two", "two"), 0)
	roomy := full + nodeOf("b", "c4", "0.1", "two", "one")
	if got := said(asked(t, decide, roomy, 20*time.Second, 35*time.Second)); got != "" {
		t.Errorf("got %q of the same revision, want nothing", got)
	}
	if got := said(asked(t, decide, roomy, 300*time.Second, 315*time.Second)); got != "Underutilized a" {
		t.Errorf("got %q after five minutes, want that the node goes", got)
	}
	asked(t, decide, full+nodeOf("b", "c4", "0.1", "two", "two"), 400*time.Second)
	if got := said(asked(t, decide, strings.Replace(roomy, "snapshot 1", "snapshot 2", 1), 410*time.Second, 425*time.Second)); got != "Underutilized a" {
		t.Errorf("got %q of the next revision, want that the node goes", got)
	}
}

// Ten seconds pass between two searches.
func TestKarpenterLooksEveryTenSeconds(t *testing.T) {
	decide := karpenter()
	asked(t, decide, usual, 0)
	if got := said(asked(t, decide, usual+nodeOf("a", "c2", "0.1"), 5*time.Second, 20*time.Second)); got != "" {
		t.Errorf("got %q, want nothing yet: the empty node is found after 20 seconds", got)
	}
}

// With the feature gate a spot node is replaced if at least 15 types cost less, by one of the 15 cheapest.
func TestKarpenterReplacesSpotNodesBySpotNodes(t *testing.T) {
	spot := func(kinds int, nodes string) string {
		var more strings.Builder
		for i := range kinds {
			fmt.Fprintf(&more, "kind t%02d cpu=2 memory=4Gi pods=10\n  offer a spot %.3f\n", i, 0.05+float64(i)/1000)
		}
		return strings.Replace(usual, "pool NodePool", more.String()+"pool NodePool", 1) + strings.ReplaceAll(nodes, "on-demand", "spot")
	}
	single := nodeOf("a", "c4", "0.5", "two")
	check(t, func() decider { return rules.KarpenterWith(rules.KarpenterOptions{SpotToSpot: true}) }, map[string]story{
		"several without such a bound": {text: spot(2, nodeOf("a", "c4", "0.5", "half")+nodeOf("b", "c4", "0.5", "half")), at: validated, want: "Underutilized a b -> t00,t01 in a spot for a-0,b-0"},
		"one by one of the cheapest 15": {text: spot(16, single), at: validated,
			want: "Underutilized a -> t00,t01,t02,t03,t04,t05,t06,t07,t08,t09,t10,t11,t12,t13,t14 in a spot for a-0"},
		"not one if fewer cost less": {text: spot(14, single), at: validated},
	})
}
