package rules

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/topology"
)

// level is what pods of a shape insist on: what they require, and those of their
// preferences that have not been given up.
type level struct {
	topology.Preference
	need []int64
	shy  bool // of no node with a taint PreferNoSchedule
}

// levelsOf lists what pods of the shape insist on, the most first. Karpenter treats
// preferences as required and gives them up one by one: further terms of required
// node affinity come after the first, then preferred pod affinity, pod
// anti-affinity and node affinity go, of each the heaviest first, then spreads
// with ScheduleAnyway, and the last is that taints PreferNoSchedule are
// tolerated. Of preferred node affinity the heaviest alone counts.
func (x *state) levelsOf(s *cluster.Shape) []*level {
	if known := x.levels[s]; known != nil {
		return known
	}
	need := x.need(s)
	out := []*level{}
	if !x.prefers {
		out = append(out, &level{Preference: (&relaxation{}).preference(s, s), need: need})
	} else {
		for r := relaxationOf(s, x.shy); ; {
			out = append(out, &level{Preference: r.preference(s, r.shape(s)), need: need, shy: r.shy})
			if !r.relax() {
				break
			}
		}
	}
	x.levels[s] = out
	return out
}

// relaxation is what has not been given up yet, in the order of giving up.
type relaxation struct {
	terms       int // given up
	more        int // terms that come after them
	near, apart []cluster.Neighbours
	nodes       []cluster.Preference
	soft        []cluster.Spread
	shy         bool
}

func relaxationOf(s *cluster.Shape, shy bool) *relaxation {
	r := &relaxation{more: max(0, len(s.NodeTerms)-1), nodes: slices.Clone(s.Preferences), shy: shy}
	for _, n := range s.Neighbours {
		switch {
		case n.Weight == 0:
		case n.Apart:
			r.apart = append(r.apart, n)
		default:
			r.near = append(r.near, n)
		}
	}
	for _, x := range s.Spread {
		if x.Soft {
			r.soft = append(r.soft, x)
		}
	}
	heaviest := func(a, b cluster.Neighbours) int { return cmp.Compare(b.Weight, a.Weight) }
	slices.SortStableFunc(r.near, heaviest)
	slices.SortStableFunc(r.apart, heaviest)
	slices.SortStableFunc(r.nodes, func(a, b cluster.Preference) int { return cmp.Compare(b.Weight, a.Weight) })
	return r
}

// relax gives one more up; false: there is none.
func (r *relaxation) relax() bool {
	switch {
	case r.more > 0:
		r.more, r.terms = r.more-1, r.terms+1
	case dropped(&r.near) || dropped(&r.apart) || dropped(&r.nodes) || dropped(&r.soft):
	case r.shy:
		r.shy = false
	default:
		return false
	}
	return true
}

func dropped[T any](list *[]T) bool {
	if len(*list) == 0 {
		return false
	}
	*list = (*list)[1:]
	return true
}

// shape is the shape with the term and the preference that count.
func (r *relaxation) shape(s *cluster.Shape) *cluster.Shape {
	if len(s.NodeTerms) < 2 && len(r.nodes) == 0 {
		return s
	}
	out := *s
	var term constraint.Requirements
	if len(s.NodeTerms) > 0 {
		term = s.NodeTerms[r.terms]
	}
	if len(r.nodes) > 0 {
		term = term.AndAll(r.nodes[0].Term)
	}
	out.NodeTerms = []constraint.Requirements{term}
	return &out
}

// preference is what the pods then require of other pods.
func (r *relaxation) preference(s, as *cluster.Shape) topology.Preference {
	out := topology.Preference{Shape: as}
	for _, x := range s.Spread {
		if !x.Soft {
			out.Spread = append(out.Spread, x)
		}
	}
	for _, x := range r.soft {
		x.Soft = false
		out.Spread = append(out.Spread, x)
	}
	for _, n := range s.Neighbours {
		if n.Weight == 0 {
			out.Neighbours = append(out.Neighbours, n)
		}
	}
	for _, n := range slices.Concat(r.near, r.apart) {
		n.Weight = 0
		out.Neighbours = append(out.Neighbours, n)
	}
	return out
}
