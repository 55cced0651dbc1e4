package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
)

// How prices are sought for the bound over loads.
const (
	itemsMost = 40          // different pods that are distinguished, those with a rule about others aside
	zonesMost = 5           // zones that are distinguished
	stepsMost = 120_000_000 // checks an item, about
	addedMost = 12          // loads of a zone that are added in one trip
	loadsMost = 1200        // loads that are kept
	nearly    = 0.97        // share of its price that a load must be worth to be kept then
	closeTo   = 1e-4        // share of the cost that is not worth another trip
	beyond    = 1 + 1e-7    // times its price is what a load must be worth to be added
)

// loadsBound returns a bound that knows which loads there are for one instance: of whole
// pods, in a certain zone, with one at most of pods that refuse each other's host. The
// smallest of many different pods may be cut. It is zero where it is not worked out: where
// nodes exist, too many different pods have rules, or it is not above another bound that is
// known.
//
// Proof: every plan fulfils every row, see rowsOf. Let each row have a price, zero or more.
// A pod in a zone is worth what the rows cost together that count it there. If no instance
// can have a load that is worth more than the instance costs, then a plan costs no less
// than all its pods are worth, which is no less than the sum of prices times demands. So
// any prices will do, however they were found, once they are divided by how many times its
// price a load may be worth, see branching.
func loadsBound(s *cluster.Snapshot, known float64) float64 {
	if len(s.Nodes) > 0 || len(s.Instances) > 0 {
		return 0
	}
	l := newLoads(s)
	if len(l.items) > 2*itemsMost {
		return 0
	}
	return l.solve(float64(known*1e6)) / 1e6
}

// loads is the problem while loads are added to it.
type loads struct {
	items   []item
	rows    []counted
	zones   [][]column // what is offered, by zone
	columns []bound.Column
	turn    int
	steps   int64
}

// item is pods that nothing distinguishes.
type item struct {
	each   [resources]int64
	count  int
	most   int64 // on one instance
	groups []int // spreads that choose them
	crowds []int // of which an instance takes one
}

// counted is a row: so many pods of an item, or that a spread chooses, are in
// some zones at least; or the pods that may be cut take so much of a resource.
type counted struct {
	demand   float64
	item     int // or -1
	group    int // or -1
	resource int // or -1
	zones    uint
}

func (c *counted) counts(at int, it *item, zone int) bool {
	return c.zones>>zone&1 == 1 && (c.item == at || slices.Contains(it.groups, c.group))
}

func newLoads(s *cluster.Snapshot) *loads {
	l, c, zones := &loads{}, newCover(s), offeredEverywhere(s)
	var groups []*spreadGroup
	if len(zones) > 1 && len(zones) <= zonesMost {
		groups = slices.DeleteFunc(spreads(s, zones), func(g *spreadGroup) bool { return !g.sure || len(g.waiting) == 0 })
	}
	l.gather(s, groups, crowds(s))
	if len(groups) == 0 {
		l.zones = [][]column{undominated(c.columns)}
	}
	for _, name := range zones {
		if len(groups) > 0 {
			l.zones = append(l.zones, undominated(slices.DeleteFunc(slices.Clone(c.columns), func(x column) bool { return x.zone != name })))
		}
	}
	l.rowsOf(groups, l.cutSmall())
	return l
}

// undominated lists the columns, the cheapest first, without those that have no
// more of anything than another that costs no more.
func undominated(columns []column) []column {
	var out []column
	slices.SortStableFunc(columns, func(a, b column) int { return cmp.Compare(a.price, b.price) })
	for _, x := range columns {
		has := amountsOf(x.free)
		if !slices.ContainsFunc(out, func(o column) bool { return covers(amountsOf(o.free), has) }) {
			out = append(out, x)
		}
	}
	return out
}

func covers(a, b [resources]int64) bool {
	for d, v := range b {
		if a[d] < v {
			return false
		}
	}
	return true
}

