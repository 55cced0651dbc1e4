package view

import (
	"cmp"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
)

// Pool is a NodePool or Provisioner.
type Pool struct {
	Kind     string  `json:"kind"`
	Name     string  `json:"name"`
	Weight   int     `json:"weight"`
	Ready    bool    `json:"ready"`
	Reason   string  `json:"reason,omitempty"` // why nothing may be launched
	Nodes    int     `json:"nodes"`            // and instances that are being launched
	Replicas *int64  `json:"replicas"`         // of a static pool; null where pods decide
	SaidBy   string  `json:"-"`                // what says how many nodes it keeps
	Missing  int64   `json:"missing"`          // of its replicas, those that nothing is launched for yet
	Cost     Cost    `json:"cost"`
	Limits   []Limit `json:"limits"`
	Allowed  int64   `json:"allowed"`           // nodes that may be disrupted by choice now
	Because  string  `json:"because,omitempty"` // none, or only so many
	Policies string  `json:"consolidation"`     // its consolidationPolicy
}

// ID prints "NodePool/default".
func (p *Pool) ID() string { return p.Kind + "/" + p.Name }

// Limit is how much of a limit is used.
type Limit struct {
	Resource string `json:"resource"`
	Used     int64  `json:"used"`
	Limit    int64  `json:"limit"`
}

// Use says how much of it is used: "16/20", and of dollars "$0.272/h of $0.500/h".
func (l Limit) Use() string {
	between := "/"
	if l.Resource == cluster.LimitCost {
		between = " of "
	}
	return Amount(l.Resource, l.Used) + between + Amount(l.Resource, l.Limit)
}

// Reached reports whether nothing is left.
func (l Limit) Reached() bool { return l.Used >= l.Limit }

func (k *known) pool(p *cluster.Pool, nodes []Node) Pool {
	out := Pool{
		Kind: p.ID.Kind, Name: p.ID.Name, Weight: p.Weight, Ready: p.NotReady == "", Reason: p.NotReady, Limits: []Limit{},
		Cost: Cost{Known: true}, Policies: cmp.Or(string(p.Policy.Consolidate), "WhenEmptyOrUnderutilized"),
	}
	if ready := k.says(recordKind(p.ID), p.ID.Name, record.TopicReady); !k.Offers { // as the controller has found
		out.Ready, out.Reason = true, ""
		if ready != nil && ready.Why != "" {
			out.Ready, out.Reason = false, ready.Why
		}
	}
	if p.Static() {
		out.SaidBy = p.SaidBy()
		out.Replicas, out.Missing = p.Replicas, k.Snapshot.Lacking(p)
		out.Policies = "none: it is static"
	} else if p.Policy.Never {
		out.Policies += ", consolidateAfter: Never"
	}
	for i := range nodes {
		if n := &nodes[i]; n.Owner == (Owner{p.ID.Kind, p.ID.Name}) {
			out.Nodes++
			out.Cost = out.Cost.plus(n.Cost)
		}
	}
	for _, l := range p.Limits.Amounts {
		out.Limits = append(out.Limits, Limit{l.Name, p.Used.Capacity.Get(l.Name), l.Amount})
	}
	if n := p.Limits.Nodes; n != nil {
		out.Limits = append(out.Limits, Limit{cluster.LimitNodes, p.Used.Nodes, *n})
	}
	if most := p.Limits.Cost; most != nil {
		used := p.Used.Cost
		if p.Used.Unpriced != "" {
			used = quantity.USDPerHour(out.Cost.PerHour) // as the screens show it: nobody asked AWS for prices
		}
		out.Limits = append(out.Limits, Limit{cluster.LimitCost, int64(used), int64(*most)})
	}
	out.Allowed, out.Because = disruption.Allowed(k.Snapshot, p.ID, plan.Empty, plan.Drifted, plan.Underutilized)
	return out
}

func recordKind(id cluster.PoolID) record.Kind {
	if id.Kind == "Provisioner" {
		return record.Provisioner
	}
	return record.Pool
}

// plus is what two things cost together.
func (c Cost) plus(d Cost) Cost {
	return Cost{PerHour: c.PerHour + d.PerHour, Known: c.Known && d.Known, Listed: c.Listed || d.Listed}
}
