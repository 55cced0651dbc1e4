package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/retire"
)

// minutes are those of one plan.
type minutes struct {
	*Clerk
	s *cluster.Snapshot
	p *plan.Plan
}

func (m *minutes) write() {
	m.nodes()
	m.tried()
	for i := range m.p.Moves {
		m.movedPods(&m.p.Moves[i])
	}
	m.placedPods()
	m.unplacedPods()
	m.pools()
}

// hold writes down what is decided about an object.
func (m *minutes) hold(about Object, claim string, topic Topic, said, why string, more func() []string) {
	m.Record.Hold(Statement{About: about, Claim: claim, Topic: topic, Said: said, Why: why, From: m.s.Now, Basis: m.p.Basis}, more)
}

// nothingSpeaks is said of a node that stays and needs no reason to.
const nothingSpeaks = "stays: nothing speaks for letting it go"

// nodes says of every node of ours why it goes or stays.
func (m *minutes) nodes() {
	going := map[string]*plan.Move{}
	for i := range m.p.Moves {
		for _, r := range m.p.Moves[i].Removals {
			going[r.Node] = &m.p.Moves[i]
		}
	}
	kept := map[string]*plan.Kept{}
	for i := range m.p.Kept {
		kept[m.p.Kept[i].Node] = &m.p.Kept[i]
	}
	for i := range m.s.Nodes {
		n := &m.s.Nodes[i]
		if n.Claim == "" {
			continue
		}
		if move := going[n.Name]; move != nil {
			m.goes(n, move)
			continue
		}
		m.stays(n, kept[n.Name])
	}
}

// stays says why a node stays. What was found out about it holds until it is
// asked about again.
func (m *minutes) stays(n *cluster.Node, kept *plan.Kept) {
	about := Object{Node, n.Name}
	facts := func() []string { return m.facts(n) }
	before, known := m.Record.Held(about, TopicStay)
	if m.p.Asked && (kept == nil || kept.By != plan.KeptByFinding) {
		delete(m.owed, n.Name)
	}
	switch {
	case kept != nil:
		m.hold(about, n.Claim, TopicStay, "stays, though it might go: "+string(kept.Reason), kept.Why, func() []string {
			if kept.By == plan.KeptByFinding && kept.Reason != plan.Empty {
				m.owe(n.Name)
			}
			return facts()
		})
	case n.Deleting && known && strings.HasPrefix(before.Said, goes):
		m.Record.Stand(about, TopicStay)
	case n.Deleting:
		m.hold(about, n.Claim, TopicStay, "is leaving", "", facts)
	case !n.Initialized:
		m.hold(about, n.Claim, TopicStay, "stays: it has not started yet", "", facts)
	case known && !m.p.Asked && before.Why != "":
		m.Record.Stand(about, TopicStay)
	default:
		m.hold(about, n.Claim, TopicStay, nothingSpeaks, "", facts)
	}
}

// facts is what is known of a node that matters for whether it stays.
func (m *minutes) facts(n *cluster.Node) []string {
	label := func(key string) string { value, _ := n.Labels.Get(key); return cmp.Or(value, "?") }
	what := fmt.Sprintf("%s in %s, %s, of %s", label(cluster.LabelInstanceType), label(cluster.LabelZone), label(cluster.LabelCapacityType), n.Pool)
	if pool, found := m.s.Pool(n.Pool); found {
		if cost := pool.CostOf(n); cost > 0 {
			what += ", " + cost.String() + " in all"
		}
	}
	out := []string{what}
	if !n.QuietSince.IsZero() {
		out = append(out, "no pod has come or gone since "+moment(n.QuietSince))
	}
	if n.Drifted != "" {
		out = append(out, "it has drifted: "+n.Drifted)
	}
	if !n.ExpiresAt.IsZero() {
		out = append(out, "it expires at "+moment(n.ExpiresAt))
	}
	return out
}

const goes = "goes: "

// goes says why a node goes, what that saves, and where its pods are to run.
func (m *minutes) goes(n *cluster.Node, move *plan.Move) {
	delete(m.owed, n.Name)
	r := &move.Removals[slices.IndexFunc(move.Removals, func(r plan.Removal) bool { return r.Node == n.Name })]
	m.hold(Object{Node, n.Name}, n.Claim, TopicStay, goes+string(r.Reason), r.Note, func() []string {
		out := m.facts(n)
		if len(move.Removals) > 1 {
			out = append(out, "together it is "+nodesOf(move.Removals))
		}
		out = append(out, "saves "+move.Saves.String()+payback(move)+"; the cluster costs "+m.p.CostBefore.String()+" before the plan and "+m.p.CostAfter.String()+" after it")
		for i := range move.Launches {
			out = append(out, "in place of what goes: "+move.Launches[i].Decision())
		}
		return append(out, m.destinations(move, r.Pods)...)
	})
}

func payback(move *plan.Move) string {
	if move.Payback == 0 {
		return ""
	}
	return ", moving its pods pays back in " + move.Payback.Round(1e9).String()
}

// podsMax is how many pods of a node that goes are listed with it; each tells of
// itself in any case.
const podsMax = 30

// destinations lists where the pods of a node are to run.
func (m *minutes) destinations(move *plan.Move, pods []cluster.Pod) []string {
	where := targets(move)
	var out []string
	for i := range pods[:min(len(pods), podsMax)] {
		out = append(out, fmt.Sprintf("pod %s: %s", podName(&pods[i]), cmp.Or(where[pods[i].UID], "wherever there is room")))
	}
	if more := len(pods) - podsMax; more > 0 {
		out = append(out, fmt.Sprintf("and %d pods more", more))
	}
	return out
}

