package coverage

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// fleet is the instances of a snapshot that use commitments, those in capacity reservations included, which AWS bills
// on demand.
type fleet struct {
	list []member
}

// member is one of them.
type member struct {
	commitment.Usage
	leaves bool // it is going already
	stays  bool // it is billed in any event: it is in a capacity reservation
	counts bool // its price is part of what the snapshot costs
}

// Names of members: a node and a claim may have the same name.
func nodeName(name string) string  { return "node " + name }
func claimName(name string) string { return "claim " + name }

func fleetOf(s *cluster.Snapshot) *fleet {
	f := &fleet{}
	listed := &priceList{pools: s.Pools, known: map[[2]string]quantity.MicroUSDPerHour{}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !mayUse(n.Labels) || isSpot(n.Labels) {
			continue
		}
		m := listed.member(n.Labels, n.Price)
		m.Name, m.leaves = nodeName(n.Name), n.Deleting
		f.add(m)
	}
	for i := range s.Instances {
		x := &s.Instances[i]
		pool, known := s.Pool(x.Pool)
		if !known {
			continue
		}
		t, o := pool.Cheapest(x)
		if o == nil || o.Option == cluster.Spot || !mayUse(t.Labels) || !mayUse(o.Labels) {
			continue
		}
		m := listed.member(t.Labels.Merge(o.Labels).With(cluster.LabelInstanceType, t.Name), o.Price)
		m.Name, m.leaves = claimName(x.Claim), x.Deleting
		f.add(m)
	}
	return f
}

// add leaves out what has no known type, or no known price.
func (f *fleet) add(m member) {
	if m.InstanceType != "" && m.OnDemand > 0 {
		f.list = append(f.list, m)
	}
}

// staying is what uses commitments once those that leave are gone, and the named nodes.
func (f *fleet) staying(without []string) (out []commitment.Usage) {
	for i := range f.list {
		m := &f.list[i]
		gone := func(node string) bool { return nodeName(node) == m.Name }
		if !m.leaves && (m.stays || !slices.ContainsFunc(without, gone)) {
			out = append(out, m.Usage)
		}
	}
	return out
}

// priceList is the prices on demand of pools.
type priceList struct {
	pools []cluster.Pool
	known map[[2]string]quantity.MicroUSDPerHour
}

// member is an instance with these labels that costs so much by what the snapshot says; 0: that is not known.
func (l *priceList) member(labels constraint.Labels, price quantity.MicroUSDPerHour) (m member) {
	m.InstanceType, _ = labels.Get(cluster.LabelInstanceType)
	m.Zone, _ = labels.Get(cluster.LabelZone)
	option, _ := labels.Get(cluster.LabelCapacityType)
	m.stays = option == string(cluster.Reserved)
	m.OnDemand, m.counts = price, price > 0 && !m.stays
	if !m.counts {
		m.OnDemand = l.of(m.InstanceType, m.Zone)
	}
	return m
}

// of is the lowest price on demand of the type in the zone; 0: none is known.
func (l *priceList) of(instanceType, zone string) quantity.MicroUSDPerHour {
	key := [2]string{instanceType, zone}
	price, known := l.known[key]
	for i := 0; !known && price == 0 && i < len(l.pools); i++ {
		t := l.pools[i].Catalogue.InstanceType(instanceType)
		for j := 0; t != nil && j < len(t.Offerings); j++ {
			if u, may := usageOf(t, &t.Offerings[j]); may && u.Zone == zone && (price == 0 || u.OnDemand < price) {
				price = u.OnDemand
			}
		}
	}
	l.known[key] = price
	return price
}
