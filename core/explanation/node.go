package explanation

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// nearestNode reports what keeps the pods from the node that comes nearest to having one.
func (w *World) nearestNode(p *Pods) string {
	best := w.NearestNode(p)
	switch {
	case best.Node == "":
		return "there is no node"
	case len(best.Changes) == 0:
		return "node " + best.Node + " would do, but was not tried: " + w.noChange(p)
	}
	return "the nearest node is " + best.Node + ": " + best.Changes.String()
}

// changesOn lists what would have to be different for one of the pods to have
// a place on the node, pods of this plan included.
func (w *World) changesOn(p *Pods, n *cluster.Node) feasibility.Changes {
	out := feasibility.NearestOnNode(p.Shape, n)
	s := w.targetOn(n.Name)
	if s == nil {
		return out
	}
	for i, need := range w.needOn(p, s) {
		if need > 0 && need > s.Free[i] {
			out = append(out, w.missing(i, need, s.Free[i]))
		}
	}
	for _, port := range p.Shape.Ports {
		if slices.ContainsFunc(s.Ports, port.Conflicts) {
			out = append(out, feasibility.NewChange(feasibility.Resource, feasibility.PortName(port), 0, "host port "+feasibility.PortName(port)+" is taken"+by(w.portUser(port, n))))
		}
	}
	if !w.Counted {
		return out
	}
	spot := w.Board.Spot(s.Place)
	if w.Board.Room(p.Rules, spot) <= 0 {
		found := w.Board.Obstacles(p.Rules, []topology.Spot{spot})
		for i := range found {
			out = append(out, feasibility.NewChange(feasibility.Topology, found[i].Key, 0, w.obstacle(&found[i])))
		}
	}
	return out
}

// targetOn returns the target that is the node of the name, nil if it takes no pods.
func (w *World) targetOn(name string) *Target {
	if w.onNode == nil {
		w.onNode = make(map[string]*Target, len(w.Targets))
		for i := range w.Targets {
			if w.Targets[i].Node {
				w.onNode[w.Targets[i].Name] = &w.Targets[i]
			}
		}
	}
	return w.onNode[name]
}

// needOn is what the next of the pods takes on the target, shared volumes that
// are not attached there yet included.
func (w *World) needOn(p *Pods, s *Target) []int64 {
	out := slices.Clone(p.Need)
	for _, v := range p.Shape.Volumes {
		if v.Claim != "" && v.Driver != "" && !slices.Contains(s.Claims, v.Claim) {
			at, _ := slices.BinarySearch(w.Drivers, v.Driver)
			out[len(w.Resources)+at]++
		}
	}
	return out
}

func (w *World) missing(dim int, need, free int64) feasibility.Change {
	if d := dim - len(w.Resources); d >= 0 {
		return feasibility.Missing("volumes of "+w.Drivers[d], need, free)
	}
	return feasibility.Missing(w.Resources[dim], need, free)
}

// portUser finds the pod that has a host port on a node, or the DaemonSet whose pod is yet
// to come.
func (w *World) portUser(p cluster.Port, n *cluster.Node) string {
	for i := range n.Pods {
		if slices.ContainsFunc(n.Pods[i].Shape.Ports, p.Conflicts) {
			return n.Pods[i].Namespace + "/" + n.Pods[i].Name
		}
	}
	for x := range w.Placed {
		if x.On == n.Name && slices.ContainsFunc(x.Shape.Ports, p.Conflicts) {
			return x.Namespace + "/" + x.Name
		}
	}
	return "a pod to come of " + feasibility.PortDaemon(p, n, w.Snapshot.Daemons)
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

// NearestNode returns the node that comes nearest to having one of the pods; no
// name where there is no node.
func (w *World) NearestNode(p *Pods) (best Candidate) {
	for i := range w.Snapshot.Nodes {
		n := &w.Snapshot.Nodes[i]
		if c := w.changesOn(p, n); best.Node == "" || c.Effort() < best.Changes.Effort() {
			best = Candidate{Node: n.Name, Changes: c}
		}
	}
	return best
}

// onNodes is why no node has one of the pods.
func (w *World) onNodes(p *Pods) string {
	if text, crowded := w.crowded(p, p.Search.Roomy()); crowded {
		return text
	}
	return w.nearestNode(p)
}
