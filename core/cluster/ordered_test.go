package cluster_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// kube-scheduler gives places away among equal pods: what is left is the one's that is left, and no
// more is left than was launched.
func TestEqualPodsExchangeWhatWasOrderedForThem(t *testing.T) {
	small, large := &cluster.Shape{Requests: quantity.Resources{CPU: 1000}}, &cluster.Shape{Requests: quantity.Resources{CPU: 1000}, Priority: 1}
	shapes := map[string]*cluster.Shape{"s": small, "l": large}
	pod := func(name string) cluster.Pod {
		ends := strings.HasSuffix(name, "!")
		return cluster.Pod{UID: strings.TrimSuffix(name, "!"), Shape: shapes[name[:1]], Ending: ends, Returns: !ends}
	}
	pods := func(names string) (out []cluster.Pod) {
		for _, name := range strings.Fields(names) {
			out = append(out, pod(name))
		}
		return out
	}
	type claims = map[string]string // pods by claim
	for name, tt := range map[string]struct {
		ordered, nodes     claims // an instance whose claim has no node has not joined; a node has room for as many pods as were launched, and for one more for each "+"; one whose name ends in "!" is being deleted
		waiting, expecting string
		want               claims // the waiting pods that are to have it
	}{
		"each sits on its own": {claims{"a": "s1 l1", "b": "s2"}, claims{"a": "s1"}, "l1 s2", "", claims{"a": "l1", "b": "s2"}},
		"one took the place of its equal, which has that one's": {
			claims{"a": "s1", "b": "s2"}, claims{"a": "s2"}, "s1", "", claims{"b": "s1"}},
		"also where both machines are there": {
			claims{"a": "s1", "b": "s2"}, claims{"a": "s2", "b": ""}, "s1", "", claims{"b": "s1"}},
		"nothing was ordered for the one that took it": {
			claims{"a": "s1 s2"}, claims{"a": "s3 s2"}, "s1", "", claims{}},
		"one place is taken and another is not": {
			claims{"a": "s1 s2"}, claims{"a": "s3"}, "s1 s2", "", claims{"a": "s1"}},
		"one has room beside the one that came to spare room": {
			claims{"a": "s1"}, claims{"a": "s3 +"}, "s1", "", claims{"a": "s1"}},
		"but another has none": {
			claims{"a": "s1 s2"}, claims{"a": "s3 s4 +"}, "s1 s2", "", claims{"a": "s1"}},
		"unequal ones exchange nothing": {
			claims{"a": "l1", "b": "s2"}, claims{"a": "s2"}, "l1", "", claims{"a": "l1"}},
		"one that ends leaves its place": {
			claims{"a": "s1", "b": "s2"}, claims{"a": "s2!"}, "s1", "", claims{"a": "s1"}},
		"what was ordered twice is that on order": {
			claims{"a": "s1", "b": "s2", "c": "s2"}, claims{"a": "s2", "b": ""}, "s1", "", claims{"c": "s1"}},
		"one is handed on from node to node": {
			claims{"a": "s1", "b": "s2", "c": "s3"}, claims{"a": "s2", "b": "s3"}, "s1", "", claims{"c": "s1"}},
		"and in the other order of nodes": {
			claims{"b": "s1", "a": "s2", "c": "s3"}, claims{"b": "s2", "a": "s3"}, "s1", "", claims{"c": "s1"}},
		"the one gives up its place whose own machine is still to come": {
			claims{"a": "s1", "b": "s2", "c": "s3"}, claims{"a": "s4 s2 s3", "b": ""}, "s1", "", claims{"c": "s1"}},
		"else the one whose machine is there": {
			claims{"a": "s1", "b": "s2"}, claims{"a": "s4 s2", "b": ""}, "s1", "", claims{"b": "s1"}},
		"what is being deleted is no order": {
			claims{"a": "s1", "b!": "s2", "c": "s3"}, claims{"a": "s2 s3"}, "s1", "", claims{"c": "s1"}},
		"nor is a node that goes": {
			claims{"a": "s1", "b!": "s2", "c": "s3"}, claims{"a": "s2 s3", "b!": "", "c": ""}, "s1", "", claims{"c": "s1"}},
		"pods on a node that goes keep what was ordered for them, and take nothing": {
			claims{"a!": "s1", "b": "s2"}, claims{"a!": "s2"}, "s1", "", claims{"a!": "s1", "b": "s2"}},
		"until they end": {
			claims{"a!": "s1", "b": "s2"}, claims{"a!": "s2!"}, "s1", "", claims{"a!": "s1"}},
		"pods that are expected keep what they have": {
			claims{"a": "s1", "b": "s2"}, claims{"a": "s2"}, "", "s1", claims{"a": "s1"}},
	} {
		t.Run(name, func(t *testing.T) {
			ordered := cluster.Ordered{}
			s := &cluster.Snapshot{Waiting: pods(tt.waiting), Expected: pods(tt.expecting)}
			for _, claim := range slices.Sorted(maps.Keys(tt.ordered)) {
				ordered[claim] = strings.Fields(tt.ordered[claim])
				if on, joined := tt.nodes[claim]; joined {
					room := int64(len(ordered[claim]) + strings.Count(on, "+"))
					s.Nodes = append(s.Nodes, cluster.Node{Name: claim, Claim: claim, Pods: pods(strings.ReplaceAll(on, "+", "")),
						Allocatable: quantity.Resources{CPU: quantity.MilliCPU(1000 * room)}, Deleting: strings.HasSuffix(claim, "!")})
				} else {
					s.Instances = append(s.Instances, cluster.Instance{Claim: claim, Deleting: strings.HasSuffix(claim, "!")})
				}
			}
			for range 2 { // what is exchanged stays so
				ordered.Name(s)
				got := claims{}
				note := func(claim string, of []cluster.Pod) {
					for _, p := range of {
						got[claim] = strings.TrimSpace(got[claim] + " " + p.UID)
					}
				}
				for _, n := range s.Nodes {
					note(n.Claim, n.LaunchedFor)
				}
				for _, m := range s.Instances {
					note(m.Claim, m.LaunchedFor)
				}
				if !maps.Equal(got, tt.want) {
					t.Errorf("machines are for %v, want %v", got, tt.want)
				}
			}
		})
	}
}
