package cost

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Billed is what a node costs an hour as AWS bills it, with all that its pool pays for each instance; all screens and
// reports show that. A NodeOverlay's price takes the place of AWS's: its user knows what AWS does not, such as a
// discount. A node in a capacity reservation costs what its type does on demand, though plans count it as nearly
// free, unless an overlay sets its price. Without a pool, nil, it is the price of the node. It is 0 where it is not
// known.
func Billed(n *cluster.Node, pool *cluster.Pool) quantity.MicroUSDPerHour {
	switch {
	case Reserved(n.Labels) && !overlay.Priced(pool, n.Labels):
		price := list(n.Labels, pool)
		if price == 0 {
			return 0
		}
		return price + pool.PerInstance()
	case pool == nil:
		return n.Price
	}
	return pool.CostOf(n)
}

// BilledInstance is Billed of an instance that is no node yet: the least that it may become, where it is not launched.
// It is 0 where that is not known, and without a pool.
func BilledInstance(m *cluster.Instance, pool *cluster.Pool) quantity.MicroUSDPerHour {
	if pool == nil {
		return 0
	}
	price, known := pool.PriceOf(m)
	if isReserved(m) && !overlay.Priced(pool, m.Labels) {
		if price = list(m.Labels, pool); price == 0 {
			asked := *m
			asked.Labels = m.Labels.With(cluster.LabelCapacityType, string(cluster.OnDemand))
			price, _ = pool.PriceOf(&asked)
		}
		known = price > 0
	}
	if !known {
		return 0
	}
	return price + pool.PerInstance()
}

// isReserved reports whether an instance is in a capacity reservation, or can be launched into one alone.
func isReserved(m *cluster.Instance) bool {
	if _, launched := m.Labels.Get(cluster.LabelCapacityType); launched {
		return Reserved(m.Labels)
	}
	may := m.Requirements.Get(cluster.LabelCapacityType)
	return may.Allows(string(cluster.Reserved)) && !may.Allows(string(cluster.OnDemand)) &&
		!may.Allows(string(cluster.Spot))
}

// Reserved reports whether a node or instance with these labels is in a capacity reservation. Plans count it as if
// it cost almost nothing, since it is paid for whether it runs or not; what a cluster costs does not.
func Reserved(l constraint.Labels) bool {
	option, _ := l.Get(cluster.LabelCapacityType)
	return option == string(cluster.Reserved)
}

// list is what the type of a node costs on demand, by the catalogue of its pool: the first of the offerings that differ
// least from the node in zone, tenancy and what else labels say. It is 0 where that is not known.
func list(of constraint.Labels, pool *cluster.Pool) (price quantity.MicroUSDPerHour) {
	if pool == nil {
		return 0
	}
	name, _ := of.Get(cluster.LabelInstanceType)
	kind := pool.Catalogue.InstanceType(name)
	if kind == nil {
		return 0
	}
	least := 0
	for i := range kind.Offerings {
		o := &kind.Offerings[i]
		if o.Option != cluster.OnDemand || !o.Priced {
			continue
		}
		different := 0
		for _, l := range o.Labels {
			if value, _ := of.Get(l.Key); value != l.Value {
				different++
			}
		}
		if price == 0 || different < least {
			price, least = o.Price, different
		}
	}
	return price
}

// Reservations is what capacity reservations cost that nodes and instances of the snapshot are in, beside what plans
// count of them.
func Reservations(s *cluster.Snapshot) (sum quantity.MicroUSDPerHour) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; Reserved(n.Labels) {
			if pool, has := s.Pool(n.Pool); has {
				sum += max(0, Billed(n, pool)-pool.CostOf(n))
			}
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; isReserved(m) {
			if pool, has := s.Pool(m.Pool); has {
				price, known := pool.PriceOf(m)
				if known {
					price += pool.PerInstance()
				}
				sum += max(0, BilledInstance(m, pool)-price)
			}
		}
	}
	return sum
}

// AsBilled is the plan for a snapshot with what the cluster costs before and after it as AWS bills that. Capacity
// reservations that are in use are in both: they are billed with nodes in them or without, so the plan saves what it
// did.
func AsBilled(s *cluster.Snapshot, p plan.Plan) plan.Plan {
	reserved := Reservations(s)
	p.CostBefore, p.CostAfter = p.CostBefore+reserved, p.CostAfter+reserved
	return p
}
