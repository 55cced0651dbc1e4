package record

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// movedPods says of pods on nodes that go where they are to run.
func (m *minutes) movedPods(move *plan.Move) {
	where := targets(move)
	for _, r := range move.Removals {
		why := fmt.Sprintf("the node goes: %s, %s", r.Reason, r.Note)
		for i := range r.Pods {
			said := "is to move from node " + r.Node + " " + cmp.Or(where[r.Pods[i].UID], "to wherever there is room")
			m.holdPod(&r.Pods[i], "", said, why, nil)
		}
	}
}

// placedPods says of pods that wait where they are to run.
func (m *minutes) placedPods() {
	orders := m.orders()
	for i := range m.p.Placements {
		p := &m.p.Placements[i]
		switch p.On {
		case plan.OnNode:
			m.holdPod(&p.Pod, "", "is to run on node "+p.Target, "it has room", nil)
		case plan.OnInstance:
			m.holdPod(&p.Pod, p.Target, onInstance(p.Target), "", nil)
		case plan.OnLaunch:
			o := orders[p.Target]
			m.holdPod(&p.Pod, o.claim, o.said, o.why, func() []string { return o.more })
		}
	}
}

// order is what is said of all pods that an instance is for.
type order struct {
	said, why string
	claim     string // empty: it could not be launched
	more      []string
}

// orders reports the launches of the plan, by their names.
func (m *minutes) orders() map[string]order {
	out := map[string]order{}
	for i := range m.p.Launches {
		l := &m.p.Launches[i]
		if claim, ordered := m.claims[l.Name]; ordered {
			out[l.Name] = order{onInstance(claim), "it was created for the pod: " + l.Choice.String(), claim, grounds(l)}
			continue
		}
		out[l.Name] = order{said: "is to run on a new node of " + l.Pool.String() + ", whose NodeClaim could not be created yet"}
	}
	return out
}

func onInstance(claim string) string { return "is to run on the instance of claim " + claim }

// tooEarly is said of pods for which nothing is in the way.
const tooEarly = "waits: it is too early to launch an instance for it"

// unplacedPods says of pods why they have no place.
func (m *minutes) unplacedPods() {
	for i := range m.p.Unplaced {
		u := &m.p.Unplaced[i]
		said, why := "has no place", u.Why()
		if u.Early {
			said = tooEarly
		}
		for j := range u.Pods {
			m.holdPod(&u.Pods[j], "", said, why, nil)
		}
	}
}

// holdPod writes down where a pod is to run, and on the instance of which NodeClaim where that has none yet, or why it has no place.
func (m *minutes) holdPod(p *cluster.Pod, claim, said, why string, more func() []string) {
	m.Record.Hold(Statement{About: Object{Pod, podName(p)}, Claim: claim, UID: p.UID, Topic: TopicPlace, Said: said, Why: why, From: m.s.Now, Basis: m.p.Basis}, more)
}

func podName(p *cluster.Pod) string { return p.Namespace + "/" + p.Name }

// Placed reports whether a statement about where a pod is to run names a place, be it one that is still being launched.
func (s *Statement) Placed() bool {
	return s.Topic == TopicPlace && (strings.HasPrefix(s.Said, "is to ") || s.Said == tooEarly)
}
