package sim

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/sim/promise"
)

// notReady is what a node carries that is not ready.
var notReady = constraint.Taint{Key: "node.kubernetes.io/not-ready", Effect: constraint.NoSchedule}

// photo is the cluster as watches would show it if they were never late.
func (w *World) photo() *cluster.Snapshot {
	s := &cluster.Snapshot{Revision: w.revision, Now: w.now, Daemons: w.daemons, PDBs: w.pdbs(), Freeze: w.frozen,
		Buffers: slices.Clone(w.kept.buffers), Commitments: w.cloud.commitments}
	for _, m := range w.instances {
		if m.joined() {
			s.Nodes = append(s.Nodes, w.node(m))
		} else {
			s.Instances = append(s.Instances, w.instance(m))
		}
	}
	at := map[string]int{}
	for i := range s.Nodes {
		at[s.Nodes[i].Name] = i
	}
	for _, p := range w.pods {
		one := p.Pod
		switch {
		case p.at != nil:
			one.Node = p.at.claim
			n := &s.Nodes[at[one.Node]]
			n.Pods = append(n.Pods, one)
		case !p.Ending:
			s.Waiting = append(s.Waiting, one)
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Deleting && !w.instanceOf(n.Claim).deleted() {
			n.Close()
		}
	}
	shares := disruption.Shares(s.Nodes)
	for _, p := range w.pools {
		s.Pools = append(s.Pools, w.poolNow(p, s, shares[p.ID].Nodes))
	}
	if len(w.kept.overlays) > 0 {
		w.kept.applied().Show(s)
	}
	w.kept.quotas.show(s)
	w.kept.requests.show(s)
	s.Keep()
	s.Sort()
	return s
}

func (w *World) node(m *instance) cluster.Node {
	n := cluster.Node{Name: m.claim, Claim: m.claim, Pool: m.pool.ID, InstanceID: m.claim, Labels: m.labels(), Allocatable: m.instanceType.Allocatable, Capacity: m.instanceType.Capacity,
		Price: w.kept.priceOf(m), CreatedAt: m.orderedAt,
		ExpiresAt: m.expiresAt, EndsAt: m.endsAt, ChangedAt: m.changedAt,
		Ready: m.ready, Initialized: m.started(),
		Deleting: m.deleted() || m.tainted(), InstanceEnds: m.ends, DoNotDisrupt: m.doNotDisrupt, HasGrace: m.pool.grace > 0}
	if m.started() {
		n.QuietSince = later(m.startedAt, m.changedAt)
	}
	if m.revision != m.pool.revision {
		n.Drifted, n.DriftedAt = "NodePoolDrifted", m.orderedAt
	}
	if at := m.pool.deletedAt; !at.IsZero() {
		n.Drifted, n.DriftedAt = cluster.PoolDeleted, at
	}
	n.Taints = slices.Clone(m.pool.Taints)
	if !m.ready {
		n.Taints = append(n.Taints, notReady)
	}
	if m.emptying > 0 {
		n.Taints = append(n.Taints, cluster.Emptying())
	}
	return n
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (w *World) instance(m *instance) cluster.Instance {
	out := cluster.Instance{Claim: m.claim, Pool: m.pool.ID, Taints: m.pool.Taints, Labels: m.pool.Labels.Merge(m.launch.Labels), Requirements: m.launch.Requirements,
		CreatedAt: m.orderedAt, Launched: m.launched(), Deleting: m.deleted(), Planned: len(m.replaces) == 0, Replacement: len(m.replaces) > 0}
	if m.launched() {
		out.Labels = out.Labels.Merge(m.instanceType.Labels).Merge(m.offering.Labels)
		out.Allocatable, out.Capacity = m.instanceType.Allocatable, m.instanceType.Capacity
		return out
	}
	out.Allocatable, out.Capacity = w.span(m.pool, m.launch.Requirements)
	return out
}

// span is the least that is for pods and the most that there is in all among
// what a claim may become.
func (w *World) span(p *pool, rs constraint.Requirements) (least, most quantity.Resources) {
	first := true
	instanceTypes := w.kept.offers(p).InstanceTypes
	for i := range instanceTypes {
		k := &instanceTypes[i]
		if !rs.Get(cluster.LabelInstanceType).Allows(k.Name) {
			continue
		}
		most = most.Max(k.Capacity)
		if first {
			least, first = k.Allocatable, false
		}
		least = least.Min(k.Allocatable)
	}
	return least, most
}

// poolNow is a pool with what it owns, and with what its budgets allow.
func (w *World) poolNow(p *pool, s *cluster.Snapshot, nodes int64) cluster.Pool {
	out := p.Pool
	out.Catalogue = w.cloud.catalogues[p.class]
	if p.cpuMost > 0 {
		out.Limits.Amounts = []quantity.Extended{{Name: "cpu", Amount: p.cpuMost}}
	}
	if !p.deletedAt.IsZero() {
		out.NotReady = cluster.PoolDeleting
	}
	if !p.Static() && p.Hours.Nodes != nil && (p.Limits.Nodes == nil || *p.Hours.Nodes < *p.Limits.Nodes) {
		out.Limits.Nodes = p.Hours.Nodes // as kube/translate has it
	}
	out.Used = cluster.Used{}
	for i := range s.Nodes {
		if s.Nodes[i].Pool == p.ID {
			out.Used.Add(&cluster.Taking{Capacity: s.Nodes[i].Capacity})
		}
	}
	for i := range s.Instances {
		if s.Instances[i].Pool == p.ID {
			out.Used.Add(&cluster.Taking{Capacity: s.Instances[i].Capacity})
		}
	}
	out.Used.Capacity.Pods = 0
	out.Policy = p.policyNow(nodes, w.now)
	out.Boot = w.boot(p)
	return out
}

// policyNow is how its nodes may be disrupted now, where it has so many.
func (p *pool) policyNow(nodes int64, now time.Time) cluster.Policy {
	if p.rules != nil {
		return p.rules(nodes, now)
	}
	out, allowed := p.Policy, p.allowed(nodes, now)
	out.Empty, out.Drifted, out.Underutilized = allowed, allowed, allowed
	if now.Before(p.opensAt) {
		out.BudgetsChange = p.opensAt
	}
	return out
}

// allowedFor is how many of its nodes may go at once now for a reason.
func (p *pool) allowedFor(reason plan.RemovalReason, nodes int64, now time.Time) cluster.Allowance {
	policy := p.policyNow(nodes, now)
	switch reason {
	case plan.Empty:
		return policy.Empty
	case plan.Drifted:
		return policy.Drifted
	}
	return policy.Underutilized
}

// allowed is how many of its nodes a pool lets go at once now, where it has no rules.
func (p *pool) allowed(nodes int64, now time.Time) cluster.Allowance {
	switch {
	case now.Before(p.opensAt):
		return cluster.Allowance{Closed: "its schedule"}
	case p.budget > 0:
		return cluster.Allowance{Most: p.budget, Note: "a number"}
	}
	return cluster.Allowance{Most: (nodes*p.percent + 99) / 100, Note: "a share"}
}

// boot is how long instances of the pool took to start, in the 95th percentile.
func (w *World) boot(p *pool) time.Duration {
	var took []time.Duration
	for _, m := range w.instances {
		if m.pool == p && m.started() {
			took = append(took, m.startedAt.Sub(m.orderedAt))
		}
	}
	if len(took) < 3 {
		return 0
	}
	slices.Sort(took)
	return took[(len(took)*95+99)/100-1]
}

// show adds the quotas, and what nodes cost where a pool limits it, to a snapshot that has all else.
func (x *quotas) show(s *cluster.Snapshot) {
	s.Quotas = slices.Clone(x.list)
	for i := range s.Quotas {
		s.CountQuota(&s.Quotas[i])
	}
	for i := range s.Pools {
		s.CountCost(&s.Pools[i])
	}
}

// show adds the requests to a snapshot.
func (x *requests) show(s *cluster.Snapshot) {
	for _, r := range x.all {
		s.Requested = append(s.Requested, x.now(r))
	}
}

// now is the request with its pods and claims as they are.
func (x *requests) now(r *request) cluster.ProvisioningRequest {
	w, out := x.world, r.ProvisioningRequest
	out.Sets = slices.Clone(r.Sets)
	switch out.Provisioned = !r.provisionedAt.IsZero(); {
	case out.Provisioned && r.over == "":
		out.BookedUntil = r.provisionedAt.Add(bookedFor)
	case !out.Provisioned:
		out.NotReady = r.over
	}
	for i, n := range r.done {
		out.Sets[i].Come = n
	}
	for _, p := range w.pods {
		switch {
		case p.work == nil || p.work.consumes != r:
		case p.at != nil && out.Sets[p.work.set].Come < out.Sets[p.work.set].Pods:
			out.Sets[p.work.set].Come++
		case p.at == nil && !p.Ending:
			out.Consumers = append(out.Consumers, p.Name)
		}
	}
	for _, m := range w.instances {
		if slices.Contains(promise.RequestsOf(m.launch), r.Name) {
			out.Claims = append(out.Claims, m.claim)
		}
	}
	slices.Sort(out.Consumers)
	slices.Sort(out.Claims)
	return out
}