// targets is where the pods of a move are to run, by their UIDs.
func targets(move *plan.Move) map[string]string {
	out := map[string]string{}
	for _, p := range move.Placements {
		switch p.On {
		case plan.OnLaunch:
			out[p.Pod.UID] = "to a machine that comes in its place"
		case plan.OnMachine:
			out[p.Pod.UID] = "to the machine of claim " + p.Target
		case plan.OnNode:
			out[p.Pod.UID] = "to node " + p.Target
		}
	}
	return out
}

// movedPods says of pods on nodes that go where they are to run.
func (m *minutes) movedPods(move *plan.Move) {
	where := targets(move)
	for _, r := range move.Removals {
		why := fmt.Sprintf("the node goes: %s, %s", r.Reason, r.Note)
		for i := range r.Pods {
			said := "is to move from node " + r.Node + " " + cmp.Or(where[r.Pods[i].UID], "to wherever there is room")
			m.hold(Object{Pod, podName(&r.Pods[i])}, "", TopicPlace, said, why, nil)
		}
	}
}

// placedPods says of pods that wait where they are to run.
func (m *minutes) placedPods() {
	orders := m.orders()
	for i := range m.p.Placements {
		p := &m.p.Placements[i]
		about := Object{Pod, podName(&p.Pod)}
		switch p.On {
		case plan.OnNode:
			m.hold(about, "", TopicPlace, "is to run on node "+p.Target, "it has room", nil)
		case plan.OnMachine:
			m.hold(about, "", TopicPlace, onMachine(p.Target), "", nil)
		case plan.OnLaunch:
			o := orders[p.Target]
			m.hold(about, "", TopicPlace, o.said, o.why, func() []string { return o.more })
		}
	}
}

// order is what is said of all pods that a machine is for.
type order struct {
	said, why string
	more      []string
}

// orders tells of the launches of the plan, by their names.
func (m *minutes) orders() map[string]order {
	out := map[string]order{}
	for i := range m.p.Launches {
		l := &m.p.Launches[i]
		if claim, ordered := m.claims[l.Name]; ordered {
			out[l.Name] = order{onMachine(claim), "it was ordered for it: " + l.Choice.String(), grounds(l)}
			continue
		}
		out[l.Name] = order{said: "is to run on a machine of " + l.Pool.String() + " that could not be ordered yet"}
	}
	return out
}

func onMachine(claim string) string { return "is to run on the machine of claim " + claim }

// unplacedPods says of pods why they have no place.
func (m *minutes) unplacedPods() {
	for i := range m.p.Unplaced {
		u := &m.p.Unplaced[i]
		said, why := "has no place", u.Why()
		if u.Early {
			said = "waits: it is too early to buy a machine for it"
		}
		for j := range u.Pods {
			m.hold(Object{Pod, podName(&u.Pods[j])}, "", TopicPlace, said, why, nil)
		}
	}
}

func podName(p *cluster.Pod) string { return p.Namespace + "/" + p.Name }

// pools says of every pool what it may do now.
func (m *minutes) pools() {
	shares, wanting := retire.Shares(m.s.Nodes), m.wanting()
	for i := range m.s.Pools {
		p := &m.s.Pools[i]
		about := Object{Pool, p.ID.Name}
		if p.NotReady != "" {
			m.hold(about, "", TopicReady, "may buy nothing", p.NotReady, nil)
		} else {
			m.hold(about, "", TopicReady, "may buy machines", "", nil)
		}
		if text := limits(p); text != "" {
			m.hold(about, "", TopicLimits, "has limits", text, nil)
		}
		m.hold(about, "", TopicBudgets, "lets nodes go by its budgets", budgets(p, shares[p.ID]), nil)
		if lines := wanting[p.ID]; len(lines) > 0 {
			m.hold(about, "", TopicWanting, "has no machine for some pods that wait", lines[0], func() []string { return lines[1:] })
		}
	}
}

// wantingMax is how many kinds of pods a pool tells that it has no machine for.
const wantingMax = 10

// wanting lists by pool the pods without a place that it comes near to having a
// machine for, and what is in the way.
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

// limits tells how much of each of its limits a pool uses; empty where it has
// none.
func limits(p *cluster.Pool) string {
	var out []string
	for _, l := range p.Limits.Amounts {
		out = append(out, fmt.Sprintf("%s %s of %s", l.Name, quantity.FormatAmount(l.Name, p.Usage.Get(l.Name)), quantity.FormatAmount(l.Name, l.Amount)))
	}
	if p.Limits.Nodes != nil {
		out = append(out, fmt.Sprintf("nodes %d of %d", p.Nodes, *p.Limits.Nodes))
	}
	if len(out) == 0 {
		return ""
	}
	return "in use: " + strings.Join(out, ", ")
}

// budgets tells how many nodes of a pool may go now, and why no more.
func budgets(p *cluster.Pool, share retire.Share) string {
	text := fmt.Sprintf("of %d nodes %d are going or not ready; there may be", share.Nodes, share.Used)
	for i, reason := range []plan.RemovalReason{plan.Empty, plan.Drifted, plan.Underutilized} {
		if i > 0 {
			text += ","
		}
		a := retire.Allowance(&p.Policy, reason)
		text += fmt.Sprintf(" %d %s", a.Most, reason)
		if a.Note != "" {
			text += " (" + a.Note + ")"
		}
	}
	if at := p.Policy.BudgetsChange; !at.IsZero() {
		text += "; that changes at " + moment(at)
	}
	return text
}
