package shadow

import "github.com/daemok/daemok/core/cluster"

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
			here[c] = c.WithMore(more)
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
