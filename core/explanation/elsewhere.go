package explanation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
)

// Elsewhere reports what keeps pods that run from other nodes: of each the rules that fail, in the
// order in which they are examined. Rules about other pods are left out, and so is what a search
// for moves leaves alone besides. Build it with NewElsewhere.
type Elsewhere struct {
	snapshot *cluster.Snapshot
	dims     amount.Dims
	needs    map[*cluster.Shape][]int64
	free     [][]int64 // of each node
}

// Tried is what was found out for the pods of one shape on a node.
type Tried struct {
	Pods    []cluster.Pod
	Nodes   int         // that were examined
	Roomy   []string    // those that would have one of the pods, whatever its rules about other pods are, by name
	Nearest []Candidate // of the others those that come nearest, three at most
	Barred  []Barred    // of the others what keeps how many of them, the most first
}

// Barred is how many nodes one rule is the first to say no on.
type Barred struct {
	By    string // "cpu", "taint dedicated"
	Nodes int
}

// NewElsewhere counts what is free on the nodes of a snapshot.
//
// Cost: linear in nodes and pods.
func NewElsewhere(s *cluster.Snapshot) *Elsewhere {
	var one []cluster.Pod
	for _, shape := range s.Shapes() {
		one = append(one, cluster.Pod{Shape: shape})
	}
	e := &Elsewhere{snapshot: s, dims: amount.Of(one), needs: map[*cluster.Shape][]int64{}, free: make([][]int64, len(s.Nodes))}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		e.free[i] = e.dims.Vector(n.Allocatable, n.Attachable)
		for j := range n.Pods {
			for d, takes := range e.takes(&n.Pods[j]) {
				e.free[i][d] -= takes
			}
		}
	}
	return e
}

// takes is what a pod has of its node.
func (e *Elsewhere) takes(p *cluster.Pod) []int64 {
	if p.Holds == nil {
		return e.need(p.Shape)
	}
	now := *p.Shape
	now.Requests = *p.Holds
	return e.dims.Need(&now)
}

func (e *Elsewhere) need(s *cluster.Shape) []int64 {
	need, known := e.needs[s]
	if !known {
		need = e.dims.Need(s)
		e.needs[s] = need
	}
	return need
}

// Looks is how many checks of a shape on a node Of takes.
func (e *Elsewhere) Looks(node int) int {
	return len(byShape(&e.snapshot.Nodes[node])) * len(e.snapshot.Nodes)
}

// Of says for the pods that would have to leave a node, by shape, what keeps them from the other
// nodes.
func (e *Elsewhere) Of(node int) []Tried {
	var out []Tried
	for _, pods := range byShape(&e.snapshot.Nodes[node]) {
		out = append(out, e.tried(pods, node))
	}
	return out
}

// ForWaiting says for pods of one shape that have no node what keeps them from the nodes that there are.
func (e *Elsewhere) ForWaiting(pods []cluster.Pod) Tried { return e.tried(pods, -1) }

// tried says what keeps pods of one shape from all nodes but one.
func (e *Elsewhere) tried(pods []cluster.Pod, but int) Tried {
	t, barred := Tried{Pods: pods}, map[string]int{}
	for i := range e.snapshot.Nodes {
		if i == but {
			continue
		}
		t.Nodes++
		name, changes := e.snapshot.Nodes[i].Name, e.changes(pods[0].Shape, i)
		if len(changes) == 0 {
			t.Roomy = append(t.Roomy, name)
			continue
		}
		barred[word(&changes[0])]++
		t.near(Candidate{Node: name, Changes: changes})
	}
	for _, by := range slices.Sorted(maps.Keys(barred)) {
		t.Barred = append(t.Barred, Barred{by, barred[by]})
	}
	slices.SortStableFunc(t.Barred, func(a, b Barred) int { return cmp.Compare(b.Nodes, a.Nodes) })
	return t
}

