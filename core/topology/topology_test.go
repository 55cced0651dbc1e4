package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/topology"
)

// model is the same rules written the long way: it keeps every pod on its node and counts again for
// each question.
type model struct {
	nodes []modelNode
}

type modelNode struct {
	labels constraint.Labels
	taints []constraint.Taint
	pods   []modelPod
}

type modelPod struct {
	shape  *cluster.Shape
	ending bool
}

// accepts reports whether kube-scheduler's plugins for spreads and for pod affinity would let one
// more pod onto the node.
func (m *model) accepts(s *cluster.Shape, at int) bool {
	return m.spreads(s, at) && m.near(s, at) && m.apart(s, at) && m.unopposed(s, at)
}

func (m *model) spreads(s *cluster.Shape, at int) bool {
	for _, c := range s.Spread {
		here, ok := m.nodes[at].labels.Get(c.Key)
		if !ok {
			return false
		}
		counts := map[string]int{}
		for _, n := range m.nodes {
			value, labelled := n.labels.Get(c.Key)
			if !labelled || !eligible(s, c, n) {
				continue
			}
			counts[value] += 0
			for _, p := range n.pods {
				if !p.ending && p.shape.Namespace == s.Namespace && c.Selector.Matches(p.shape.Labels) {
					counts[value]++
				}
			}
		}
		least := 1 << 30
		for _, n := range counts {
			least = min(least, n)
		}
		if len(counts) < int(c.MinDomains) {
			least = 0
		}
		self := 0
		if c.Selector.Matches(s.Labels) {
			self = 1
		}
		if counts[here]+self-least > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

func eligible(s *cluster.Shape, c cluster.Spread, n modelNode) bool {
	for _, other := range s.Spread {
		if _, ok := n.labels.Get(other.Key); !ok {
			return false
		}
	}
	if _, found := constraint.Untolerated(n.taints, s.Tolerations); c.HonourTaints && found {
		return false
	}
	if c.IgnoreNodeTerms || len(s.NodeTerms) == 0 {
		return true
	}
	return slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool { _, ok := t.Allow(n.labels); return ok })
}

func chooses(x cluster.Neighbours, pod *cluster.Shape) bool {
	in := x.AllNamespaces || slices.Contains(x.Namespaces, pod.Namespace)
	return in && x.Selector.Matches(pod.Labels)
}

func (m *model) near(s *cluster.Shape, at int) bool {
	var terms []cluster.Neighbours
	for _, x := range s.Neighbours {
		if !x.Apart {
			terms = append(terms, x)
		}
	}
	all := func(pod *cluster.Shape) bool {
		return !slices.ContainsFunc(terms, func(x cluster.Neighbours) bool { return !chooses(x, pod) })
	}
	there, anywhere := true, false
	for _, x := range terms {
		here, ok := m.nodes[at].labels.Get(x.Key)
		if !ok {
			return false
		}
		found := false
		for _, n := range m.nodes {
			value, labelled := n.labels.Get(x.Key)
			for _, p := range n.pods {
				if labelled && all(p.shape) {
					anywhere = true
					found = found || value == here
				}
			}
		}
		there = there && found
	}
	return there || !anywhere && all(s)
}

func (m *model) apart(s *cluster.Shape, at int) bool {
	for _, x := range s.Neighbours {
		if x.Apart && m.meets(x, at, func(p *cluster.Shape) bool { return chooses(x, p) }) {
			return false
		}
	}
	return true
}

// meets reports whether a pod for which is holds is in the node's domain.
func (m *model) meets(x cluster.Neighbours, at int, is func(*cluster.Shape) bool) bool {
	here, ok := m.nodes[at].labels.Get(x.Key)
	for _, n := range m.nodes {
		value, labelled := n.labels.Get(x.Key)
		if ok && labelled && value == here && slices.ContainsFunc(n.pods, func(p modelPod) bool { return is(p.shape) }) {
			return true
		}
	}
	return false
}

func (m *model) unopposed(s *cluster.Shape, at int) bool {
	for _, n := range m.nodes {
		for _, p := range n.pods {
			for _, x := range p.shape.Neighbours {
				if x.Apart && chooses(x, s) && m.meets(x, at, func(q *cluster.Shape) bool { return q == p.shape }) {
					return false
				}
			}
		}
	}
	return true
}

// Random pods are put on random nodes wherever the board allows it, and the
// model must agree about every node at every step.
func TestTheBoardAgreesWithTheLongWay(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		nodes, shapes := randomNodes(r), randomShapes(r)
		board := topology.NewBoard()
		rules := make([]*topology.Rules, len(shapes))
		for i := range shapes {
			rules[i] = board.Rules(topology.Preference{Shape: shapes[i], Spread: shapes[i].Spread, Neighbours: shapes[i].Neighbours})
		}
		m := &model{}
		late := r.IntN(len(nodes))
		for i, n := range nodes {
			if i == late {
				board.Start()
			}
			board.AddPlace(n.labels, n.taints, false)
			m.nodes = append(m.nodes, n)
		}
		for step := range 60 {
			k := r.IntN(len(shapes))
			open := []int{}
			for at := range m.nodes {
				room, want := board.Room(rules[k], board.Spot(at)), m.accepts(shapes[k], at)
				if room > 0 != want {
					t.Fatalf("seed %d step %d: room for shape %d on node %d is %d, the long way says %v\n%+v", seed, step, k, at, room, want, *shapes[k])
				}
				if want {
					open = append(open, at)
				}
			}
			if len(open) == 0 {
				continue
			}
			at := open[r.IntN(len(open))]
			ending := r.IntN(8) == 0
			board.Put(rules[k], at, 1, ending)
			m.nodes[at].pods = append(m.nodes[at].pods, modelPod{shapes[k], ending})
			if r.IntN(20) == 0 {
				board = board.Clone()
			}
		}
	}
}

