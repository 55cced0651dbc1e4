package steer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/steering"
)

var start = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// cost is what pods of the first node get, of nodes that come by it later.
func cost(turn int) int32 { return int32(math.MinInt32 + turn*stride) }

func node(name string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "web"}}}
	for _, f := range change {
		f(n)
	}
	return n
}

func tainted(n *corev1.Node) { steering.Taint(n, start) }

func taintedByUser(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: api.TaintEmptying, Value: "mine", Effect: corev1.TaintEffectNoSchedule}}
}

func leaving(n *corev1.Node) {
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
}

// pod is one of a ReplicaSet.
func pod(name, on string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: on}}
	owned("apps/v1", "ReplicaSet")(p)
	for _, f := range change {
		f(p)
	}
	return p
}

func owned(version, kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "web", UID: "u", Controller: &yes}}
	}
}

func costsUser(of string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationPodDeletionCost: of} }
}

func costsOurs(of int32) func(*corev1.Pod) { return func(p *corev1.Pod) { steering.SetCost(p, of) } }

func sees(nodes []*corev1.Node, pods ...*corev1.Pod) view {
	v := view{nodes: nodes, pods: map[string][]*corev1.Pod{}}
	for _, p := range pods {
		v.pods[p.Spec.NodeName] = append(v.pods[p.Spec.NodeName], p)
	}
	return v
}

