package retire

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// drift lets nodes go that are no longer what their pools and classes ask for,
// after machines that take their place have come. In each pool those without
// pods come first, then those that drifted first; pools take turns, so that one
// whose nodes cannot be replaced holds nobody else up.
func (x *Search) drift(all []*candidate) task {
	turns := map[cluster.PoolID][]*candidate{}
	var pools []cluster.PoolID
	for _, c := range all {
		if c.Drifted == "" {
			continue
		}
		if turns[c.Pool] == nil {
			pools = append(pools, c.Pool)
		}
		turns[c.Pool] = append(turns[c.Pool], c)
	}
	slices.SortFunc(pools, func(a, b cluster.PoolID) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
	for _, list := range turns {
		slices.SortStableFunc(list, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(min(1, len(a.moving)), min(1, len(b.moving))), a.DriftedAt.Compare(b.DriftedAt), cmp.Compare(a.Name, b.Name))
		})
	}
	return func() bool {
		for len(pools) > 0 {
			id := pools[0]
			pools = pools[1:]
			if len(turns[id]) == 0 {
				continue
			}
			c := turns[id][0]
			turns[id] = turns[id][1:]
			pools = append(pools, id)
			if !x.stays(c) {
				x.replaceDrifted(c)
				return true
			}
		}
		return false
	}
}

func (x *Search) replaceDrifted(c *candidate) {
	if why := c.hindrance(x.snapshot, x.guards, true); why != "" {
		x.keep(c, plan.Drifted, why)
		return
	}
	if why := x.budgets.closed([]*candidate{c}, plan.Drifted); why != "" {
		x.keep(c, plan.Drifted, why)
		return
	}
	if len(c.moving) == 0 {
		x.let([]*candidate{c}, plan.Drifted, c.Drifted, nil)
		return
	}
	answer := x.homes(c)
	if no(answer) {
		x.keep(c, plan.Drifted, "no place for its pods: "+why(answer))
		return
	}
	x.let([]*candidate{c}, plan.Drifted, c.Drifted, answer)
}
