package place

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/topology"
)

// nearestNode tells what keeps pods of the group from the node that comes
// nearest to having one.
func (r *run) nearestNode(g *group) string {
	name, best := r.nodeFor(g)
	switch {
	case name == "":
		return "there is no node"
	case len(best) == 0:
		return "node " + name + " would do, but was not tried: " + r.noChange(g)
	}
	return "the nearest node is " + name + ": " + best.String()
}

// changesOn lists what would have to be different for one pod of the group to
// have a place on the node, pods of this plan included.
func (r *run) changesOn(g *group, n *cluster.Node) fit.Changes {
	out := fit.NearestOnNode(g.shape, n)
	at := slices.IndexFunc(r.seats, func(s *seat) bool { return s.ordered == nil && s.name == n.Name })
	if at < 0 {
		return out
	}
	s := r.seats[at]
	for i, need := range r.needOn(g, s) {
		if need > 0 && need > s.free[i] {
			out = append(out, r.missing(i, need, s.free[i]))
		}
	}
	for _, p := range g.kin.ports {
		if slices.ContainsFunc(s.guests.ports, p.Conflicts) {
			out = append(out, fit.NewChange(fit.Resource, fit.PortName(p), 0, "host port "+fit.PortName(p)+" is taken"+by(r.portUser(p, n))))
		}
	}
	if !r.counted {
		return out
	}
	spot := r.board.Spot(s.place)
	if rules := g.kin.required().rules; r.board.Room(rules, spot) <= 0 {
		found := r.board.Obstacles(rules, []topology.Spot{spot})
		for i := range found {
			out = append(out, fit.NewChange(fit.Topology, found[i].Key, 0, r.obstacle(&found[i])))
		}
	}
	return out
}

// needOn is what the group's next pod takes on the seat, shared volumes that
// are not attached there yet included.
func (r *run) needOn(g *group, s *seat) []int64 {
	out := slices.Clone(g.need)
	for _, v := range g.kin.shared {
		if v.Driver != "" && !slices.Contains(s.guests.claims, v.Claim) {
			out[r.dims.driver(v.Driver)]++
		}
	}
	return out
}

func (r *run) missing(dim int, need, free int64) fit.Change {
	if d := dim - len(r.dims.resources); d >= 0 {
		return fit.Missing("volumes of "+r.dims.drivers[d], need, free)
	}
	return fit.Missing(r.dims.resources[dim], need, free)
}

// portUser finds the pod that has a host port on a node; empty for a daemon
// pod that is yet to come.
func (r *run) portUser(p cluster.Port, n *cluster.Node) string {
	for i := range n.Pods {
		if slices.ContainsFunc(n.Pods[i].Shape.Ports, p.Conflicts) {
			return n.Pods[i].Namespace + "/" + n.Pods[i].Name
		}
	}
	for _, x := range r.seated {
		if x.name == n.Name && slices.ContainsFunc(x.Shape.Ports, p.Conflicts) {
			return x.Namespace + "/" + x.Name
		}
	}
	return "a daemon pod to come"
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

// nodeFor returns the node that comes nearest to having a pod of the group;
// no name where there is no node.
func (r *run) nodeFor(g *group) (name string, best fit.Changes) {
	for i := range r.snapshot.Nodes {
		n := &r.snapshot.Nodes[i]
		if c := r.changesOn(g, n); name == "" || c.Effort() < best.Effort() {
			name, best = n.Name, c
		}
	}
	return name, best
}
