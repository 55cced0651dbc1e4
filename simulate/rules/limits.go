package rules

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// limits is what a pool may still launch.
type limits struct {
	amounts []quantity.Extended
	nodes   *int64 // nil: any number
}

func limitsOf(pools []cluster.Pool) map[cluster.PoolID]*limits {
	out := map[cluster.PoolID]*limits{}
	for i := range pools {
		p, l := &pools[i], &limits{}
		for _, e := range p.Limits.Amounts {
			left := quantity.Difference(e.Amount, p.Used.Capacity.Get(e.Name))
			l.amounts = append(l.amounts, quantity.Extended{Name: e.Name, Amount: left})
		}
		if p.Limits.Nodes != nil {
			n := *p.Limits.Nodes - p.Used.Nodes
			l.nodes = &n
		}
		out[p.ID] = l
	}
	return out
}

// keep removes options of types that are too large for what is left.
func (l *limits) keep(c *claim) {
	if len(l.amounts) == 0 && l.nodes == nil {
		return
	}
	c.options = c.pool.without(c.options, func(i int) bool {
		capacity := c.pool.InstanceType(c.pool.Options[i]).Capacity
		return l.nodes != nil && *l.nodes < 1 || slices.ContainsFunc(l.amounts, func(e quantity.Extended) bool { return capacity.Get(e.Name) > e.Amount })
	})
}

// use takes off the most that the claim may turn out to be.
func (l *limits) use(c *claim) {
	if l.nodes != nil {
		*l.nodes--
	}
	var most quantity.Resources
	for i := c.options.Next(0); len(l.amounts) > 0 && i >= 0; i = c.options.Next(i + 1) {
		most = most.Max(c.pool.InstanceType(c.pool.Options[i]).Capacity)
	}
	for i := range l.amounts {
		l.amounts[i].Amount -= most.Get(l.amounts[i].Name)
	}
}
