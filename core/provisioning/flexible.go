package provisioning

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/supply"
)

// keepFlexible reduces a load for a spot instance until enough instance types stay open, if the pool has so many with
// room for the largest of its pods. Otherwise it keeps the load, and also where some of its pods are co-located.
func (li *lister) keepFlexible(b *supply.Candidate, l supply.Load) supply.Load {
	if slices.ContainsFunc(l.Parts, func(p supply.Part) bool { return li.pr.Groups[p.Group].Component != nil }) {
		return l
	}
	out := l.Clone()
	for range supply.EnoughTries {
		li.pr.tournament.stabilize(b, &out)
		kinds := slices.Collect(b.SpotKinds(b.Together(&out), 0, out.Option, out.Sum))
		room, enough := b.CommonRoom(kinds, out.Sum, li.largest(&out))
		if !enough {
			return l
		}
		if amount.Fits(room, out.Sum) {
			if li.muchMoreExpensive(b, &out, &l) {
				return l
			}
			return out
		}
		smaller := li.cutTo(&out, room)
		if len(smaller.Parts) == 0 {
			return l
		}
		out = smaller
	}
	return l
}

// muchMoreExpensive reports whether the instances with less on them that replace one cost more than FlexibleWithin
// times its cost.
func (li *lister) muchMoreExpensive(b *supply.Candidate, less, than *supply.Load) bool {
	instances := math.Ceil(amount.Value(li.pr.Values.Worth, than.Sum) / amount.Value(li.pr.Values.Worth, less.Sum))
	return float64(instances*b.Cost[less.Option]) > float64(supply.FlexibleWithin*b.Cost[than.Option])
}

// largest returns what the largest pod of the load needs, by worth.
func (li *lister) largest(l *supply.Load) []int64 {
	var out []int64
	most := -1.0
	for _, p := range l.Parts {
		if need := li.pr.Groups[p.Group].Need; amount.Value(li.pr.Values.Worth, need) > most {
			out, most = need, amount.Value(li.pr.Values.Worth, need)
		}
	}
	return out
}

// cutTo returns the part of the load that there is room for, the first groups first.
func (li *lister) cutTo(l *supply.Load, room []int64) supply.Load {
	out := supply.Load{Option: l.Option, Modest: l.Modest, Sum: make([]int64, li.pr.Dims.Len())}
	left := slices.Clone(room)
	for _, p := range l.Parts {
		g := li.pr.Groups[p.Group]
		free := left
		if p.First != nil {
			free = slices.Clone(left)
			amount.Take(free, p.First, 1)
		}
		n := min(p.N, amount.Count(free, g.Need))
		if n <= 0 {
			continue
		}
		out.Add(g.Part(p.Way, n, p.First), g.Need)
		amount.Take(left, g.Need, n)
		if p.First != nil {
			amount.Take(left, p.First, 1)
		}
	}
	return out
}
