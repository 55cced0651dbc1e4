package disruption

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Repair is a node of ours that is unhealthy by a rule of its pool.
type Repair struct {
	Node, Claim string
	Pool        cluster.PoolID
	Ailment     cluster.Ailment // of several the one whose time was over first, then the first by name
	Rule        cluster.RepairRule
	Due         time.Time // when its time is over
	Held        string    // why it is not repaired now, or would not be if its time were over; empty: it is, or would
	Others      string    // how many of its pool are unhealthy, and with how many none is repaired
}

// Cause says in one line what the node is, or would be, repaired for.
func (r *Repair) Cause() string {
	return fmt.Sprintf("%s has been %s since %s, and a node is repaired after %s of that",
		r.Ailment.Condition, r.Ailment.Status, r.Ailment.Since.UTC().Format(time.RFC3339), r.Rule.After)
}

// String says in one line what becomes of the node.
func (r *Repair) String() string {
	text := r.Cause()
	if r.Held != "" {
		text += "; not now: " + r.Held
	}
	return text
}

// Repairs lists the nodes that are to be repaired, or would be, by name. Budgets,
// windows, pods that must not be disturbed and the time that those are given do not
// stop it. What stops it is made for days on which something is wrong with more than
// single nodes: too many of the pool's are unhealthy, a breaker, a freeze. next is
// when the time of another node is over; zero: of none.
func Repairs(s *cluster.Snapshot) (list []Repair, next time.Time) {
	for _, r := range Unhealthy(s) {
		switch {
		case !r.Due.After(s.Now):
			list = append(list, r)
		case next.IsZero() || r.Due.Before(next):
			next = r.Due
		}
	}
	return list, next
}

// Unhealthy lists the nodes that are repaired once their time is over, by name, with those
// whose time is.
func Unhealthy(s *cluster.Snapshot) (list []Repair) {
	w := newWard(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Claim == "" {
			continue
		}
		r, due := w.due(n)
		if r == nil {
			continue
		}
		r.Due, r.Others = due, w.share(n.Pool)
		if r.Held = w.stopped(n.Pool); r.Held == "" && !due.After(s.Now) {
			r.Held = w.held(n)
		}
		list = append(list, *r)
	}
	return list
}

// ward is what is known of all unhealthy nodes together.
type ward struct {
	s        *cluster.Snapshot
	rules    map[cluster.PoolID]*cluster.Repair
	sick     map[cluster.PoolID]int64
	nodes    map[cluster.PoolID]int64
	breakers []cluster.Breaker
	going    map[string]bool // nodes that are repaired
}

func newWard(s *cluster.Snapshot) *ward {
	w := &ward{s: s, rules: map[cluster.PoolID]*cluster.Repair{{}: &s.Repair}, sick: map[cluster.PoolID]int64{}, nodes: map[cluster.PoolID]int64{},
		breakers: slices.Clone(s.Breakers), going: map[string]bool{}}
	for i := range s.Pools {
		w.rules[s.Pools[i].ID] = &s.Pools[i].Repair
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Claim == "" {
			continue
		}
		counts := []cluster.PoolID{{}} // those of no pool are held against all nodes
		if n.Pool != counts[0] {
			counts = append(counts, n.Pool)
		}
		for _, id := range counts {
			w.nodes[id]++
			if w.unhealthy(n) {
				w.sick[id]++
			}
		}
	}
	return w
}

// due is what a node is repaired for, and from when on; nil where it is healthy.
func (w *ward) due(n *cluster.Node) (first *Repair, at time.Time) {
	rules := w.rules[n.Pool]
	if rules == nil {
		return nil, time.Time{}
	}
	for _, a := range n.Ailments {
		rule := rules.Rule(a.Condition, a.Status)
		if rule == nil {
			continue
		}
		if due := a.Since.Add(rule.After); first == nil || due.Before(at) {
			first, at = &Repair{Node: n.Name, Claim: n.Claim, Pool: n.Pool, Ailment: a, Rule: *rule}, due
		}
	}
	return first, at
}

// unhealthy reports whether the node counts as that. One that is still starting does
// not before its time is over.
func (w *ward) unhealthy(n *cluster.Node) bool {
	r, due := w.due(n)
	return r != nil && (n.Initialized || !due.After(w.s.Now))
}

// stopped says why no node of the pool is repaired now; empty: some may be.
func (w *ward) stopped(id cluster.PoolID) string {
	if w.sick[id] > w.rules[id].Bound(w.nodes[id]) {
		return w.share(id) + ", something else is likely to be wrong"
	}
	return w.s.Freeze
}

// held says why a node is not repaired now of a pool of which nodes may be; empty: it is,
// and then it counts.
func (w *ward) held(n *cluster.Node) string {
	switch {
	case n.Deleting:
		return "" // its end is hastened, and it counted when it began to leave
	case n.Controller != cluster.NoReplica && !w.standby(n):
		return "the controller runs on it, and no other replica that is ready is on a node that stays"
	}
	for i := range w.breakers {
		if b := &w.breakers[i]; b.Counts(n.Pool) && b.Gone+1 > b.Most {
			return stops(b)
		}
	}
	for i := range w.breakers {
		if b := &w.breakers[i]; b.Counts(n.Pool) {
			b.Gone++
		}
	}
	w.going[n.Name] = true
	return ""
}

// share says how many nodes of the pool are unhealthy, and what the bound is.
func (w *ward) share(id cluster.PoolID) string {
	rules := w.rules[id]
	of, said := id.String(), strconv.FormatInt(rules.Bound(w.nodes[id]), 10)
	if id == (cluster.PoolID{}) {
		of = "the cluster"
	}
	if rules.Percent {
		said += fmt.Sprintf(" (%d%%)", rules.Most)
	}
	return fmt.Sprintf("%d of the %d nodes of %s are unhealthy; with more than %s", w.sick[id], w.nodes[id], of, said)
}

// standby reports whether a replica of the controller stays when the node goes.
func (w *ward) standby(n *cluster.Node) bool {
	return slices.ContainsFunc(w.s.Nodes, func(o cluster.Node) bool {
		return o.Controller != cluster.NoReplica && o.Name != n.Name && !o.Deleting && !w.going[o.Name]
	})
}
