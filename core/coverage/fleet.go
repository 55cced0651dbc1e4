package coverage

import (
	"maps"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Fleet is the instances of a snapshot that use commitments, and the places of capacity reservations, which AWS bills on
// demand whether an instance is there or not. Nil is that of a cluster without commitments.
type Fleet struct {
	of      *commitment.Commitments
	members map[string]member
	counts  counts
}

// counts is how many instances of each kind use commitments. A kind is a usage without name and number.
type counts map[commitment.Usage]int64

func (c counts) usages() []commitment.Usage {
	out := make([]commitment.Usage, 0, len(c))
	for kind, n := range c {
		if kind.Count = n; n > 0 {
			out = append(out, kind)
		}
	}
	return out
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

func (m *member) kind() commitment.Usage {
	kind := m.Usage
	kind.Name, kind.Count = "", 0
	return kind
}

// FleetOf is the fleet of the snapshot's nodes and of its instances being launched, which count as the cheapest that they
// may become, but for those that are leaving.
func FleetOf(s *cluster.Snapshot) *Fleet {
	if !s.Commitments.Any() {
		return nil
	}
	of := s.Commitments
	of.Others = slices.Clone(of.Others)
	commitment.Sort(of.Others) // once, and not whenever they are divided
	f := &Fleet{of: &of, members: map[string]member{}, counts: counts{}}
	for _, m := range membersOf(s) {
		if !m.leaves {
			f.add(m)
		}
	}
	return f
}

func (f *Fleet) add(m member) {
	f.members[m.Name] = m
	f.counts[m.kind()] += max(1, m.Count)
}

// Rooms lists what is left of each commitment.
func (f *Fleet) Rooms() []commitment.Room {
	if f == nil {
		return nil
	}
	return commitment.Rooms(f.of, f.counts.usages())
}

// Unused lists the commitments that are not used up, in instances and dollars.
func (f *Fleet) Unused() []commitment.Unused {
	if f == nil {
		return nil
	}
	return commitment.Divide(*f.of, f.counts.usages()).Unused
}

// Left is what is left of each commitment for further instances once the named nodes are gone.
func (f *Fleet) Left(without ...string) (out []cluster.ReservedCapacity) {
	if f == nil {
		return nil
	}
	for _, room := range commitment.Rooms(f.of, f.after(Change{Nodes: without}).usages()) {
		out = append(out, cluster.ReservedCapacity{Name: counter(room.ID), Left: room.Left})
	}
	return out
}

// Change is nodes and claims that go, by name, and launches.
type Change struct {
	Nodes, Claims []string
	Launches      []plan.Launch
}

// Carry makes a change true.
func (f *Fleet) Carry(c Change) {
	if f == nil {
		return
	}
	for _, name := range c.names() {
		if m, known := f.members[name]; known && !m.stays {
			delete(f.members, name)
			f.counts[m.kind()]--
		}
	}
	for _, m := range c.members() {
		f.add(m)
	}
}

// after is how many use commitments after a change.
func (f *Fleet) after(c Change) counts {
	out := maps.Clone(f.counts)
	for _, name := range c.names() {
		if m, known := f.members[name]; known && !m.stays {
			out[m.kind()]--
		}
	}
	for _, m := range c.members() {
		out[m.kind()]++
	}
	return out
}

// names are the members that go.
func (c *Change) names() []string {
	out := make([]string, 0, len(c.Nodes)+len(c.Claims))
	for _, name := range c.Nodes {
		out = append(out, nodeName(name))
	}
	for _, name := range c.Claims {
		out = append(out, claimName(name))
	}
	return out
}

// members are those that come.
func (c *Change) members() (out []member) {
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

// membersOf lists those of a snapshot. What has no known type, or no known price, is left out.
func membersOf(s *cluster.Snapshot) (out []member) {
	add := func(m member, name string, leaves bool) {
		if m.Name, m.leaves = name, leaves; m.InstanceType != "" && m.OnDemand > 0 {
			out = append(out, m)
		}
	}
	listed := &priceList{pools: s.Pools, known: map[[2]string]quantity.MicroUSDPerHour{}}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; mayUse(n.Labels) && cluster.OptionOf(n.Labels) != cluster.Spot {
			add(listed.member(n.Labels, n.Price), nodeName(n.Name), n.Deleting)
		}
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
		if o.Option == cluster.Reserved && !x.Launched && !x.Launching {
			continue // its place is among those that are unused
		}
		labels := t.Labels.Merge(o.Labels).With(cluster.LabelInstanceType, t.Name)
		add(listed.member(labels, o.Price), claimName(x.Claim), x.Deleting)
	}
	return append(out, unusedOf(s, listed)...)
}

// unusedOf lists the unused places of capacity reservations: AWS bills them as instances on demand, and commitments pay
// for them as for those.
func unusedOf(s *cluster.Snapshot, listed *priceList) (out []member) {
	seen, known := map[string]bool{}, map[*cluster.Catalogue]bool{nil: true}
	for i := range s.Pools {
		c := s.Pools[i].Catalogue
		if known[c] {
			continue
		}
		known[c] = true
		for k := range c.InstanceTypes {
			t := &c.InstanceTypes[k]
			for j := range t.Offerings {
				o := &t.Offerings[j]
				id := o.Reservation()
				left := o.LeftOf(id)
				if id == "" || seen[id] || left <= 0 || !mayUse(t.Labels) || !mayUse(o.Labels) {
					continue
				}
				seen[id] = true
				u := commitment.Usage{Name: "unused " + id, InstanceType: t.Name, Zone: o.Zone, Count: left}
				if u.OnDemand = listed.of(t.Name, o.Zone); u.OnDemand > 0 {
					out = append(out, member{Usage: u, stays: true})
				}
			}
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
