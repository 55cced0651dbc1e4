package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/static"
)

// replicas is what pools need for the number of nodes that they keep, whatever pods wait: static ones, and those
// with hours.
type replicas struct {
	launches []plan.Launch
	short    []plan.Short
	disruption.Surplus
}

func replicasOf(s *cluster.Snapshot, policy Policy) (out replicas) {
	if !slices.ContainsFunc(s.Pools, func(p cluster.Pool) bool { _, bounded := p.Most(); return bounded }) {
		return out
	}
	if !policy.IgnoreReplicas {
		out.launches, out.short = static.Missing(s, policy.asking())
	}
	out.Surplus = disruption.SurplusOf(s, !policy.IgnoreReplicas)
	return out
}

// ofLaunch begins what an instance is called, while the plan is made, that static pools launch: no claim has such a name.
const ofLaunch = "launch "

// begun is the snapshot with what static pools launch among the instances, which have room for pods, and without what they
// remove.
func (r *replicas) begun(s *cluster.Snapshot) *cluster.Snapshot {
	out := withoutSurplus(s, r.Moves)
	if len(r.launches)+len(r.Withdrawals) == 0 {
		return out
	}
	with := withInstances(out, r.launches, ofLaunch)
	for i := range with.Instances {
		m := &with.Instances[i]
		m.Deleting = m.Deleting || slices.ContainsFunc(r.Withdrawals, func(w plan.Withdrawal) bool { return w.Claim == m.Claim })
	}
	with.SortLists()
	return with
}

// withoutSurplus closes the nodes that static pools remove.
func withoutSurplus(s *cluster.Snapshot, moves []plan.Move) *cluster.Snapshot {
	goes := map[string]bool{}
	for i := range moves {
		for _, r := range moves[i].Removals {
			goes[r.Node] = goes[r.Node] || r.Reason == plan.Overprovisioned
		}
	}
	if !slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool { return goes[n.Name] }) {
		return s
	}
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		if goes[out.Nodes[i].Name] {
			out.Nodes[i].Close()
			out.Nodes[i].Closed = false // nothing keeps it
		}
	}
	return &out
}

// join adds what static pools need to the plan. Instances that it launches for them have their names within the plan, and
// name the pods that will find room on them.
func (r *replicas) join(p *plan.Plan) {
	rename(p, r.launches, ofLaunch)
	p.Launches = concat(r.launches, p.Launches)
	p.Short = r.short
	p.Withdrawals = append(r.Withdrawals, p.Withdrawals...)
	p.Moves = append(r.Moves, p.Moves...)
	p.Kept = append(p.Kept, r.Kept...)
	slices.SortFunc(p.Kept, func(a, b plan.Kept) int { return cmp.Compare(a.Node, b.Node) })
}

// rename gives launches their names within the plan, which were among the instances while it was made, under names that
// begin so. They name the pods that will find room on them.
func rename(p *plan.Plan, launches []plan.Launch, prefix string) {
	if len(launches) == 0 {
		return
	}
	at := map[string]*plan.Launch{}
	for i := range launches {
		at[prefix+launches[i].Name] = &launches[i]
	}
	land := func(list []plan.Placement, takes bool) {
		for i := range list {
			x := &list[i]
			if l := at[x.Target]; l != nil && x.On == plan.OnInstance {
				x.On, x.Target = plan.OnLaunch, l.Name
				if takes {
					l.Pods = append(l.Pods, x.Pod)
				}
			}
		}
	}
	land(p.Placements, true)
	for i := range p.Buffers {
		land(p.Buffers[i].Places, false)
	}
	for i := range p.Requested {
		land(p.Requested[i].Places, false)
	}
	for i := range p.Moves {
		land(p.Moves[i].Placements, false)
	}
	p.Joining = slices.DeleteFunc(p.Joining, func(j plan.Joining) bool {
		if l := at[j.Claim]; l != nil {
			l.Joins = j.Joins
		}
		return at[j.Claim] != nil
	})
	for i := range p.Holds {
		for j, name := range p.Holds[i].For {
			p.Holds[i].For[j] = strings.TrimPrefix(name, prefix)
		}
		slices.Sort(p.Holds[i].For)
	}
	for i := range launches {
		slices.SortFunc(launches[i].Pods, plan.ByName)
	}
}