// gather lists the items.
func (l *loads) gather(s *cluster.Snapshot, groups []*spreadGroup, crowds []*crowd) {
	known, of := map[string]int{}, map[*cluster.Shape]int{}
	spread := membership(len(groups), func(k int) []*cluster.Shape { return groups[k].shapes })
	apart := membership(len(crowds), func(k int) []*cluster.Shape { return crowds[k].shapes })
	for i := range s.Waiting {
		shape := s.Waiting[i].Shape
		at, found := of[shape]
		if !found {
			it := item{each: amountsOf(shape.Requests), most: 1, groups: spread[shape], crowds: apart[shape]}
			key := fmt.Sprint(it.each, it.groups, it.crowds)
			if at, found = known[key]; !found {
				at = len(l.items)
				known[key], l.items = at, append(l.items, it)
			}
			of[shape] = at
		}
		l.items[at].count++
	}
	for i := range l.items {
		if it := &l.items[i]; len(it.crowds) == 0 {
			it.most = int64(it.count)
		}
	}
}

// membership lists by shape in which of n groups it is.
func membership(n int, shapes func(int) []*cluster.Shape) map[*cluster.Shape][]int {
	out := map[*cluster.Shape][]int{}
	for k := range n {
		for _, x := range shapes(k) {
			if in := out[x]; len(in) == 0 || in[len(in)-1] != k {
				out[x] = append(in, k)
			}
		}
	}
	return out
}

// cutSmall takes the smallest pods off the items where these are too many, and
// returns what they need together.
func (l *loads) cutSmall() (sum [resources]float64) {
	var most [resources]int64
	for _, it := range l.items {
		for d, v := range it.each {
			most[d] = max(most[d], v, 1)
		}
	}
	size := func(it item) float64 {
		if len(it.groups)+len(it.crowds) > 0 {
			return 2
		}
		return max(float64(it.each[0])/float64(most[0]), float64(it.each[1])/float64(most[1]))
	}
	slices.SortStableFunc(l.items, func(a, b item) int { return cmp.Compare(size(b), size(a)) })
	keep := min(len(l.items), itemsMost)
	for keep < len(l.items) && size(l.items[keep]) == 2 {
		keep++
	}
	for _, it := range l.items[keep:] {
		for d, v := range it.each {
			sum[d] += float64(float64(it.count) * float64(v))
		}
	}
	l.items = l.items[:keep]
	return sum
}

// rowsOf adds a row for the pods of each item, a row for each resource that the
// pods need that may be cut, and for each spread rows for what comes to some zones
// together, unless others say as much. Every plan that places all pods fulfils them.
func (l *loads) rowsOf(groups []*spreadGroup, small [resources]float64) {
	all := uint(1)<<len(l.zones) - 1
	for i, it := range l.items {
		l.rows = append(l.rows, counted{float64(it.count), i, -1, -1, all})
	}
	for d := range resources - 1 {
		l.rows = append(l.rows, counted{small[d], -1, -1, d, all})
	}
	for k, g := range groups {
		must := make([]int, all+1)
		for set := uint(1); set <= all; set++ {
			must[set] = g.mustComeTo(set)
			known := 0
			for part := (set - 1) & set; part > 0; part = (part - 1) & set {
				known = max(known, must[part]+must[set&^part])
			}
			if must[set] > known {
				l.rows = append(l.rows, counted{float64(must[set]), -1, k, -1, set})
			}
		}
	}
}

// solve returns the best bound that was found, or zero where there is none above
// another one that is known.
func (l *loads) solve(known float64) float64 {
	l.start()
	best := 0.0
	for l.steps < stepsMost {
		worth, cost := l.prices()
		if cost <= float64(known*(1+closeTo)) {
			break
		}
		if l.addSome(worth) {
			continue
		}
		most, more := l.addBest(worth)
		sum := 0.0
		for i, r := range l.rows {
			sum += float64(r.demand * worth[i])
		}
		best = max(best, sum/most)
		if !more || best >= float64(cost*(1-closeTo)) {
			break
		}
	}
	return best
}

