package record

import (
	"github.com/daemok/daemok/core/plan"
)

// virtual says of nodes and of instances being launched for which CapacityBuffers and ProvisioningRequests they keep capacity, and of these
// whether they lack some. A plan for some of the pods alone says nothing of that: what was decided before holds.
func (m *minutes) virtual() {
	if m.p.Buffers == nil && len(m.s.Buffers) > 0 || m.p.Requested == nil && len(m.s.Requested) > 0 {
		for i := range m.s.Nodes {
			m.Record.Stand(Object{Node, m.s.Nodes[i].Name}, TopicBuffer)
		}
		for i := range m.s.Instances {
			m.Record.Stand(Object{Claim, m.s.Instances[i].Claim}, TopicBuffer)
		}
		for i := range m.s.Buffers {
			m.Record.Stand(Object{Buffer, m.s.Buffers[i].Namespace + "/" + m.s.Buffers[i].Name}, TopicBuffer)
		}
		for i := range m.s.Requested {
			m.Record.Stand(Object{Request, m.s.Requested[i].Namespace + "/" + m.s.Requested[i].Name}, TopicBuffer)
		}
		return
	}
	if len(m.p.Buffers)+len(m.p.Requested) == 0 {
		return
	}
	for i := range m.s.Nodes {
		n := &m.s.Nodes[i]
		if of := m.p.On(plan.OnNode, n.Name); len(of) > 0 {
			m.hold(Object{Node, n.Name}, n.Claim, TopicBuffer, keepsCapacity, plan.VirtualText(of), nil)
		}
	}
	for i := range m.s.Instances {
		claim := m.s.Instances[i].Claim
		if of := m.p.On(plan.OnInstance, claim); len(of) > 0 {
			m.hold(Object{Claim, claim}, claim, TopicBuffer, keepsCapacity, plan.VirtualText(of), nil)
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
	for i := range m.p.Requested {
		if r := &m.p.Requested[i]; r.Missing > 0 {
			m.hold(Object{Request, r.Namespace + "/" + r.Name}, "", TopicBuffer, r.Lacks(), r.Why(), nil)
		} else if r.Waits != "" {
			m.Record.Stand(Object{Request, r.Namespace + "/" + r.Name}, TopicBuffer)
		}
	}
}

// keepsCapacity begins what is said of a node or instance with virtual pods, which follow.
const keepsCapacity = "keeps capacity for pods that may come"
