package shadow

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// putReserved has offerings show what would be left here of capacity reservations and of the room of placement groups:
// what AWS reports, which counts the actual cluster's instances, with these put back and those here taken.
func (w *World) putReserved(actual, out *cluster.Snapshot) {
	more := map[string]int64{}
	for i := range actual.Nodes {
		if n := &actual.Nodes[i]; isOurs(actual, n) && n.Claim != n.Name { // a node group's draws on nothing of a pool's
			draw(actual, n, more, 1)
		}
	}
	for _, n := range w.nodes {
		if n.launched || n.Claim != n.Name {
			draw(out, &n.Node, more, -1)
		}
	}
	here := map[*cluster.Catalogue]*cluster.Catalogue{}
	for i := range out.Pools {
		c := out.Pools[i].Catalogue
		if c == nil {
			continue
		}
		if here[c] == nil {
			here[c] = withMore(c, more)
		}
		out.Pools[i].Catalogue = here[c]
	}
}

// draw adds by to each that a node of a pool is taken from.
func draw(s *cluster.Snapshot, n *cluster.Node, sums map[string]int64, by int64) {
	if o := offeringOf(s, n); o != nil {
		for _, r := range o.ReservedCapacities {
			sums[r.Name] += by
		}
	}
}

// offeringOf is the offering that a node is of, by the catalogue of its pool; nil: it is not offered.
func offeringOf(s *cluster.Snapshot, n *cluster.Node) *cluster.Offering {
	p, ok := s.Pool(n.Pool)
	if !ok {
		return nil
	}
	name, _ := n.Labels.Get(cluster.LabelInstanceType)
	instanceType := p.Catalogue.InstanceType(name)
	if instanceType == nil {
		return nil
	}
	return instanceType.Offering(n.Labels.Map())
}

// withMore is the catalogue with so many more instances left by name; the same one where none of it changes.
func withMore(c *cluster.Catalogue, more map[string]int64) *cluster.Catalogue {
	changed := func(o cluster.Offering) bool {
		return slices.ContainsFunc(o.ReservedCapacities, func(r cluster.ReservedCapacity) bool { return more[r.Name] != 0 })
	}
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk}
	for k := range c.InstanceTypes {
		if !slices.ContainsFunc(c.InstanceTypes[k].Offerings, changed) {
			continue
		}
		if out.InstanceTypes == nil {
			out.InstanceTypes = slices.Clone(c.InstanceTypes)
		}
		offerings := slices.Clone(c.InstanceTypes[k].Offerings)
		for i := range offerings {
			if changed(offerings[i]) {
				leave(&offerings[i], more)
			}
		}
		out.InstanceTypes[k].Offerings = offerings
	}
	if out.InstanceTypes == nil {
		return c
	}
	return out
}

// leave has an offering with so many more left. One that is unavailable for no other reason than that none is left of
// its capacity reservation becomes available; others stay unavailable.
func leave(o *cluster.Offering, more map[string]int64) {
	usedUp := o.Option == cluster.Reserved && o.Why == "" && o.LeftOf(o.Reservation()) == 0
	o.ReservedCapacities = slices.Clone(o.ReservedCapacities)
	any := true
	for i := range o.ReservedCapacities {
		r := &o.ReservedCapacities[i]
		r.Left = max(0, r.Left+more[r.Name])
		any = any && r.Left > 0
	}
	o.Available = any && (o.Available || usedUp)
}
