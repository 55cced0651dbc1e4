package pools

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate"
)

// Offers says which nodes pools offer.
type Offers struct{ Of *Table }

// Ask is what a pod requires of an instance.
type Ask struct {
	Terms       []constraint.Requirements // alternatives; none at all means any instance
	Tolerations []constraint.Toleration
	Requests    quantity.Resources
	Devices     func(instanceType string) []quantity.Extended // what instances have beside what is offered; nil: nothing
}

// MayLaunch reports whether some pool offers an instance that a pod may run on, if it has it for itself. It asks
// neither for room within limits nor whether an offering is available now, and daemon pods count for nothing.
func (o Offers) MayLaunch(a Ask) bool {
	t := o.Of
	for id, object := range t.pools {
		p, err := translate.Pool(object, 0, time.Time{})
		p.Catalogue = t.Overlaid(id, t.Offered(object.Class))
		if err == nil && a.mayBeOf(&p) {
			return true
		}
	}
	return slices.ContainsFunc(t.recalled, func(p cluster.Pool) bool { return !t.isSeen(p.ID) && a.mayBeOf(&p) })
}

func (a *Ask) mayBeOf(p *cluster.Pool) bool {
	_, tainted := constraint.Untolerated(p.Taints, a.Tolerations)
	if tainted || p.Catalogue == nil || p.Replicas != nil {
		return false
	}
	for i := range p.Catalogue.InstanceTypes {
		k := &p.Catalogue.InstanceTypes[i]
		room := k.Allocatable
		if a.Devices != nil {
			for _, e := range a.Devices(k.Name) {
				room = room.With(e.Name, e.Amount)
			}
		}
		if !a.Requests.FitsIn(room) {
			continue
		}
		for j := range k.Offerings {
			has := p.Labels.Merge(k.Labels).Merge(k.Offerings[j].Labels)
			meets := func(term constraint.Requirements) bool { return canMeet(has, p.Requirements, term) }
			offered := canMeet(has, nil, present(p.Requirements, has))
			if offered && (len(a.Terms) == 0 || slices.ContainsFunc(a.Terms, meets)) {
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
