package record

import (
	"github.com/daemok/daemok/core/plan"
)

// buffers says of nodes for which CapacityBuffers they keep capacity, and of buffers whether they lack some. A plan for
// some of the pods alone says nothing of that: what was decided before holds.
func (m *minutes) buffers() {
	if m.p.Buffers == nil && len(m.s.Buffers) > 0 {
		for i := range m.s.Nodes {
			m.Record.Stand(Object{Node, m.s.Nodes[i].Name}, TopicBuffer)
		}
		for i := range m.s.Buffers {
			m.Record.Stand(Object{Buffer, m.s.Buffers[i].Namespace + "/" + m.s.Buffers[i].Name}, TopicBuffer)
		}
		return
	}
	if len(m.p.Buffers) == 0 {
		return
	}
	for i := range m.s.Nodes {
		n := &m.s.Nodes[i]
		if of := m.p.On(plan.OnNode, n.Name); len(of) > 0 {
			m.hold(Object{Node, n.Name}, n.Claim, TopicBuffer, keepsCapacity, plan.VirtualText(of), nil)
		}
	}
	for i := range m.p.Buffers {
		b := &m.p.Buffers[i]
		about := Object{Buffer, b.Namespace + "/" + b.Name}
		switch {
		case b.NotReady != "":
			m.hold(about, "", TopicBuffer, "keeps no capacity", b.NotReady, nil)
		case b.Missing > 0:
			m.hold(about, "", TopicBuffer, b.Lacks(), b.Why(), nil)
		}
	}
}

// keepsCapacity begins what is said of a node with virtual pods, which follow.
const keepsCapacity = "keeps capacity for pods that may come"
