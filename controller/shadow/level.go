package shadow

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/comparison"
)

// sum is what some nodes and instances cost.
type sum struct {
	level    comparison.Level
	unpriced map[string]bool // nodes whose price is not known, by name
}

// add counts a node with all that is paid for each instance, and with what it is likely to cost beside.
func (x *sum) add(s *cluster.Snapshot, n *cluster.Node, beside quantity.MicroUSDPerHour) {
	cost := n.Price
	if p, ok := s.Pool(n.Pool); ok {
		cost = p.CostOf(n)
	}
	if cost == 0 {
		x.unpriced[n.Name] = true
	}
	x.level.Cost, x.level.Nodes = x.level.Cost+cost+beside, x.level.Nodes+1
}

// levels is what the actual cluster costs now, and what this one does. Nodes that Daemok would not scale, and instances
// that are to become such nodes, cost the same in both.
func (w *World) levels(s *cluster.Snapshot) (actual, here comparison.Level) {
	unpriced := map[string]bool{}
	both, theirs, own := sum{unpriced: unpriced}, sum{unpriced: unpriced}, sum{unpriced: unpriced}
	outside, static := 0, 0
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case isOurs(s, n) || w.nodes[n.Name] != nil:
			theirs.add(s, n, 0)
			continue
		case isStatic(s, n):
			static++
		default:
			outside++
		}
		both.add(s, n, 0)
	}
	for _, n := range w.nodes {
		own.add(s, &n.Node, n.beside)
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		p, ok := s.Pool(m.Pool)
		if !ok || !m.Launched {
			continue
		}
		to := &theirs
		if p.Static() {
			to = &both
		}
		if price, known := p.PriceOf(m); known {
			to.level.Cost, to.level.Nodes = to.level.Cost+price+p.PerInstance(), to.level.Nodes+1
		}
	}
	w.Book.Beside(len(unpriced), outside, static)
	return plus(theirs.level, both.level), plus(own.level, both.level)
}

// paid is what commitments pay of what a cluster costs, with the actual cluster's instances that are being launched: all,
// or those of some pools.
func paid(of, actual *cluster.Snapshot, pools func(*cluster.Pool) bool) quantity.MicroUSDPerHour {
	if !of.Commitments.Any() {
		return 0
	}
	with := *of
	with.Instances = slices.DeleteFunc(slices.Clone(actual.Instances), func(m cluster.Instance) bool {
		p, ok := actual.Pool(m.Pool)
		return !ok || !m.Launched || pools != nil && !pools(p)
	})
	return coverage.PaidFor(&with)
}

func plus(a, b comparison.Level) comparison.Level {
	return comparison.Level{Cost: a.Cost + b.Cost, Nodes: a.Nodes + b.Nodes}
}

// isStatic reports whether a node is of a pool that keeps a number of nodes.
func isStatic(s *cluster.Snapshot, n *cluster.Node) bool {
	p, ok := s.Pool(n.Pool)
	return ok && n.Claim != "" && p.Static()
}

// priceOf is the price now of a node that exists here alone, from where those of actual nodes are; 0: not known.
func priceOf(s *cluster.Snapshot, n *cluster.Node) quantity.MicroUSDPerHour {
	if o := offeringOf(s, n); o != nil && o.Priced {
		return o.Price
	}
	return 0
}
