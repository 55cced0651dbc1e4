package explanation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
)

// Candidate is a pool, or a node, with what keeps pods from it.
type Candidate struct {
	Pool    cluster.PoolID
	Node    string
	Changes feasibility.Changes
	rank    rank
	at      int // of a pool: its position
}

// rank is how much a pool is what pods are meant for, whatever it lacks for them.
type rank int

const (
	selected   rank = iota // the pods select its labels, and it may launch
	closed                 // likewise, but it may launch nothing now
	unselected             // the pods ask for other labels than its nodes have
	unselectedClosed
	leaving // the pods select it, and it is being deleted
	unselectedLeaving
)

func rankOf(p *Pool, s *cluster.Shape) rank {
	switch wanted := p.Selected(s); {
	case wanted && p.Leaving():
		return leaving
	case p.Leaving():
		return unselectedLeaving
	case wanted && p.Closed():
		return closed
	case wanted:
		return selected
	case p.Closed():
		return unselectedClosed
	}
	return unselected
}

// compare sorts candidates: those first that the pods are meant for, of them those that need the
// least change.
func (c *Candidate) compare(other *Candidate) int {
	return cmp.Or(cmp.Compare(c.rank, other.rank), cmp.Compare(c.Changes.Effort(), other.Changes.Effort()))
}

// NearestPools lists the pools that the pods do not exclude by name, the nearest
// first.
func (w *World) NearestPools(p *Pods) []Candidate {
	u := &unlucky{Pods: p, changes: make([]feasibility.Changes, len(w.Pools))}
	for i := range w.Pools {
		u.changes[i] = w.Pools[i].lacks(p.Shape)
	}
	return w.nearest(u)
}

// nearest is NearestPools with less work: of those that are not reported by themselves it says no
// more than their taints.
func (w *World) nearest(u *unlucky) []Candidate {
	var out []Candidate
	for i := range w.Pools {
		if p := &w.Pools[i]; !excluded(u.Shape, p) {
			out = append(out, Candidate{Pool: p.ID, Changes: p.AtLeast(u.Shape), rank: rankOf(p, u.Shape), at: i})
		}
	}
	slices.SortStableFunc(out, func(x, y Candidate) int { return cmp.Compare(x.rank, y.rank) })
	least, second := 1<<30, 1<<30
	for k := range out {
		c := &out[k]
		switch e := c.Changes.Effort(); {
		case e == 0 || u.changes[c.at] != nil:
			c.Changes = u.changes[c.at]
		case c.rank > closed && out[0].rank <= closed && c.rank != leaving:
		case e <= second || c.rank == closed || c.rank == leaving:
			c.Changes = w.Pools[c.at].lacks(u.Shape)
		}
		switch e := c.Changes.Effort(); {
		case e < least:
			least, second = e, least
		case e < second:
			second = e
		}
	}
	slices.SortStableFunc(out, func(x, y Candidate) int { return x.compare(&y) })
	return out
}

// lacks lists what would have to be different for one pod of the shape to have an instance of the
// pool.
func (p *Pool) lacks(s *cluster.Shape) feasibility.Changes {
	changes, options := p.NearestOptions(s, p.Constraints...)
	return append(changes, p.TooFew(options)...)
}

const (
	reportedMax = 8 // how many pools a reason reports by themselves
	namedMax    = 3 // how many others a summary names
)

// inWords reports each pool that the pods are meant for, and sums up the others.
func inWords(near []Candidate) []plan.Reason {
	var out []plan.Reason
	var others []Candidate
	for k := range near {
		if c := &near[k]; k < reportedMax && c.reported(k, near) {
			out = append(out, plan.Reason{Pool: c.Pool, Text: c.Changes.String(), MinValues: c.Changes.Have(feasibility.MinValues), Rule: string(c.Changes.Hardest())})
			continue
		}
		others = append(others, near[k])
	}
	if len(others) > 0 {
		names := make([]string, 0, namedMax)
		for _, c := range others[:min(len(others), namedMax)] {
			names = append(names, c.Pool.Name)
		}
		out = append(out, plan.Reason{Text: needMore(len(others)) + strings.Join(names, ", ") + further(len(others)-len(names)), Others: true})
	}
	return out
}

// reported reports whether a pool is reported by itself: the first of all, the next one where it is
// not much farther away, and those that pods select and whose taints they tolerate.
func (c *Candidate) reported(place int, near []Candidate) bool {
	switch first := &near[0]; {
	case place == 0 || c.rank == closed || c.rank == leaving:
		return true
	case c.rank != first.rank:
		return false
	case place == 1 && c.Changes.Effort() <= 2*first.Changes.Effort():
		return true
	}
	return c.rank == selected && !slices.ContainsFunc(c.Changes, func(x feasibility.Change) bool { return x.Rule == feasibility.Taint })
}

