package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/plan"
)

// minutes are those of one plan.
type minutes struct {
	*Clerk
	s *cluster.Snapshot
	p *plan.Plan
}

func (m *minutes) write() {
	m.recordJobs()
	m.nodes()
	m.unhealthy()
	m.tried()
	for i := range m.p.Moves {
		m.movedPods(&m.p.Moves[i])
	}
	m.placedPods()
	m.launches()
	m.unplacedPods()
	m.pools()
	m.virtual()
}

// hold writes down what is decided about an object.
func (m *minutes) hold(about Object, claim string, topic Topic, said, why string, more func() []string) {
	m.Record.Hold(Statement{About: about, Claim: claim, Topic: topic, Said: said, Why: why, From: m.s.Now, Basis: m.p.Basis}, more)
}

// nothingSpeaks is said of a node that stays and needs no reason to.
const nothingSpeaks = "stays: there is no reason to disrupt it"

// mightGo begins what is said of a node that stays and has a reason to go, which
// follows.
const mightGo = "stays, although eligible for disruption: "

// toEmpty is said of a node from when it has the taint that has it empty.
const toEmpty = "is to empty without evictions: new pods go to other nodes while these have room, and scale-downs begin with its pods"

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
	why := map[string]string{}
	for _, e := range m.p.Emptying {
		why[e.Node] = e.Note
	}
	for i := range m.s.Nodes {
		n := &m.s.Nodes[i]
		if n.Claim == "" {
			continue
		}
		if n.Emptying() {
			m.hold(Object{Node, n.Name}, n.Claim, TopicEmpties, toEmpty, why[n.Name], nil)
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
		why := kept.Why
		if kept.By == plan.KeptByTime {
			why += m.jobs(n)
		}
		m.hold(about, n.Claim, TopicStay, mightGo+string(kept.Reason), why, func() []string {
			if kept.By == plan.KeptByFinding && kept.Reason != plan.Empty {
				m.owe(n.Name)
			}
			return facts()
		})
	case n.Deleting && known && strings.HasPrefix(before.Said, goes):
		m.Record.Stand(about, TopicStay)
	case n.Deleting:
		said, why := m.leaves(n)
		m.hold(about, n.Claim, TopicStay, said, why, facts)
	case !n.Initialized:
		m.hold(about, n.Claim, TopicStay, "stays: it has not started yet", "", facts)
	case known && !m.p.Asked && strings.HasPrefix(before.Said, mightGo):
		m.Record.Stand(about, TopicStay)
	default:
		m.hold(about, n.Claim, TopicStay, nothingSpeaks, m.quiet(n), facts)
	}
}

// quiet says since when no pod has come to the node or gone, and how long that has to
// be for it to be consolidated: with each plan again, so that it is true now.
func (m *minutes) quiet(n *cluster.Node) string {
	pool, found := m.s.Pool(n.Pool)
	if !found || pool.Policy.Never || n.QuietSince.IsZero() {
		return ""
	}
	return fmt.Sprintf("a pod last came or went at %s, and consolidateAfter is %v", moment(n.QuietSince), pool.Policy.After)
}

// leaves says what pods of a node that leaves wait for.
func (m *minutes) leaves(n *cluster.Node) (said, why string) {
	for i := range m.p.Holds {
		if h := &m.p.Holds[i]; h.Node == n.Name {
			return "is leaving, and its pods stay for now: " + plan.Names(h.Pods), h.Why()
		}
	}
	return "is leaving", ""
}

// facts is what is known of a node that matters for whether it stays.
func (m *minutes) facts(n *cluster.Node) []string {
	label := func(key string) string { value, _ := n.Labels.Get(key); return cmp.Or(value, "?") }
	what := fmt.Sprintf("%s in %s, %s, of %s", label(cluster.LabelInstanceType), label(cluster.LabelZone), label(cluster.LabelCapacityType), n.Pool)
	if pool, found := m.s.Pool(n.Pool); found {
		if price := cost.Billed(m.s, n, pool); price > 0 {
			what += ", " + price.String() + " in all"
		}
	}
	out := []string{what}
	if !n.QuietSince.IsZero() {
		out = append(out, "before this was decided a pod last came or went at "+moment(n.QuietSince))
	}
	if !n.EndsAt.IsZero() {
		out = append(out, "the cloud terminates its instance at "+moment(n.EndsAt))
	}
	switch n.Drifted {
	case "":
	case cluster.PoolDeleted:
		out = append(out, "its pool is being deleted")
	default:
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
		for _, d := range move.Dropped {
			out = append(out, d.String())
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

// podsMax is how many pods of a node that goes are listed with it; each reports itself in any case.
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
			out[p.Pod.UID] = "to a replacement of its node"
		case plan.OnInstance:
			out[p.Pod.UID] = "to the instance of claim " + p.Target
		case plan.OnNode:
			out[p.Pod.UID] = "to node " + p.Target
		}
	}
	return out
}
