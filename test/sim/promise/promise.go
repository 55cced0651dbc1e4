// Package promise says what plans must never do about limits that pools share, ProvisioningRequests, minimums of
// on-demand nodes and commitments.
//
// Each function looks at one plan and what it was made from, and says what is wrong in words; empty: nothing is.
// They know nothing of the simulated world.
package promise

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Exceeded says which CapacityQuota, or limit on what a pool costs, further instances exceed.
func Exceeded(s *cluster.Snapshot, more []cluster.Instance) string {
	out := *s
	out.Pools, out.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	for i := range more {
		out.Charge(&more[i])
	}
	for i := range out.Quotas {
		q := &out.Quotas[i]
		q.Used.Cost = s.Quotas[i].Used.Cost // which the product charges for what the quota may not select too
		for j := range more {
			q.Used.Cost += costs(s, q, &more[j])
		}
		if why := exceeds(&q.Limits, &s.Quotas[i].Used, &q.Used); why != "" {
			return q.String() + ": " + why
		}
	}
	for i := range out.Pools {
		p := &out.Pools[i]
		limits := cluster.Limits{Cost: p.Limits.Cost}
		if why := exceeds(&limits, &s.Pools[i].Used, &p.Used); why != "" {
			return p.ID.String() + ": " + why
		}
	}
	return ""
}

// costs is the most that an instance costs an hour if it becomes one that the quota selects.
func costs(s *cluster.Snapshot, q *cluster.Quota, m *cluster.Instance) (most quantity.MicroUSDPerHour) {
	p, found := s.Pool(m.Pool)
	if !found {
		return 0
	}
	for i := range p.Catalogue.InstanceTypes {
		k := &p.Catalogue.InstanceTypes[i]
		for j := range k.Offerings {
			o := &k.Offerings[j]
			labels := p.Labels.Merge(m.Labels).Merge(k.Labels).Merge(o.Labels)
			other := func(l constraint.Label) bool { return !m.Requirements.Get(l.Key).Allows(l.Value) }
			if !slices.ContainsFunc(labels, other) && q.Selects(labels) {
				most = max(most, o.Price+p.PerInstance())
			}
		}
	}
	return most
}

// exceeds says what there is too much of after more was added.
func exceeds(limits *cluster.Limits, before, after *cluster.Used) string {
	for _, l := range limits.List() {
		if n := after.Of(l.Name); n > l.Amount && n > before.Of(l.Name) {
			return fmt.Sprintf("%s of %s, and there may be %s", cluster.FormatLimit(l.Name, n), l.Name,
				cluster.FormatLimit(l.Name, l.Amount))
		}
	}
	return ""
}

// Requests says what is wrong with what becomes of requests by a plan: each gets all or nothing, and neither pods nor
// moves get what is kept for them.
func Requests(s *cluster.Snapshot, p *plan.Plan) string {
	for i := range s.Requested {
		r := &s.Requested[i]
		at := slices.IndexFunc(p.Requested, func(said plan.Requested) bool { return said.Name == r.Name })
		if at < 0 {
			if r.Books(s.Now) || r.Seeks(s.Now) {
				return fmt.Sprintf("the plan says nothing of %s", r)
			}
			continue
		}
		if why := whole(r, &p.Requested[at], p, r.Books(s.Now)); why != "" {
			return why
		}
	}
	if why := fits(s, p); why != "" {
		return why
	}
	for i := range p.Moves {
		for _, r := range p.Moves[i].Removals {
			at := slices.IndexFunc(s.Nodes, func(n cluster.Node) bool { return n.Name == r.Node })
			owner, booked := KeepsFor(p, r.Node)
			if owner != "" && at >= 0 && !(booked && InAnyEvent(r.Reason, s.Nodes[at].HasGrace)) {
				return fmt.Sprintf("%s keeps capacity for %s and is disrupted", r.Node, owner)
			}
		}
	}
	return ""
}

// whole says where a request gets a part of what it asks for, or what it is said to have is not there.
func whole(r *cluster.ProvisioningRequest, said *plan.Requested, p *plan.Plan, booked bool) string {
	switch n := int64(len(said.Places)); {
	case said.Booked != booked:
		return fmt.Sprintf("capacity is kept for %s: %v, and it is booked until %s", r, said.Booked,
			r.BookedUntil.Format("15:04:05"))
	case !said.Booked && said.Missing > 0 && n > 0:
		return fmt.Sprintf("%s lacks capacity for %d pods, and gets some for %d", r, said.Missing, n)
	case !said.Booked && said.Waits == "" && said.Missing == 0 && n != said.Want:
		return fmt.Sprintf("%s has capacity for all %d pods, and %d places", r, said.Want, n)
	case said.Missing > 0 && len(said.Reasons) == 0:
		return fmt.Sprintf("%s lacks capacity for %d pods without a reason", r, said.Missing)
	}
	lacks := !said.Booked && said.Waits == "" && said.Missing > 0
	for j := range p.Launches {
		if l := &p.Launches[j]; lacks && slices.Contains(RequestsOf(l), r.Name) {
			return fmt.Sprintf("%s is launched for %s, which gets no capacity", l.Name, r)
		}
	}
	return ""
}

// fits says which node has no room for all pods that the plan puts there, with those that capacity is kept for.
func fits(s *cluster.Snapshot, p *plan.Plan) string {
	if len(p.Requested) == 0 {
		return ""
	}
	more := map[string]quantity.Resources{}
	add := func(list []plan.Placement) {
		for _, to := range list {
			if to.On == plan.OnNode {
				more[to.Target] = more[to.Target].Add(to.Pod.Shape.Requests)
			}
		}
	}
	add(p.Placements)
	for i := range p.Requested {
		add(p.Requested[i].Places)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if owner, _ := KeepsFor(p, n.Name); owner == "" {
			continue
		}
		used := more[n.Name]
		for j := range n.Pods {
			used = used.Add(n.Pods[j].Shape.Requests)
		}
		if !used.FitsIn(n.Allocatable) {
			return fmt.Sprintf("%s is to have %s with what is kept there, and has %s", n.Name, used, n.Allocatable)
		}
	}
	return ""
}

// KeepsFor names a request that the node keeps capacity for by the plan, and says whether it did so before.
func KeepsFor(p *plan.Plan, node string) (request string, booked bool) {
	for i := range p.Requested {
		said := &p.Requested[i]
		there := func(x plan.Placement) bool { return x.On == plan.OnNode && x.Target == node }
		if slices.ContainsFunc(said.Places, there) {
			return "ProvisioningRequest " + said.Name, said.Booked
		}
	}
	return "", false
}

// InAnyEvent reports whether a node goes for a reason that nothing on it holds off; grace says that its pods have
// until the end of a grace period at most.
func InAnyEvent(reason plan.RemovalReason, grace bool) bool {
	return reason == plan.Expired || reason == plan.Overprovisioned || reason == plan.Drifted && grace
}

// RequestsOf names the requests that a launch is for.
func RequestsOf(l *plan.Launch) (out []string) {
	for _, v := range l.Virtual {
		if v.Kind == plan.KindRequest {
			out = append(out, v.Name)
		}
	}
	return out
}
