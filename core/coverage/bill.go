package coverage

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
)

// Bill is what commitments pay for a fleet. Nil is that of a cluster without commitments: they pay nothing.
type Bill struct {
	fleet *Fleet
	pays  quantity.MicroUSDPerHour                      // for all of it, and for others of the account
	alone map[commitment.Usage]quantity.MicroUSDPerHour // see Covered; by kind
}

// BillOf is the bill of the snapshot's fleet.
func BillOf(s *cluster.Snapshot) *Bill {
	f := FleetOf(s)
	if f == nil {
		return nil
	}
	b := &Bill{fleet: f}
	b.pays = b.sum(f.counts)
	return b
}

// PaidFor is what commitments pay of what a snapshot's nodes and instances being launched cost: what they pay in all,
// less what they would pay for the rest alone, such as nodes of no pool, so that it changes as the bill does. Unlike
// for a Bill those count that are leaving.
func PaidFor(s *cluster.Snapshot) quantity.MicroUSDPerHour { return PaidAfter(s, Change{}) }

// PaidAfter is PaidFor once a change is made.
func PaidAfter(s *cluster.Snapshot, c Change) quantity.MicroUSDPerHour {
	if !s.Commitments.Any() {
		return 0
	}
	gone := map[string]bool{}
	for _, name := range c.names() {
		gone[name] = true
	}
	var all, rest []commitment.Usage
	for _, m := range append(membersOf(s), c.members()...) {
		if gone[m.Name] && !m.stays {
			continue
		}
		if all = append(all, m.Usage); !m.counts {
			rest = append(rest, m.Usage)
		}
	}
	return paid(&s.Commitments, all) - paid(&s.Commitments, rest)
}

// Pays is how much more commitments pay after a change; negative: less.
func (b *Bill) Pays(c Change) quantity.MicroUSDPerHour {
	if b == nil {
		return 0
	}
	return b.sum(b.fleet.after(c)) - b.pays
}

// Covered is what commitments pay for the node in the end: what its price does not save once it is gone, since others
// do not take over what it used.
func (b *Bill) Covered(node string) quantity.MicroUSDPerHour {
	if b == nil {
		return 0
	}
	m, known := b.fleet.members[nodeName(node)]
	if !known {
		return 0
	}
	covered, known := b.alone[m.kind()]
	if !known {
		if b.alone == nil {
			b.alone = map[commitment.Usage]quantity.MicroUSDPerHour{}
		}
		covered = -b.Pays(Change{Nodes: []string{node}})
		b.alone[m.kind()] = covered
	}
	return covered
}

// Carry makes a change true.
func (b *Bill) Carry(c Change) {
	if b == nil {
		return
	}
	b.fleet.Carry(c)
	b.alone, b.pays = nil, b.sum(b.fleet.counts)
}

func (b *Bill) sum(c counts) quantity.MicroUSDPerHour { return paid(b.fleet.of, c.usages()) }

// paid is what commitments pay for these and for what others have of the account, which take over what these leave.
func paid(of *commitment.Commitments, all []commitment.Usage) (sum quantity.MicroUSDPerHour) {
	for i := range all {
		sum += all[i].Whole()
	}
	for i := range of.Others {
		sum += of.Others[i].Whole()
	}
	bill := commitment.Divide(*of, all)
	return sum - bill.Cost - bill.Others
}
