package cluster

import "fmt"

// Static reports whether the pool keeps a number of nodes, whatever runs on them: pods never add to it, and none goes for
// being empty or expensive.
func (p *Pool) Static() bool { return p.Replicas != nil }

// Keeps says in words how many nodes a static pool keeps: "NodePool/default keeps 3 nodes (spec.replicas)".
func (p *Pool) Keeps() string {
	if *p.Replicas == 1 {
		return p.ID.String() + " keeps 1 node (spec.replicas)"
	}
	return fmt.Sprintf("%s keeps %d nodes (spec.replicas)", p.ID, *p.Replicas)
}

// Running counts the nodes of a pool that are there or are being launched and stay, as spec.replicas counts them: a node
// that is being deleted or replaced does not count, and the instance in its place does.
func (s *Snapshot) Running(id PoolID) int64 {
	var n int64
	for i := range s.Nodes {
		if s.Nodes[i].Pool == id && !s.Nodes[i].Deleting {
			n++
		}
	}
	for i := range s.Instances {
		if s.Instances[i].Pool == id && !s.Instances[i].Deleting {
			n++
		}
	}
	return n
}
