package cost

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Billed is what a node of the snapshot costs an hour as AWS bills it, with all that its pool pays for each instance;
// all screens and reports show that. NodeOverlays change it: their users know what AWS does not, such as a discount. A
// node in a capacity reservation costs what its type does on demand, though plans count it as nearly free; overlays
// change that where they match the reserved offering. Without a pool, nil, it is the price of the node. It is 0 where
// it is not known.
func Billed(s *cluster.Snapshot, n *cluster.Node, pool *cluster.Pool) quantity.MicroUSDPerHour {
	switch reserved := Reserved(n.Labels); {
	case pool == nil && reserved:
		return 0
	case pool == nil:
		return n.Price
	case !reserved:
		return pool.CostOf(n)
	}
	price, known := asReserved(s, n.Labels, pool, list(n.Labels, listed(pool)))
	if !known {
		return 0
	}
	return price + pool.PerInstance()
}

// BilledInstance is Billed of an instance that is no node yet: the least that it may become, where it is not launched.
// It is 0 where that is not known, and without a pool.
func BilledInstance(s *cluster.Snapshot, m *cluster.Instance, pool *cluster.Pool) quantity.MicroUSDPerHour {
	if pool == nil {
		return 0
	}
	price, known := pool.PriceOf(m)
	if isReserved(m) {
		bill := list(m.Labels, listed(pool))
		if bill == 0 {
			asked := *m
			asked.Labels = m.Labels.With(cluster.LabelCapacityType, string(cluster.OnDemand))
			bill, _ = listed(pool).PriceOf(&asked)
		}
		price, known = asReserved(s, m.Labels, pool, bill)
	}
	if !known {
		return 0
	}
	return price + pool.PerInstance()
}

// listed is the pool as if it launched from what its class offers without overlays.
func listed(p *cluster.Pool) *cluster.Pool {
	out := *p
	out.Catalogue = p.Catalogue.Listed()
	return &out
}

// asReserved is what overlays make of the bill of what has these labels, in a capacity reservation; 0: it is not known.
func asReserved(s *cluster.Snapshot, of constraint.Labels, pool *cluster.Pool,
	bill quantity.MicroUSDPerHour) (price quantity.MicroUSDPerHour, known bool) {
	in := of.With(cluster.LabelCapacityType, string(cluster.Reserved))
	if by := overlay.PriceBy(s, in, pool.Labels); by != nil {
		return by.Price.Of(&cluster.Offering{Price: bill, Priced: bill > 0})
	}
	return bill, bill > 0
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
				sum += max(0, Billed(s, n, pool)-pool.CostOf(n))
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
				sum += max(0, BilledInstance(s, m, pool)-price)
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
