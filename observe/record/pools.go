package record

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// pools says of every pool what it may do now.
func (m *minutes) pools() {
	shares, wanting, deleted := disruption.Shares(m.s.Nodes), m.wanting(), m.deleted()
	for i := range m.s.Pools {
		p := &m.s.Pools[i]
		about := ofPool(p.ID)
		if p.NotReady != "" {
			m.hold(about, "", TopicReady, "may launch nothing", p.NotReady, nil)
		} else {
			m.hold(about, "", TopicReady, "may launch instances", "", nil)
		}
		if text := limits(p); text != "" {
			m.hold(about, "", TopicLimits, "has limits", text, nil)
		}
		said, why := m.lets(p, shares[p.ID])
		m.hold(about, "", TopicBudgets, said, why, nil)
		if text := deleted[p.ID]; text != "" {
			m.hold(about, "", TopicDeleted, "is being deleted: its nodes go within its budgets for "+string(plan.Drifted), text, nil)
		}
		if lines := wanting[p.ID]; len(lines) > 0 {
			m.hold(about, "", TopicWanting, "has no instance for some pending pods", lines[0], func() []string { return lines[1:] })
		}
	}
}

// deleted reports the nodes of pools that are being deleted, by pool.
func (m *minutes) deleted() map[cluster.PoolID]string {
	left, going := map[cluster.PoolID]int{}, map[cluster.PoolID]int{}
	for i := range m.s.Nodes {
		if n := &m.s.Nodes[i]; n.Drifted == cluster.PoolDeleted {
			left[n.Pool]++
			if n.Deleting {
				going[n.Pool]++
			}
		}
	}
	out := map[cluster.PoolID]string{}
	for id, n := range left {
		out[id] = fmt.Sprintf("of %d nodes that are left %d are going", n, going[id])
	}
	return out
}

// wantingMax is how many kinds of pods a pool reports that it has no instance for.
const wantingMax = 10

// wanting lists by pool the pods without a place that it comes near to having an instance for, and
// what is in the way.
func (m *minutes) wanting() map[cluster.PoolID][]string {
	out := map[cluster.PoolID][]string{}
	for i := range m.p.Unplaced {
		u := &m.p.Unplaced[i]
		for _, r := range u.Reasons {
			if r.Pool != (cluster.PoolID{}) && len(out[r.Pool]) < wantingMax {
				out[r.Pool] = append(out[r.Pool], plan.Names(u.Pods[:min(len(u.Pods), 1)])+andMore(len(u.Pods)-1)+": "+r.Text)
			}
		}
	}
	return out
}

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// limits reports how much of each of its limits a pool uses; empty where it has none.
func limits(p *cluster.Pool) string {
	var out []string
	for _, l := range p.Limits.Amounts {
		used := p.Used.Capacity.Get(l.Name)
		out = append(out, fmt.Sprintf("%s %s of %s", l.Name,
			quantity.FormatAmount(l.Name, used), quantity.FormatAmount(l.Name, l.Amount)))
	}
	if p.Limits.Nodes != nil {
		out = append(out, fmt.Sprintf("nodes %d of %d", p.Used.Nodes, *p.Limits.Nodes))
	}
	if p.Limits.Cost != nil {
		out = append(out, fmt.Sprintf("cost %s of %s",
			cluster.FormatLimit(cluster.LimitCost, int64(p.Used.Cost)),
			cluster.FormatLimit(cluster.LimitCost, int64(*p.Limits.Cost))))
	}
	if len(out) == 0 {
		return ""
	}
	return "in use: " + strings.Join(out, ", ")
}

// lets reports whether nodes of a pool may go by choice now, and what says so: budgets, policies,
// their breakers, or a freeze.
func (m *minutes) lets(p *cluster.Pool, share disruption.Share) (said, why string) {
	n, why := disruption.Allowed(m.s, p.ID, plan.Empty, plan.Drifted, plan.Underutilized)
	if n > 0 {
		return "allows voluntary disruption", fmt.Sprintf("allowed now: %d; %s", n, budgets(p, share))
	}
	return "allows no voluntary disruption now", why
}

// budgets reports how many nodes of a pool may go now, and why no more.
func budgets(p *cluster.Pool, share disruption.Share) string {
	text := fmt.Sprintf("of %d nodes %d are going or not ready; there may be", share.Nodes, share.Used)
	for i, reason := range []plan.RemovalReason{plan.Empty, plan.Drifted, plan.Underutilized} {
		if i > 0 {
			text += ","
		}
		a := disruption.Allowance(&p.Policy, reason)
		text += fmt.Sprintf(" %d %s", a.Most, reason)
		if why := cmp.Or(a.Closed, a.Note); why != "" {
			text += " (" + why + ")"
		}
	}
	if at := p.Policy.BudgetsChange; !at.IsZero() {
		text += "; that changes at " + moment(at)
	}
	return text
}