// start adds for each item in each zone the load of such pods that costs least a pod, and
// instances without a load.
func (l *loads) start() {
	for z, offered := range l.zones {
		for i := range l.items {
			best, n := -1, int64(0)
			for at, x := range offered {
				if m := l.fitting(i, amountsOf(x.free)); m > 0 && (best < 0 || x.price/float64(m) < offered[best].price/float64(n)) {
					best, n = at, m
				}
			}
			if best >= 0 {
				pods := make([]float64, len(l.items))
				pods[i] = float64(n)
				l.columns = append(l.columns, l.column(z, offered[best], pods))
			}
		}
		for _, x := range offered {
			l.columns = append(l.columns, l.column(z, x, make([]float64, len(l.items))))
		}
	}
}

// fitting returns how many pods of an item go together in so much room.
func (l *loads) fitting(i int, free [resources]int64) int64 {
	n := l.items[i].most
	for d, v := range l.items[i].each {
		if v > 0 {
			n = min(n, free[d]/v)
		}
	}
	return n
}

// column is an instance with a load, the rest of it for pods that may be cut.
func (l *loads) column(zone int, x column, pods []float64) bound.Column {
	out := bound.Column{Price: x.price, Has: make([]float64, len(l.rows))}
	for i := range l.rows {
		r := &l.rows[i]
		if r.resource >= 0 {
			out.Has[i] = float64(amountsOf(x.free)[r.resource])
		}
		for at, n := range pods {
			switch {
			case n == 0:
			case r.resource >= 0:
				out.Has[i] = max(0, out.Has[i]-float64(n*float64(l.items[at].each[r.resource])))
			case r.counts(at, &l.items[at], zone):
				out.Has[i] += n
			}
		}
	}
	return out
}

// prices solves the linear program over the loads that are known, and forgets
// those that are worth little where they are many.
func (l *loads) prices() (worth []float64, cost float64) {
	demand := make([]float64, len(l.rows))
	for i, r := range l.rows {
		demand[i] = r.demand
	}
	answer := bound.Cover(demand, l.columns)
	l.steps += int64(len(l.rows) * len(l.rows) * len(l.columns) / 4)
	if len(l.columns) > loadsMost {
		l.columns = slices.DeleteFunc(l.columns, func(c bound.Column) bool {
			value := 0.0
			for i, w := range answer.Worth {
				value += float64(w * c.Has[i])
			}
			return value < float64(nearly*c.Price)
		})
	}
	return answer.Worth, answer.Cost
}

// addSome adds loads that are worth more than their price and easily found, and
// reports whether there are any. In each zone it goes on where it stopped.
func (l *loads) addSome(worth []float64) bool {
	added := false
	for z, offered := range l.zones {
		p := l.pricing(worth, z)
		for i, n := 0, 0; i < len(offered) && n < addedMost; i++ {
			l.turn++
			x := offered[l.turn%len(offered)]
			b := p.of(amountsOf(x.free))
			if b.over <= float64(x.price*beyond) {
				continue
			}
			if b.fillAll(); b.best > float64(x.price*beyond) {
				l.columns, added, n = append(l.columns, l.column(z, x, b.load)), true, n+1
			}
		}
	}
	return added
}

// addBest adds the loads that are worth more than their price by most, and returns
// how many times its price a load may be worth, and whether there were any. Where
// it is not known what whole pods are worth at most, they may be cut.
func (l *loads) addBest(worth []float64) (most float64, more bool) {
	most = 1
	for z, offered := range l.zones {
		p := l.pricing(worth, z)
		type find struct {
			column bound.Column
			ratio  float64
		}
		var found []find
		for _, x := range offered {
			b := p.of(amountsOf(x.free))
			if b.over <= x.price {
				continue
			}
			b.fillAll()
			b.branchAll()
			most = max(most, b.over/x.price)
			switch {
			case b.best > float64(x.price*beyond):
				found = append(found, find{l.column(z, x, b.load), b.best / x.price})
			case b.over > float64(x.price*beyond):
				found = append(found, find{l.column(z, x, b.cut()), b.over / x.price})
			}
		}
		slices.SortStableFunc(found, func(a, b find) int { return cmp.Compare(b.ratio, a.ratio) })
		for _, f := range found[:min(len(found), addedMost)] {
			l.columns, more = append(l.columns, f.column), true
		}
	}
	return most, more
}
