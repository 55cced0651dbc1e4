package steer

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// view is what a pass sees.
type view struct {
	nodes []*corev1.Node           // all of them, sorted by name
	pods  map[string][]*corev1.Pod // by node: of those that are to empty, and wherever else something of Daemok's is left
}

// step is what is to be done to one node, in this order: taint it, write its pods, untaint it.
type step struct {
	node   *corev1.Node
	wanted bool   // it is to empty; else it is not any more
	note   string // why it is to empty
	pods   []change
}

// change is what is to be done to one pod.
type change struct {
	pod   *corev1.Pod
	clear bool  // else it gets the cost
	cost  int32 // rises in the order in which nodes are to empty
}

// apply makes the change in a pod. It reports whether the pod changed.
func (c change) apply(pod *corev1.Pod) bool {
	if c.clear {
		return steering.ClearCost(pod)
	}
	return steering.SetCost(pod, c.cost)
}

// steps lists what is to be done to have the nodes empty that a plan names, the first ones first, and no others. What is
// to be taken back comes first, since there scale-downs delete the wrong pods. Nodes that are leaving stay as they are,
// and so do those with a user's own taint of the key.
func steps(v view, emptying []plan.Emptying) []step {
	byName := map[string]*corev1.Node{}
	for _, n := range v.nodes {
		byName[n.Name] = n
	}
	var begin []step
	wanted := map[string]bool{}
	for _, e := range emptying {
		n := byName[e.Node]
		if n == nil || translate.IsLeaving(n) || wanted[e.Node] {
			continue
		}
		if _, users := steering.UsersTaint(n); users {
			continue
		}
		wanted[e.Node] = true
		begin = append(begin, step{node: n, wanted: true, note: e.Note})
	}
	give(begin, v.pods)
	return append(takeBack(v, wanted), begin...)
}

// takeBack lists what is left of Daemok's on nodes that are not to empty.
func takeBack(v view, wanted map[string]bool) (out []step) {
	for _, n := range v.nodes {
		if wanted[n.Name] || translate.IsLeaving(n) {
			continue
		}
		s := step{node: n}
		for _, p := range v.pods[n.Name] {
			if isNoted(p) && p.DeletionTimestamp == nil {
				s.pods = append(s.pods, change{pod: p, clear: true})
			}
		}
		if len(s.pods) > 0 || steering.IsTainted(n) {
			out = append(out, s)
		}
	}
	return out
}

// give adds to the steps which pods get which deletion cost.
func give(list []step, pods map[string][]*corev1.Pod) {
	have := make([][]int32, len(list))
	for i, s := range list {
		for _, p := range pods[s.node.Name] {
			if cost, ours := steering.Cost(p); ours {
				have[i] = append(have[i], cost)
			}
		}
	}
	for i, cost := range costs(have) {
		for _, p := range pods[list[i].node.Name] {
			if now, ours := steering.Cost(p); isSteered(p) && !(ours && now == cost) {
				list[i].pods = append(list[i].pods, change{pod: p, cost: cost})
			}
		}
	}
}

// stride is how far apart costs are at first, so that others find room between them.
const stride = 1 << 16

// costs returns rising deletion costs below zero, which is that of other pods, for nodes in the order in which they are to
// empty. have are the costs that their pods have already: a node keeps one where the order allows it, so that few pods are
// written when the choice changes. With more than 32,767 nodes the last ones have the same.
func costs(have [][]int32) []int32 {
	out := make([]int32, len(have))
	last, next := int64(math.MinInt32), 0
	for i := range have {
		cost, kept := above(have[i], last)
		if !kept {
			limit := last + 2*stride
			for next = max(next, i+1); next < len(have); next++ { // costs rise: one that was passed over stays so
				if c, is := above(have[next], last); is {
					limit = min(limit, c)
					break
				}
			}
			cost = min(last+max(1, (limit-last)/2), -1)
		}
		out[i], last = int32(cost), cost
	}
	return out
}

// above returns the least of the costs that is above another one and below zero.
func above(list []int32, least int64) (cost int64, found bool) {
	for _, c := range list {
		if c := int64(c); c > least && c < 0 && (!found || c < cost) {
			cost, found = c, true
		}
	}
	return cost, found
}

// isSteered reports whether the pod is one that a scale-down may delete and that no user gave a deletion cost.
func isSteered(p *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	return owner != nil && owner.Kind == "ReplicaSet" && p.DeletionTimestamp == nil && !podspec.IsTerminal(p) && !steering.HasUsersCost(p)
}

// isNoted reports whether the pod has something of Daemok's, be its cost a user's by now or not.
func isNoted(p *corev1.Pod) bool {
	_, is := p.Annotations[api.AnnotationDeletionCost]
	return is
}
