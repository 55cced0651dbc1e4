package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/simulate/rules"
)

func clusterAutoscaler() decider { return rules.ClusterAutoscaler() }

// unneeded is when nodes are found to be unneeded, and when they may go.
var unneeded = []time.Duration{0, 10 * time.Minute}

func TestClusterAutoscalerScalesUp(t *testing.T) {
	const memory = "kind m2 cpu=2 memory=2Gi pods=10\n  offer a on-demand 0.50\n"
	check(t, clusterAutoscaler, map[string]story{
		"the group whose nodes have the least idle cpu": {
			text: usual + waiting("one", 4), want: "c2 in a on-demand for one-0,one-1; c2 in a on-demand for one-2,one-3"},
		"whatever memory stays idle": {
			text: usual + "shape fat cpu=1500m memory=6Gi\nkind r3 cpu=3 memory=7Gi pods=10\n  offer a on-demand 0.05\nkind r2 cpu=2 memory=32Gi pods=10\n  offer a on-demand 0.50\n" + waiting("fat", 1), want: "r2 in a on-demand for fat-0"},
		"whatever it costs": {
			text: usual + "shape four cpu=4 memory=1Gi\n" + waiting("four", 1) + waiting("two", 1), want: "c2 in a on-demand for two-0; no place for four-0"},
		"then the least idle memory": {
			text: strings.Replace(usual, "kind c2", memory+"kind c2", 1) + waiting("two", 1), want: "m2 in a on-demand for two-0"},
		"then the lowest price": {
			text: strings.Replace(usual, "  offer b on-demand 0.10", "  offer b on-demand 0.09", 1) + waiting("two", 1), want: "c2 in b on-demand for two-0"},
		"and of two zones the one with fewer nodes": {
			text: usual + nodeOf("n", "c2", "0.1", "two") + waiting("two", 1), want: "c2 in b on-demand for two-0"},
		"for pods only that fit on no node": {
			text: usual + nodeOf("n", "c4", "0.3", "one") + waiting("two", 2), want: "two-0 on n; c2 in a on-demand for two-1"},
		"nor on one that is coming": {
			text: usual + "machine new pool=NodePool/default\n  allocatable cpu=2 memory=4Gi pods=10\n" + waiting("two", 1), want: "two-0 on new"},
		"not again within 10 seconds": {text: usual + waiting("two", 1), at: []time.Duration{0, 9 * time.Second}},
		"within the limits of the pool": {
			text: types + "pool NodePool/default catalogue=c\n  limit cpu=3\n" + waiting("two", 2), want: "c2 in a on-demand for two-0; no place for two-1"},
		"with a node for each pod that is apart from the others": {
			text: usual + "shape web cpu=1 memory=1Gi\n  labels app=web\n  apart kubernetes.io/hostname\n    select app In web\n" + waiting("web", 2),
			want: "c2 in a on-demand for web-0; c2 in a on-demand for web-1"},
		"in the zone that a spread leaves": {
			text: usual + "shape web cpu=2 memory=1Gi\n  labels app=web\n  spread topology.kubernetes.io/zone\n    select app In web\n" + nodeOf("n", "c2", "0.1", "web") +
				strings.ReplaceAll(nodeOf("m", "c2", "0.1", "two"), "zone=a", "zone=b") + waiting("web", 1),
			want: "c2 in b on-demand for web-0"},
		"in a zone that the pods accept": {
			text: usual + "shape web cpu=2 memory=1Gi\n  term\n    require topology.kubernetes.io/zone In b\n" + waiting("web", 1), want: "c2 in b on-demand for web-0"},
		"with a node for each pod of a host port": {
			text: usual + "shape port cpu=1 memory=1Gi\n  port TCP 80\n" + waiting("port", 2), want: "c2 in a on-demand for port-0; c2 in a on-demand for port-1"},
	})
}

