package plan

import "github.com/daemok/daemok/core/cluster"

// Offer finds what the launch is bought as if its choice is had: of the kind's offers in
// the zone by that way to pay, the first that the launch's requirements allow, such as
// that of its reservation. It is nil where the catalogue has none.
func (l *Launch) Offer(c *cluster.Catalogue) *cluster.Offer {
	kind := c.Kind(l.Choice.Kind)
	if kind == nil {
		return nil
	}
	for i := range kind.Offers {
		o := &kind.Offers[i]
		if o.Zone == l.Choice.Zone && o.Option == l.Choice.Option && o.Asked(l.Requirements) && l.allows(o) {
			return o
		}
	}
	return nil
}

func (l *Launch) allows(o *cluster.Offer) bool {
	for _, label := range o.Labels {
		if !l.Requirements.Get(label.Key).Allows(label.Value) {
			return false
		}
	}
	return true
}
