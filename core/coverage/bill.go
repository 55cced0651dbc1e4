package coverage

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Bill is what commitments pay for instances of a cluster that are not leaving. Nil is that of a cluster without
// commitments: they pay nothing.
type Bill struct {
	of    *commitment.Commitments
	list  []member
	pays  quantity.MicroUSDPerHour                      // for all of them
	alone map[commitment.Usage]quantity.MicroUSDPerHour // see Covered; by usage without its name
}

// BillOf is the bill of the snapshot's nodes and of its instances being launched, at what is cheapest of what these may
// become.
func BillOf(s *cluster.Snapshot) *Bill {
	if !s.Commitments.Any() {
		return nil
	}
	b := &Bill{of: &s.Commitments}
	for _, m := range fleetOf(s).list {
		if !m.leaves {
			b.list = append(b.list, m)
		}
	}
	b.pays = b.sum(b.list)
	return b
}

// PaidFor is what commitments pay of what a snapshot's nodes and instances being launched cost.
func PaidFor(s *cluster.Snapshot) (sum quantity.MicroUSDPerHour) {
	if !s.Commitments.Any() {
		return 0
	}
	counted, all := map[string]bool{}, []commitment.Usage(nil)
	for _, m := range fleetOf(s).list {
		counted[m.Name] = m.counts
		all = append(all, m.Usage)
	}
	for name, paid := range commitment.Paid(&s.Commitments, all) {
		if counted[name] {
			sum += paid
		}
	}
	return sum
}

// Change is nodes and claims that go, by name, and launches.
type Change struct {
	Nodes, Claims []string
	Launches      []plan.Launch
}

// Pays is how much more commitments pay after a change; negative: less.
func (b *Bill) Pays(c Change) quantity.MicroUSDPerHour {
	if b == nil {
		return 0
	}
	return b.sum(b.after(c)) - b.pays
}

// Covered is what commitments pay for the node in the end: what its price does not save once it is gone, since others
// do not take over what it used.
func (b *Bill) Covered(node string) quantity.MicroUSDPerHour {
	if b == nil {
		return 0
	}
	at := slices.IndexFunc(b.list, func(m member) bool { return m.Name == nodeName(node) })
	if at < 0 {
		return 0
	}
	kind := b.list[at].Usage
	kind.Name = ""
	covered, known := b.alone[kind]
	if !known {
		if b.alone == nil {
			b.alone = map[commitment.Usage]quantity.MicroUSDPerHour{}
		}
		covered = -b.Pays(Change{Nodes: []string{node}})
		b.alone[kind] = covered
	}
	return covered
}

// Carry makes a change true.
func (b *Bill) Carry(c Change) {
	if b == nil {
		return
	}
	b.list, b.alone = b.after(c), nil
	b.pays = b.sum(b.list)
}

// after is who uses commitments after a change.
func (b *Bill) after(c Change) []member {
	out := make([]member, 0, len(b.list)+len(c.Launches))
	for _, m := range b.list {
		node := slices.ContainsFunc(c.Nodes, func(name string) bool { return nodeName(name) == m.Name })
		claim := slices.ContainsFunc(c.Claims, func(name string) bool { return claimName(name) == m.Name })
		if m.stays || !node && !claim {
			out = append(out, m)
		}
	}
	for i := range c.Launches {
		choice := &c.Launches[i].Choice
		linux := c.Launches[i].Requirements.Get(labelOS).Allows("linux")
		if choice.Option != cluster.OnDemand || !choice.Priced || !linux {
			continue
		}
		u := commitment.Usage{Name: claimName(c.Launches[i].Name), InstanceType: choice.Kind, Zone: choice.Zone}
		u.OnDemand = choice.ListPrice()
		out = append(out, member{Usage: u, counts: true})
	}
	return out
}

func (b *Bill) sum(list []member) (sum quantity.MicroUSDPerHour) {
	all := make([]commitment.Usage, len(list))
	for i := range list {
		all[i] = list[i].Usage
		sum += all[i].OnDemand
	}
	return sum - commitment.Divide(*b.of, all).Cost
}
