package promise

import (
	"fmt"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// bill is the instances that are paid for, by name, and what those on spot cost in all.
type bill struct {
	onDemand map[string]commitment.Usage
	spot     map[string]quantity.MicroUSDPerHour
}

// beside is what they cost beside what is committed in any event.
func (b *bill) beside(s *cluster.Snapshot) quantity.MicroUSDPerHour {
	sum := commitment.Divide(s.Commitments, b.usages()).Cost
	for _, price := range b.spot {
		sum += price
	}
	return sum
}

func (b *bill) usages() []commitment.Usage { return slices.Collect(maps.Values(b.onDemand)) }

func (b *bill) add(name, instanceType, zone string, option cluster.Option, price quantity.MicroUSDPerHour) {
	if option == cluster.Spot {
		b.spot[name] = price
		return
	}
	b.onDemand[name] = commitment.Usage{Name: name, InstanceType: instanceType, Zone: zone, OnDemand: price}
}

func (b *bill) launch(list []plan.Launch) {
	for i := range list {
		c := &list[i].Choice
		b.add("launch/"+list[i].Name, c.Kind, c.Zone, c.Option, c.ListPrice())
	}
}

// billOf is the bill once the plan's launches for pods have come, of instances that stay. One that is being launched
// counts as the cheapest that it may become.
func billOf(s *cluster.Snapshot, p *plan.Plan) *bill {
	b := &bill{map[string]commitment.Usage{}, map[string]quantity.MicroUSDPerHour{}}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Deleting {
			instanceType, _ := n.Labels.Get(cluster.LabelInstanceType)
			zone, _ := n.Labels.Get(cluster.LabelZone)
			b.add(n.Name, instanceType, zone, cluster.OptionOf(n.Labels), n.Price)
		}
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		pool, found := s.Pool(m.Pool)
		if !found || m.Deleting {
			continue
		}
		if t, o := pool.Cheapest(m); o != nil {
			b.add("claim/"+m.Claim, t.Name, o.Zone, o.Option, o.Price)
		}
	}
	for _, w := range p.Withdrawals {
		delete(b.onDemand, "claim/"+w.Claim)
		delete(b.spot, "claim/"+w.Claim)
	}
	b.launch(p.Launches)
	return b
}

// Pays says which consolidation of a plan does not lower what is paid beside commitments. Nodes of pools that plan
// without commitments are left out, for which these count at their prices.
func Pays(s *cluster.Snapshot, p *plan.Plan) string {
	if !s.Commitments.Any() {
		return ""
	}
	b := billOf(s, p)
	before := b.beside(s)
	for i := range p.Moves {
		m, byPrice := &p.Moves[i], false
		for _, r := range m.Removals {
			pool, found := s.Pool(r.Pool)
			byPrice = byPrice || !found || pool.Uncommitted
			delete(b.onDemand, r.Node)
			delete(b.spot, r.Node)
		}
		b.launch(m.Launches)
		after := b.beside(s)
		if m.Removals[0].Reason == plan.Underutilized && !byPrice && after >= before {
			return fmt.Sprintf("%s is consolidated, and beside commitments %s is paid instead of %s",
				m.Removals[0].Node, after, before)
		}
		before = after
	}
	return ""
}

// Unused says which launch of a plan is paid for though a commitment has room for an instance in its place. Only
// launches are looked at whose pods run on any node with room, of pools without limits.
func Unused(s *cluster.Snapshot, p *plan.Plan) string {
	if !s.Commitments.Any() || len(s.Quotas) > 0 {
		return ""
	}
	rooms := commitment.Rooms(&s.Commitments, billOf(s, p).usages())
	for i := range p.Launches {
		l := &p.Launches[i]
		pool, found := s.Pool(l.Pool)
		if !found || pool.Uncommitted || l.Choice.Cover.By != "" || len(l.Pods) == 0 || !freeOfRules(l, pool) {
			continue
		}
		for k := range pool.Catalogue.InstanceTypes {
			t := &pool.Catalogue.InstanceTypes[k]
			if !l.Requests.FitsIn(t.Allocatable) {
				continue
			}
			if by := paysFor(rooms, pool, t); by != "" {
				return fmt.Sprintf("%s is %s, %s, and %s would pay for %s",
					l.Name, l.Choice.Kind, l.Choice.Option, by, t.Name)
			}
		}
	}
	return ""
}

// freeOfRules reports whether nothing but their requests says where the pods of the launch run.
func freeOfRules(l *plan.Launch, pool *cluster.Pool) bool {
	if len(pool.Limits.List()) > 0 || pool.OnDemand.Any() || len(l.Virtual) > 0 || l.Static || len(l.Overlays) > 0 {
		return false
	}
	return !slices.ContainsFunc(l.Pods, func(p cluster.Pod) bool {
		return len(p.Shape.Spread)+len(p.Shape.Neighbours)+len(p.Shape.NodeTerms) > 0 || p.Shape.OnDemand.Any()
	})
}

// paysFor names a commitment that has room for a whole instance of the type, on demand, which the pool may launch now.
func paysFor(rooms []commitment.Room, pool *cluster.Pool, t *cluster.InstanceType) string {
	options := pool.Requirements.Get(cluster.LabelCapacityType)
	for i := range t.Offerings {
		o := &t.Offerings[i]
		may := o.Option == cluster.OnDemand && o.Available && o.Priced && options.Allows(string(o.Option))
		if !may || !pool.Requirements.Get(cluster.LabelZone).Allows(o.Zone) {
			continue
		}
		for j := range rooms {
			r := &rooms[j]
			units, covers := r.Takes(commitment.Usage{InstanceType: t.Name, Zone: o.Zone, OnDemand: o.Price})
			if covers && r.Left >= units && !(r.ForAll() && !options.Allows(string(cluster.Spot))) {
				return r.ID
			}
		}
	}
	return ""
}
