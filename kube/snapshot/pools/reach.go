package pools

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/translate"
)

// Offers says which nodes pools offer.
type Offers struct{ Of *Table }

// MayLaunch reports whether some pool offers instances that meet one of these alternatives; none at all means any
// instance. It asks neither for room within limits nor whether an offering is available now.
func (o Offers) MayLaunch(terms []constraint.Requirements) bool {
	t := o.Of
	for id, p := range t.pools {
		if requirements, err := translate.PoolRequirements(p); err == nil &&
			offers(t.Overlaid(id, t.Offered(p.Class)), translate.PoolLabels(p), requirements, terms) {
			return true
		}
	}
	return slices.ContainsFunc(t.recalled, func(p cluster.Pool) bool {
		return !t.isSeen(p.ID) && offers(p.Catalogue, p.Labels, p.Requirements, terms)
	})
}

func offers(c *cluster.Catalogue, labels constraint.Labels, of constraint.Requirements,
	terms []constraint.Requirements) bool {
	if c == nil {
		return false
	}
	for i := range c.InstanceTypes {
		k := &c.InstanceTypes[i]
		for j := range k.Offerings {
			has := labels.Merge(k.Labels).Merge(k.Offerings[j].Labels)
			meets := func(term constraint.Requirements) bool { return canMeet(has, of, term) }
			if canMeet(has, nil, present(of, has)) && (len(terms) == 0 || slices.ContainsFunc(terms, meets)) {
				return true
			}
		}
	}
	return false
}

// present is those of the requirements whose labels are there.
func present(rs constraint.Requirements, labels constraint.Labels) (out constraint.Requirements) {
	for _, r := range rs {
		if _, has := labels.Get(r.Key); has {
			out = append(out, r)
		}
	}
	return out
}

// canMeet reports whether nodes meet a term that have these labels, and others as their pool requires.
func canMeet(labels constraint.Labels, of, term constraint.Requirements) bool {
	for _, r := range term {
		value, has := labels.Get(r.Key)
		switch {
		case has && !r.Set.Allows(value), !has && !of.Get(r.Key).Intersects(r.Set):
			return false
		case !has && !of.Has(r.Key) && !r.Set.AllowsAbsent():
			return false
		}
	}
	return true
}
