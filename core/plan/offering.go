package plan

import "github.com/daemok/daemok/core/cluster"

// Offering finds what the launch is launched as if its choice is had: of the instance type's
// offerings in the zone by that capacity type, the first that the launch's requirements allow, such
// as that of its reservation; one that its commitment covers, where the catalogue says what is covered. It is nil where
// the catalogue has none.
func (l *Launch) Offering(c *cluster.Catalogue) (plain *cluster.Offering) {
	instanceType := c.InstanceType(l.Choice.Kind)
	if instanceType == nil {
		return nil
	}
	for i := range instanceType.Offerings {
		o := &instanceType.Offerings[i]
		if o.Zone == l.Choice.Zone && o.Option == l.Choice.Option && o.Asked(l.Requirements) && l.allows(o) {
			if o.Cover.By == l.Choice.Cover.By {
				return o
			}
			if plain == nil && !o.Covered() {
				plain = o
			}
		}
	}
	return plain
}

func (l *Launch) allows(o *cluster.Offering) bool {
	for _, label := range o.Labels {
		if !l.Requirements.Get(label.Key).Allows(label.Value) {
			return false
		}
	}
	return true
}

// MayBecome reports whether an offering is one that the launch counts on: of its capacity type and, where a commitment
// pays for it, of those that the commitment pays for.
func (l *Launch) MayBecome(o *cluster.Offering) bool {
	return o.Option == l.Choice.Option && o.Cover.By == l.Choice.Cover.By
}