func TestClusterAutoscalerScalesDown(t *testing.T) {
	fits := nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c4", "0.3", "one", "one")
	var empty string
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf(" n%02d", i))
		empty += nodeOf(fmt.Sprintf("n%02d", i), "c2", "0.1")
	}
	check(t, clusterAutoscaler, map[string]story{
		"a node is tainted while it is unneeded": {text: usual + fits, want: "taint a"},
		"and goes after 10 minutes":              {text: usual + fits, at: unneeded, want: "Underutilized a; taint a"},
		"not a moment sooner":                    {text: usual + fits, at: []time.Duration{0, 10*time.Minute - time.Second}, want: "taint a"},
		"not if half of its memory is requested": {
			text: usual + "shape fat cpu=1m memory=2Gi\n" + nodeOf("a", "c2", "0.1", "fat") + nodeOf("b", "c4", "0.3", "two"), at: unneeded},
		"not if its pods fit nowhere else": {
			text: usual + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c4", "0.3", "two", "two"), at: unneeded},
		"two nodes do not rely on the same room": {
			text: usual + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "half") + nodeOf("x", "c4", "0.3", "one", "two", "half"), at: unneeded, want: "Underutilized a; taint a"},
		"one node with pods at a time": {
			text: usual + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "half") + nodeOf("x", "c4", "0.3", "one", "one"), at: unneeded, want: "Underutilized a; taint a; taint b"},
		"none while another drains": {
			text: usual + fits + strings.Replace(nodeOf("x", "c2", "0.1", "half"), "ready", "deleting ready", 1), at: unneeded, want: "x-0 on a; taint a"},
		"ten empty nodes at once": {text: usual + empty, at: unneeded, want: "Empty" + strings.Join(names[:10], "; Empty") + "; taint" + strings.Join(names[:10], "; taint")},
		"not pods that are gone for good then": {
			text: strings.Replace(usual+fits, "returns", `one-off="it has no controller"`, 1), at: unneeded},
		"not over the budget":           {text: strings.Replace(usual, "allow 100", "allow 1", 1) + nodeOf("a", "c2", "0.1") + nodeOf("b", "c2", "0.1"), at: unneeded, want: "Empty a; taint a; taint b"},
		"not those with do-not-disrupt": {text: strings.Replace(usual+fits, "node a", "node a do-not-disrupt", 1), at: unneeded},
		"not by evicting protected pods": {
			text: strings.Replace(usual+fits, "pod default/a-0", "pod default/a-0 do-not-disrupt", 1), at: unneeded},
		"not against a PodDisruptionBudget": {
			text: strings.Replace(usual+fits, "pod default/a-0", "pod default/a-0 pdbs=g", 1) + "pdb default/g allows=0\n", at: unneeded},
		"not pods of kube-system without one": {
			text: strings.Replace(usual+fits, "pod default/a-0", "pod kube-system/a-0", 1), at: unneeded},
	})
}

func TestClusterAutoscalerWaitsAfterItScaledUp(t *testing.T) {
	decide := clusterAutoscaler()
	idle := usual + nodeOf("a", "c2", "0.1", "half") + nodeOf("b", "c2", "0.1", "one")
	asked(t, decide, idle, 0)
	asked(t, decide, strings.Replace(idle+waiting("two", 1), "snapshot 1", "snapshot 2", 1), 5*time.Minute)
	if got := said(asked(t, decide, strings.Replace(idle, "snapshot 1", "snapshot 3", 1), 15*time.Minute-time.Second)); got != "taint a" {
		t.Errorf("got %q within 10 minutes after a node was added, want the taint alone", got)
	}
	if got := said(asked(t, decide, strings.Replace(idle, "snapshot 1", "snapshot 3", 1), 16*time.Minute)); got != "Underutilized a; taint a" {
		t.Errorf("got %q after 10 minutes, want that the node goes", got)
	}
}

// A node that was needed in between is unneeded from then on.
func TestClusterAutoscalerCountsFromWhenANodeWasLastNeeded(t *testing.T) {
	decide := clusterAutoscaler()
	idle, busy := usual+nodeOf("a", "c2", "0.1", "half")+nodeOf("b", "c4", "0.1", "two"), usual+nodeOf("a", "c2", "0.1", "two")+nodeOf("b", "c4", "0.1", "two")
	asked(t, decide, idle, 0)
	asked(t, decide, strings.Replace(busy, "snapshot 1", "snapshot 2", 1), 5*time.Minute)
	if got := said(asked(t, decide, strings.Replace(idle, "snapshot 1", "snapshot 3", 1), 6*time.Minute, 15*time.Minute)); got != "taint a" {
		t.Errorf("got %q after 9 minutes, want the taint alone", got)
	}
}