// What Room says may come at once must be allowed one after another.
func TestRoomForSeveralIsRoomForEach(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		nodes, shapes := randomNodes(r), randomShapes(r)
		board := topology.NewBoard()
		var rules []*topology.Rules
		for _, s := range shapes {
			rules = append(rules, board.Rules(topology.Preference{Shape: s, Spread: s.Spread, Neighbours: s.Neighbours}))
		}
		for _, n := range nodes {
			board.AddPlace(n.labels, n.taints, false)
		}
		board.Start()
		for range 30 {
			k, at := r.IntN(len(shapes)), r.IntN(len(nodes))
			for n := min(5, board.Room(rules[k], board.Spot(at))); n > 0; n-- {
				if board.Room(rules[k], board.Spot(at)) <= 0 {
					t.Fatalf("seed %d: there was room for %d more of shape %d on node %d, and now there is none", seed, n, k, at)
				}
				board.Put(rules[k], at, 1, false)
			}
		}
	}
}

func randomNodes(r *rand.Rand) []modelNode {
	out := make([]modelNode, 2+r.IntN(5))
	for i := range out {
		labels := map[string]string{}
		if r.IntN(10) > 0 {
			labels[cluster.LabelHostname] = fmt.Sprint("host-", i)
		}
		if r.IntN(8) > 0 {
			labels[cluster.LabelZone] = string(rune('a' + r.IntN(3)))
		}
		if r.IntN(2) == 0 {
			labels["tier"] = string(rune('x' + r.IntN(2)))
		}
		out[i].labels = constraint.NewLabels(labels)
		if r.IntN(4) == 0 {
			out[i].taints = []constraint.Taint{{Key: "own", Effect: constraint.NoSchedule}}
		}
	}
	return out
}

func randomShapes(r *rand.Rand) []*cluster.Shape {
	keys := []string{cluster.LabelHostname, cluster.LabelZone, "tier"}
	key := func() string { return keys[r.IntN(len(keys))] }
	out := make([]*cluster.Shape, 1+r.IntN(4))
	for i := range out {
		s := &cluster.Shape{Namespace: []string{"one", "two"}[r.IntN(2)], Labels: constraint.NewLabels(map[string]string{"app": app(r)})}
		if r.IntN(3) == 0 {
			s.NodeTerms = []constraint.Requirements{requirement("tier", "x")}
		}
		if r.IntN(3) == 0 {
			s.Tolerations = []constraint.Toleration{{Key: "own", Exists: true}}
		}
		for range r.IntN(3) {
			s.Spread = append(s.Spread, cluster.Spread{Key: key(), Selector: selector(r), MaxSkew: 1 + r.Int32N(2), MinDomains: r.Int32N(4),
				IgnoreNodeTerms: r.IntN(2) == 0, HonourTaints: r.IntN(2) == 0})
		}
		for range r.IntN(3) {
			x := cluster.Neighbours{Apart: r.IntN(2) == 0, Key: key(), Selector: selector(r), AllNamespaces: r.IntN(4) == 0}
			if !x.AllNamespaces {
				x.Namespaces = [][]string{{s.Namespace}, {"one"}, {"one", "two"}, nil}[r.IntN(4)]
			}
			s.Neighbours = append(s.Neighbours, x)
		}
		out[i] = s
	}
	return out
}

func app(r *rand.Rand) string { return string(rune('p' + r.IntN(3))) }

func requirement(key string, values ...string) constraint.Requirements {
	return constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(values...)})
}

func selector(r *rand.Rand) cluster.Selector {
	switch r.IntN(6) {
	case 0:
		return cluster.Selector{Nothing: true}
	case 1:
		return cluster.Selector{}
	case 2:
		return cluster.Selector{Requirements: requirement("app", app(r), app(r))}
	}
	return cluster.Selector{Requirements: requirement("app", app(r))}
}