func needMore(n int) string {
	if n == 1 {
		return "1 more pool needs more changes: "
	}
	return fmt.Sprintf("%d more pools need more changes: ", n)
}

func further(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// excluded reports whether the pods choose pools by name, and not this one.
func excluded(s *cluster.Shape, p *Pool) bool {
	key, ok := nameKey(p)
	return ok && len(s.NodeTerms) > 0 && !slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool {
		return t.Get(key).Allows(p.ID.Name)
	})
}

// nameKey returns the label by which nodes say of which pool they are.
func nameKey(p *Pool) (string, bool) {
	for _, l := range p.Labels {
		if l.Value == p.ID.Name && (l.Key == cluster.LabelNodePool || l.Key == labelProvisioner) {
			return l.Key, true
		}
	}
	return "", false
}

// labelProvisioner names the pool of a node in the older API, as cluster.LabelNodePool does now.
const labelProvisioner = "karpenter.sh/provisioner-name"

// noSuchPool is for pods that exclude every pool by name: probably the name
// is misspelt.
func (w *World) noSuchPool(u *unlucky) []plan.Reason {
	s := u.Shape
	var names []string
	key := cluster.LabelNodePool
	for i := range w.Pools {
		p := &w.Pools[i]
		names = append(names, p.ID.Name)
		key, _ = nameKey(p)
	}
	slices.Sort(names)
	want := s.NodeTerms[0].Get(key)
	if w.declined(s) {
		return []plan.Reason{{Text: plan.Outside + " (" + feasibility.WantWord(constraint.Requirement{Key: key, Set: want}) + "), so nothing is launched for it; " + w.onNodes(u.Pods)}}
	}
	values, _ := want.Finite()
	text := "it excludes every pool by its requirement " + feasibility.WantWord(constraint.Requirement{Key: key, Set: want})
	if len(values) > 0 {
		text = "no pool has the name that it asks for by " + feasibility.WantWord(constraint.Requirement{Key: key, Set: want})
	}
	for _, v := range values {
		if near, ok := feasibility.NearValue(v, names); ok {
			return []plan.Reason{{Rule: string(feasibility.Label), Text: text + " (did you mean " + near + "?)"}}
		}
	}
	names = slices.Compact(names)
	more := further(len(names) - min(len(names), namesMax))
	return []plan.Reason{{Rule: string(feasibility.Label), Text: text + " (there are " + strings.Join(names[:min(len(names), namesMax)], ", ") + more + ")"}}
}

// olderName is for pods that select the label of Provisioners where there is none:
// the one of NodePools is meant. It is empty for others.
func (w *World) olderName(s *cluster.Shape) string {
	var names []string
	for i := range w.Pools {
		if key, _ := nameKey(&w.Pools[i]); key == labelProvisioner {
			return ""
		}
		names = append(names, w.Pools[i].ID.Name)
	}
	ask := func(t constraint.Requirements) bool {
		return t.Has(labelProvisioner) && !t.Get(labelProvisioner).AllowsAbsent()
	}
	if len(s.NodeTerms) == 0 || slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool { return !ask(t) }) {
		return ""
	}
	want := s.NodeTerms[0].Get(labelProvisioner)
	text := "it asks for " + feasibility.WantWord(constraint.Requirement{Key: labelProvisioner, Set: want}) + ", the label of Provisioners, and there is none: nodes of NodePools have " + cluster.LabelNodePool
	values, _ := want.Finite()
	for _, v := range values {
		if slices.Contains(names, v) {
			return text + ", so select " + cluster.LabelNodePool + "=" + v
		}
		if near, ok := feasibility.NearValue(v, names); ok {
			return text + " (did you mean " + cluster.LabelNodePool + "=" + near + "?)"
		}
	}
	slices.Sort(names)
	return text + " (there are " + strings.Join(names[:min(len(names), namesMax)], ", ") + further(len(names)-namesMax) + ")"
}

// declined reports whether the pods rule out the label that every pool gives to its
// nodes, whatever its value.
func (w *World) declined(s *cluster.Shape) bool {
	return !slices.ContainsFunc(w.Pools, func(p Pool) bool {
		key, named := nameKey(&p)
		return !named || slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool {
			values, finite := t.Get(key).Finite()
			return !finite || len(values) > 0
		})
	})
}

// namesMax is how many names a list for choosing from has at most.
const namesMax = 8

// pinned reports whether the pods may only run on nodes of certain names.
func pinned(s *cluster.Shape) bool {
	return len(s.NodeTerms) > 0 && !slices.ContainsFunc(s.NodeTerms, func(t constraint.Requirements) bool {
		_, finite := t.Get(cluster.LabelHostname).Finite()
		return !finite
	})
}
