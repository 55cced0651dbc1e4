package cluster

import (
	"fmt"
	"time"
)

// Hours is what the schedule of a pool says of its nodes now.
type Hours struct {
	Nodes *int64    // how many a static pool keeps, and others have at most; nil: it says nothing yet
	Until time.Time // when it next changes; zero: never

	Unknown bool // the schedule cannot be read: no node is launched, and none is too many
}

// Most is how many nodes the pool may keep: nodes beyond that go, whatever runs on them. Limits alone remove none.
func (p *Pool) Most() (n int64, bounded bool) {
	switch {
	case p.Hours.Unknown:
	case p.Static():
		return *p.Replicas, true
	case p.Hours.Nodes != nil:
		return *p.Hours.Nodes, true
	}
	return 0, false
}

// Static reports whether the pool keeps a number of nodes, whatever runs on them: pods never add to it, and none goes for
// being empty or expensive.
func (p *Pool) Static() bool { return p.Replicas != nil }

// Keeps says in words how many nodes a static pool keeps, and others with hours may have:
// "NodePool/default keeps 3 nodes (spec.replicas)".
func (p *Pool) Keeps() string {
	n, _ := p.Most()
	verb, nodes := "may have", "nodes"
	if p.Static() {
		verb = "keeps"
	}
	if n == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("%s %s %d %s (%s)", p.ID, verb, n, nodes, p.SaidBy())
}

// SaidBy is what says how many nodes the pool keeps or may have: a field, or its hours and until when.
func (p *Pool) SaidBy() string {
	switch {
	case p.Hours.Nodes == nil && p.Static():
		return "spec.replicas"
	case !p.HoursBind():
		return "limits"
	case p.Hours.Until.IsZero():
		return "daemok.sh/hours"
	}
	return "daemok.sh/hours, until " + p.Hours.Until.UTC().Format(time.RFC3339)
}

// HoursBind reports whether its hours say how many nodes the pool may have, and no lower limit does.
func (p *Pool) HoursBind() bool {
	return p.Hours.Nodes != nil && (p.Static() || p.Limits.Nodes == nil || *p.Limits.Nodes >= *p.Hours.Nodes)
}

// Lacking is how many nodes a static pool lacks. A node that names the pool and has lost its NodeClaim is one of its nodes
// until somebody adopts or deletes it: otherwise a pool whose NodeClaims are lost would be launched once more.
func (s *Snapshot) Lacking(p *Pool) int64 {
	n := s.Running(p.ID)
	for i := range s.Nodes {
		node := &s.Nodes[i]
		if name, named := node.Labels.Get(LabelNodePool); named && node.Claim == "" && !node.Deleting && name == p.ID.Name {
			n++
		}
	}
	return max(0, *p.Replicas-n)
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