// byShape groups the pods that move with a node, in the order of their names.
func byShape(n *cluster.Node) [][]cluster.Pod {
	var out [][]cluster.Pod
	at := map[*cluster.Shape]int{}
	for _, p := range n.Pods {
		if !p.Moves() {
			continue
		}
		i, known := at[p.Shape]
		if !known {
			i = len(out)
			at[p.Shape] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], p)
	}
	return out
}

// changes is what keeps a pod of the shape from a node.
func (e *Elsewhere) changes(s *cluster.Shape, node int) feasibility.Changes {
	n := &e.snapshot.Nodes[node]
	if !n.Deleting && (!n.Ready || !n.Initialized) {
		return feasibility.Changes{feasibility.NewChange(feasibility.NotReady, "", 0, "it is not ready")}
	}
	out := feasibility.NearestOnNode(s, n)
	for d, need := range e.need(s) {
		if free := e.free[node][d]; need > 0 && need > free {
			out = append(out, feasibility.Missing(e.name(d), need, free))
		}
	}
	for _, port := range s.Ports {
		taken := func(p cluster.Pod) bool { return slices.ContainsFunc(p.Shape.Ports, port.Conflicts) }
		if slices.ContainsFunc(n.Pods, taken) {
			out = append(out, feasibility.NewChange(feasibility.Resource, feasibility.PortName(port), 0, "host port "+feasibility.PortName(port)+" is taken"))
		}
	}
	return out
}

func (e *Elsewhere) name(dim int) string {
	if d := dim - len(e.dims.Resources); d >= 0 {
		return "volumes of " + e.dims.Drivers[d]
	}
	return e.dims.Resources[dim]
}

// nearestMax is how many of the nodes that come nearest are reported.
const nearestMax = 3

// near keeps the candidate if it is among the nearest; of equal ones the first.
func (t *Tried) near(c Candidate) {
	at := len(t.Nearest)
	for at > 0 && c.Changes.Effort() < t.Nearest[at-1].Changes.Effort() {
		at--
	}
	if at < nearestMax {
		t.Nearest = slices.Insert(t.Nearest, at, c)
		t.Nearest = t.Nearest[:min(len(t.Nearest), nearestMax)]
	}
}

// word names what says no, without amounts.
func word(c *feasibility.Change) string {
	switch c.Rule {
	case feasibility.Resource:
		return c.Key
	case feasibility.Taint:
		return "taint " + c.Taint.Key
	case feasibility.Label:
		return "label " + c.Key
	case feasibility.Deleting:
		return "on its way out"
	case feasibility.NotReady:
		return "not ready"
	}
	return c.Text
}

// aside is what is not examined node by node.
func (t *Tried) aside() string {
	if s := t.Pods[0].Shape; len(s.Spread) > 0 || len(s.Neighbours) > 0 {
		return ", topology spread and pod affinity aside"
	}
	return ""
}

// String says it in one line.
func (t *Tried) String() string {
	text := t.Pods[0].Namespace + "/" + t.Pods[0].Name
	if more := len(t.Pods) - 1; more > 0 {
		text += fmt.Sprintf(" and %d like it", more)
	}
	if t.Nodes == 0 {
		return text + ": there is no other node"
	}
	text += fmt.Sprintf(": of %d other nodes %d would have one", t.Nodes, len(t.Roomy))
	if len(t.Roomy) > 0 {
		text += " by itself" + t.aside() + " (" + strings.Join(t.Roomy[:min(len(t.Roomy), nearestMax)], ", ") + further(len(t.Roomy)-nearestMax) + ")"
	}
	for i, b := range t.Barred {
		sign := ", "
		if i == 0 {
			sign = "; in the way: "
		}
		text += fmt.Sprintf("%s%s on %d", sign, b.By, b.Nodes)
	}
	for i, c := range t.Nearest {
		sign := "; "
		if i == 0 {
			sign = "; nearest: "
		}
		text += sign + "node " + c.Node + ": " + c.Changes.String()
	}
	return text
}
