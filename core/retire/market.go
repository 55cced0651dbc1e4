package retire

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// market is what resources cost where machines for all pods could be chosen
// anew, as far as amounts decide.
type market struct {
	dims  amount.Dims
	needs map[*cluster.Shape][]int64 // of one pod, as far as shapes were met
	worth []float64
}

// newMarket finds what the pods of the nodes would cost. Of each machine it
// takes off what daemon pods use on every node.
func newMarket(s *cluster.Snapshot, nodes []*candidate) market {
	m := market{dims: amount.Of(oneOfEach(nodes)), needs: map[*cluster.Shape][]int64{}}
	demand := make([]float64, len(m.dims.Resources))
	for _, c := range nodes {
		for _, p := range c.moving {
			add(demand, m.need(p.Shape))
		}
	}
	m.worth = bound.Cover(demand, m.columns(s, m.overhead(nodes))).Worth
	return m
}

// oneOfEach lists a pod of each shape that would have to move.
func oneOfEach(nodes []*candidate) []cluster.Pod {
	var out []cluster.Pod
	seen := map[*cluster.Shape]bool{}
	for _, c := range nodes {
		for _, p := range c.moving {
			if !seen[p.Shape] {
				seen[p.Shape] = true
				out = append(out, *p)
			}
		}
	}
	return out
}

// need is what one pod of the shape asks for; not to be written.
func (m market) need(s *cluster.Shape) []int64 {
	out, known := m.needs[s]
	if !known {
		out = m.dims.Need(s)
		m.needs[s] = out
	}
	return out
}

// worthOf is what machines for the pods cost at least in millionths of a
// dollar an hour, among very many of their kind.
func (m market) worthOf(pods ...*cluster.Pod) float64 {
	sum := 0.0
	for _, p := range pods {
		need := m.need(p.Shape)
		for j, w := range m.worth {
			sum += float64(w * float64(need[j]))
		}
	}
	return sum
}

// worthOfAll is what all that the node has for pods would be worth.
func (m market) worthOfAll(n *cluster.Node) float64 {
	return m.worthOfRoom(n.Allocatable, n.Attachable)
}

func (m market) worthOfRoom(allocatable quantity.Resources, attachable []cluster.Attachable) float64 {
	sum := 0.0
	for j, has := range m.dims.Vector(allocatable, attachable) {
		if j < len(m.worth) {
			sum += float64(m.worth[j] * float64(has))
		}
	}
	return sum
}

func add(sum []float64, need []int64) {
	for i := range sum {
		sum[i] += float64(need[i])
	}
}

// overhead is what daemon pods use of each resource on every one of the nodes.
func (m market) overhead(nodes []*candidate) []float64 {
	least := make([]float64, len(m.dims.Resources))
	for n, c := range nodes {
		used := make([]float64, len(least))
		for i := range c.Pods {
			if p := &c.Pods[i]; p.Daemon || p.Mirror {
				add(used, m.need(p.Shape))
			}
		}
		for i, u := range used {
			if n == 0 || u < least[i] {
				least[i] = u
			}
		}
	}
	return least
}

// columns lists what machines of all pools have and cost, each kind of a
// catalogue once at its lowest price.
func (m market) columns(s *cluster.Snapshot, overhead []float64) []bound.Column {
	var out []bound.Column
	for i := range s.Pools {
		pool := &s.Pools[i]
		sells := func(other cluster.Pool) bool { return other.NotReady == "" && sellAlike(pool, &other) }
		if pool.Catalogue == nil || pool.NotReady != "" || slices.ContainsFunc(s.Pools[:i], sells) {
			continue
		}
		for k := range pool.Catalogue.Kinds {
			kind := &pool.Catalogue.Kinds[k]
			price, ok := cheapest(pool, kind)
			if !ok {
				continue
			}
			column := bound.Column{Price: float64(price + pool.PerMachine()), Has: make([]float64, len(m.dims.Resources))}
			add(column.Has, m.dims.Vector(kind.Allocatable, kind.Attachable))
			for r, o := range overhead {
				column.Has[r] = max(0, column.Has[r]-o)
			}
			out = append(out, column)
		}
	}
	return undominated(out)
}

// sellAlike reports whether what two pools require leaves them the same of one
// catalogue, at the same cost.
func sellAlike(a, b *cluster.Pool) bool {
	alike := func(x, y constraint.Requirements) bool {
		return slices.EqualFunc(x, y, func(p, q constraint.Requirement) bool { return p.Key == q.Key && p.Set.Equal(q.Set) })
	}
	return a.Catalogue == b.Catalogue && a.PerMachine() == b.PerMachine() && alike(a.Requirements, b.Requirements) && alike(a.Floor.Size, b.Floor.Size) && a.Floor.Room == b.Floor.Room
}

// cheapest is the lowest price at which the pool can buy the kind now. What is reserved
// is paid for already, and had so few times that it is worth nothing to most pods.
func cheapest(pool *cluster.Pool, kind *cluster.Kind) (price quantity.MicroUSDPerHour, ok bool) {
	if !allows(pool.Requirements, kind.Labels) || !allows(pool.Floor.Size, kind.Labels) {
		return 0, false
	}
	for i := range kind.Offers {
		o := &kind.Offers[i]
		if o.Priced && o.Available && o.Option != cluster.Reserved && (!ok || o.Price < price) && allows(pool.Requirements, o.Labels) && o.Asked(pool.Requirements) {
			price, ok = o.Price, true
		}
	}
	return price, ok
}

func allows(r constraint.Requirements, labels constraint.Labels) bool {
	return !slices.ContainsFunc(labels, func(l constraint.Label) bool { return !r.Get(l.Key).Allows(l.Value) })
}

// undominated leaves out what has no more than something that is no dearer.
func undominated(columns []bound.Column) []bound.Column {
	slices.SortStableFunc(columns, func(a, b bound.Column) int {
		switch {
		case a.Price < b.Price:
			return -1
		case a.Price > b.Price:
			return 1
		}
		return slices.Compare(b.Has, a.Has)
	})
	var out []bound.Column
	for _, c := range columns {
		if !slices.ContainsFunc(out, func(o bound.Column) bool { return atLeast(o.Has, c.Has) }) {
			out = append(out, c)
		}
	}
	return out
}

func atLeast(a, b []float64) bool {
	for i := range a {
		if a[i] < b[i] {
			return false
		}
	}
	return true
}