// words are the steps in short: +node or -node, with what its pods get.
func words(list []step) string {
	var out []string
	for _, s := range list {
		text := map[bool]string{true: "+", false: "-"}[s.wanted] + s.node.Name
		for _, c := range s.pods {
			if c.clear {
				text += " " + c.pod.Name + " clear"
			} else {
				text += fmt.Sprintf(" %s %d", c.pod.Name, (int64(c.cost)-math.MinInt32)/stride)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func TestStepsToHaveNodesEmpty(t *testing.T) {
	ab := []*corev1.Node{node("a"), node("b")}
	tests := map[string]struct {
		view     view
		emptying []string
		want     string
	}{
		"nothing is to empty":              {sees(ab, pod("p", "a")), nil, ""},
		"the first one first":              {sees(ab, pod("p", "a"), pod("q", "b")), []string{"b", "a"}, "+b q 1; +a p 2"},
		"a node twice":                     {sees(ab, pod("p", "a")), []string{"a", "a"}, "+a p 1"},
		"a node that is gone":              {sees(ab, pod("p", "a")), []string{"z", "a"}, "+a p 1"},
		"it is so already":                 {sees([]*corev1.Node{node("a", tainted)}, pod("p", "a", costsOurs(cost(1)))), []string{"a"}, "+a"},
		"another pod came":                 {sees([]*corev1.Node{node("a", tainted)}, pod("p", "a", costsOurs(cost(1))), pod("q", "a")), []string{"a"}, "+a q 1"},
		"pods of others than ReplicaSets":  {sees(ab, pod("p", "a", owned("apps/v1", "StatefulSet")), pod("q", "a", owned("batch/v1", "Job"))), []string{"a"}, "+a"},
		"a pod of none":                    {sees(ab, pod("p", "a", func(p *corev1.Pod) { p.OwnerReferences = nil })), []string{"a"}, "+a"},
		"a pod that has ended":             {sees(ab, pod("p", "a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })), []string{"a"}, "+a"},
		"a user's cost stays":              {sees(ab, pod("p", "a", costsUser("100")), pod("q", "a", costsUser("0")), pod("r", "a", costsUser("-2147483648")), pod("s", "a")), []string{"a"}, "+a s 1"},
		"a user's cost that is none stays": {sees(ab, pod("p", "a", costsUser("99999999999"))), []string{"a"}, "+a"},
		"it is not to empty any more":      {sees([]*corev1.Node{node("a", tainted), node("b")}, pod("p", "a", costsOurs(cost(1))), pod("q", "a", costsUser("7"))), nil, "-a p clear"},
		"another one is to empty":          {sees([]*corev1.Node{node("a", tainted), node("b")}, pod("p", "a", costsOurs(cost(1))), pod("q", "b")), []string{"b"}, "-a p clear; +b q 1"},
		"someone took the taint away":      {sees(ab, pod("p", "a", costsOurs(cost(1)))), nil, "-a p clear"},
		"a user set the cost after Daemok": {sees([]*corev1.Node{node("a", tainted)}, pod("p", "a", costsOurs(-5), func(p *corev1.Pod) { p.Annotations[api.AnnotationPodDeletionCost] = "3" })), nil, "-a p clear"},
		"a user has the taint":             {sees([]*corev1.Node{node("a", taintedByUser)}, pod("p", "a")), []string{"a"}, ""},
		"a user has the taint, beside Daemok's": {sees([]*corev1.Node{node("a", taintedByUser, func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: api.TaintEmptying, Effect: corev1.TaintEffectPreferNoSchedule})
		})}, pod("p", "a", costsOurs(cost(1)))), []string{"a"}, "-a p clear"},
		"a node that is leaving stays as it is":      {sees([]*corev1.Node{node("a", tainted, leaving)}, pod("p", "a", costsOurs(cost(1)))), nil, ""},
		"a node that is leaving gets nothing":        {sees([]*corev1.Node{node("a", leaving)}, pod("p", "a")), []string{"a"}, ""},
		"the first has gone, the others stay":        {sees([]*corev1.Node{node("b", tainted), node("c", tainted)}, pod("p", "b", costsOurs(cost(2))), pod("q", "c", costsOurs(cost(3)))), []string{"b", "c"}, "+b; +c"},
		"a node whose pods were written in part":     {sees([]*corev1.Node{node("a", tainted), node("b", tainted)}, pod("p", "a", costsOurs(cost(1))), pod("q", "b", costsOurs(cost(1))), pod("r", "b", costsOurs(cost(2)))), []string{"a", "b"}, "+a; +b q 2"},
		"the order is the other way round by now":    {sees([]*corev1.Node{node("a", tainted), node("b", tainted)}, pod("p", "a", costsOurs(cost(1))), pod("q", "b", costsOurs(cost(2)))), []string{"b", "a"}, "+b; +a p 3"},
		"one comes before one that has its cost":     {sees([]*corev1.Node{node("a"), node("b", tainted)}, pod("p", "a"), pod("q", "b", costsOurs(cost(2)))), []string{"a", "b"}, "+a p 1; +b"},
		"pods that are being deleted are left alone": {sees([]*corev1.Node{node("a", tainted)}, pod("p", "a", costsOurs(cost(1)), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} })), nil, "-a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var emptying []plan.Emptying
			for _, n := range tt.emptying {
				emptying = append(emptying, plan.Emptying{Node: n})
			}
			if got := words(steps(tt.view, emptying)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Costs rise in the order of the nodes, stay below that of other pods, and change as little as they may.
func TestCostsRise(t *testing.T) {
	const least, most = math.MinInt32, math.MaxInt32
	tests := map[string]struct {
		have [][]int32
		want []int32
	}{
		"none yet":                               {[][]int32{nil, nil}, []int32{least + stride, least + 2*stride}},
		"between two":                            {[][]int32{{-100}, nil, {-90}}, []int32{-100, -95, -90}},
		"no room between two":                    {[][]int32{{-100}, nil, {-99}}, []int32{-100, -99, -99 + stride}},
		"before the least there is":              {[][]int32{nil, {least}}, []int32{least + stride, least + 2*stride}},
		"as the last of all that are below zero": {[][]int32{{-1}, nil, nil}, []int32{-1, -1, -1}},
		"costs that are none of low pods":        {[][]int32{{most}, {0}}, []int32{least + stride, least + 2*stride}},
		"of several the one that fits":           {[][]int32{{-50}, {-70, -30, -40}}, []int32{-50, -40}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := costs(tt.have)
			if tt.want[len(tt.want)-1] > -1 {
				tt.want[len(tt.want)-1] = -1
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("costs(%v) = %v, want %v", tt.have, got, tt.want)
			}
		})
	}
	many := costs(make([][]int32, 40_000))
	if !slices.IsSorted(many) || many[len(many)-1] != -1 || len(slices.Compact(many)) < 32_000 {
		t.Errorf("of 40,000 nodes the last one's pods cost %d, and there are %d costs", many[len(many)-1], len(slices.Compact(many)))
	}
}
