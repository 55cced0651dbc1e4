// Package cost divides what nodes cost an hour among the pods on them, and says what the rest is paid for.
//
// It promises that every millionth of a dollar is counted exactly once: what pods, DaemonSets and idle parts of a
// node cost adds up to its price, and the rows of any grouping to the total. A node whose price is not known is
// named and never counted as free. It decides what a node costs for people, on every screen: capacity that is reserved
// counts at the price on demand, by which AWS bills it, as far as nodes use it. It measures nothing: a pod costs what it requests, whether it uses that or not.
package cost

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/quantity"
)

// PodID names a pod.
type PodID struct{ Namespace, Name string }

// Of is the name of a pod.
func Of(p *cluster.Pod) PodID { return PodID{p.Namespace, p.Name} }

// Input is what costs are computed from.
type Input struct {
	Snapshot *cluster.Snapshot
	Listed   map[string]quantity.MicroUSDPerHour // prices by node or claim, where the snapshot has none to count
}

// Allocation is what the nodes of one snapshot cost, and what for. It points into the snapshot and is not written.
type Allocation struct {
	Total    quantity.MicroUSDPerHour // of all nodes whose price is known
	Listed   quantity.MicroUSDPerHour // the part of Total that is by Input.Listed
	Nodes    []Node                   // in the order of the snapshot, instances that are no nodes yet after them
	Unpriced []string                 // nodes, and claims of instances, without a known price; in that order
}

// Node is what one node costs, or an instance that is no node yet.
type Node struct {
	Name   string // of the claim where it is no node yet
	Pool   cluster.PoolID
	Labels constraint.Labels
	Price  quantity.MicroUSDPerHour // with volumes and what its pool declares; meaningful if Priced
	Beside quantity.MicroUSDPerHour // of Price: the volumes, and what its pool declares, which no commitment pays for
	Priced bool
	Pods   []Share // in the order of the snapshot
	Idle   []Idle  // what no pod has requested; in the order of Causes, none of them zero

	listed    bool    // its price is by Input.Listed
	core, gib float64 // what one core and one GiB of it cost, in millionths of a dollar an hour
}

// Share is what one pod costs.
type Share struct {
	Pod  *cluster.Pod
	Cost quantity.MicroUSDPerHour
}

// Idle is a part of a node that no pod has requested.
type Idle struct {
	Cause Cause
	Why   string // in words, which name what is in the way; may be empty
	Cost  quantity.MicroUSDPerHour
}

// Allocate divides the cost of all nodes, and of instances that are launched and no nodes yet. Cost: linear in pods.
func Allocate(in Input) *Allocation {
	s, out := in.Snapshot, &Allocation{}
	pools := map[cluster.PoolID]*cluster.Pool{}
	for i := range s.Pools {
		pools[s.Pools[i].ID] = &s.Pools[i]
	}
	why := &judge{s, pools, disruption.PDBsOf(s.PDBs)}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		node := Node{Name: n.Name, Pool: n.Pool, Labels: n.Labels, Price: Billed(s, n, pools[n.Pool])}
		if node.Price == 0 {
			node.Price, node.listed = in.Listed[n.Name], true
		}
		node.Priced = node.Price > 0
		if p := pools[n.Pool]; p != nil && !node.listed {
			node.Beside = p.PerInstance()
		}
		weigh(n, list(n.Labels, pools[n.Pool])).divide(&node, n, why)
		out.add(node)
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; m.Launched {
			out.add(instance(s, m, pools[m.Pool], in.Listed[m.Claim]))
		}
	}
	return out
}

func (a *Allocation) add(n Node) {
	if n.Priced {
		a.Total += n.Price
		if n.listed {
			a.Listed += n.Price
		}
	} else {
		a.Unpriced = append(a.Unpriced, n.Name)
	}
	a.Nodes = append(a.Nodes, n)
}

// instance is what an instance costs that is no node yet: all of it is for pods to come, or on its way out. Where its
// pool does not know a price, it is the listed one.
func instance(
	s *cluster.Snapshot, m *cluster.Instance, pool *cluster.Pool, listed quantity.MicroUSDPerHour,
) Node {
	out := Node{Name: m.Claim, Pool: m.Pool, Labels: m.Labels, Price: listed, Priced: listed > 0, listed: true}
	if price := BilledInstance(s, m, pool); price > 0 {
		out.Price, out.Priced, out.listed, out.Beside = price, true, false, pool.PerInstance()
	}
	if !out.Priced {
		return out
	}
	cause, why := Headroom, "its instance is launched and has not joined the cluster yet"
	if m.Deleting {
		cause, why = Leaving, "its instance is being terminated before it joined the cluster"
	}
	out.Idle = []Idle{{cause, why, out.Price}}
	return out
}

// Only returns what these pods cost, of all that is allocated: nothing idle, and no other pod. What it returns has a
// Total of its own.
func (a *Allocation) Only(pods map[PodID]bool) *Allocation {
	out := &Allocation{}
	for i := range a.Nodes {
		n := a.Nodes[i]
		n.Idle, n.Price = nil, 0
		var kept []Share
		for _, share := range n.Pods {
			if pods[Of(share.Pod)] {
				kept = append(kept, share)
				n.Price += share.Cost
			}
		}
		if n.Pods = kept; len(kept) > 0 {
			out.add(n)
		}
	}
	return out
}
