package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
)

// Candidate is a pool, or a node, with what keeps pods from it.
type Candidate struct {
	Pool    cluster.PoolID
	Node    string
	Changes fit.Changes
}

// NearestPools lists the pools that the pods do not exclude by name, the nearest
// first.
func (w *World) NearestPools(p *Pods) []Candidate {
	u := &unlucky{Pods: p, changes: make([]fit.Changes, len(w.Pools))}
	for i := range w.Pools {
		u.changes[i] = w.Pools[i].lacks(p.Shape)
	}
	return w.nearest(u)
}

// nearest is NearestPools with less work: of those that cannot be among the
// nearest two it says no more than that.
func (w *World) nearest(u *unlucky) []Candidate {
	var out []Candidate
	least, second := 1<<30, 1<<30
	for i := range w.Pools {
		p := &w.Pools[i]
		if excluded(u.Shape, p) {
			continue
		}
		c := Candidate{Pool: p.ID, Changes: p.AtLeast(u.Shape)}
		switch e := c.Changes.Effort(); {
		case e == 0:
			c.Changes = u.changes[i]
		case e <= second:
			c.Changes = p.lacks(u.Shape)
		}
		switch e := c.Changes.Effort(); {
		case e < least:
			least, second = e, least
		case e < second:
			second = e
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(x, y Candidate) int { return cmp.Compare(x.Changes.Effort(), y.Changes.Effort()) })
	return out
}

// lacks lists what would have to be different for one pod of the shape to have a
// machine of the pool.
func (p *Pool) lacks(s *cluster.Shape) fit.Changes {
	changes, options := p.NearestOptions(s, p.Hurdles()...)
	return append(changes, p.TooFew(options)...)
}

// namedMax is how many pools a summary names.
const namedMax = 3

// inWords names the nearest pool, the next one where it is not much farther
// away, and sums up the others.
func inWords(near []Candidate) []plan.Reason {
	named := 1
	if len(near) > 1 && near[1].Changes.Effort() <= 2*near[0].Changes.Effort() {
		named = 2
	}
	var out []plan.Reason
	for _, c := range near[:named] {
		out = append(out, plan.Reason{Pool: c.Pool, Text: c.Changes.String()})
	}
	if others := near[named:]; len(others) > 0 {
		names := make([]string, 0, namedMax)
		for _, c := range others[:min(len(others), namedMax)] {
			names = append(names, c.Pool.Name)
		}
		out = append(out, plan.Reason{Text: others1(len(others)) + strings.Join(names, ", ") + further(len(others)-len(names))})
	}
	return out
}

func others1(n int) string {
	if n == 1 {
		return "one more pool is farther from it: "
	}
	return fmt.Sprintf("%d more pools are farther from it: ", n)
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
		if l.Value == p.ID.Name && (l.Key == labelPool || l.Key == labelProvisioner) {
			return l.Key, true
		}
	}
	return "", false
}

// Labels that name the pool of a node, in two generations of the API.
const (
	labelPool        = "karpenter.sh/nodepool"
	labelProvisioner = "karpenter.sh/provisioner-name"
)

// noSuchPool is for pods that exclude every pool by name: probably the name
// is misspelt.
func (w *World) noSuchPool(s *cluster.Shape) []plan.Reason {
	var names []string
	key := labelPool
	for i := range w.Pools {
		p := &w.Pools[i]
		names = append(names, p.ID.Name)
		key, _ = nameKey(p)
	}
	slices.Sort(names)
	want := s.NodeTerms[0].Get(key)
	values, _ := want.Finite()
	text := "it excludes every pool by its wish for " + fit.WantWord(constraint.Requirement{Key: key, Set: want})
	if len(values) > 0 {
		text = "no pool has the name that it asks for by " + fit.WantWord(constraint.Requirement{Key: key, Set: want})
	}
	for _, v := range values {
		if near, ok := fit.NearValue(v, names); ok {
			return []plan.Reason{{Text: text + " (did you mean " + near + "?)"}}
		}
	}
	names = slices.Compact(names)
	more := further(len(names) - min(len(names), namesMax))
	return []plan.Reason{{Text: text + " (there are " + strings.Join(names[:min(len(names), namesMax)], ", ") + more + ")"}}
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
