package devices

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// ask is what a pod requires of an instance.
type ask struct {
	terms       []constraint.Requirements // alternatives; none at all means any instance
	tolerations []constraint.Toleration
	requests    quantity.Resources
	devices     map[string][]quantity.Extended // by instance type: what instances have beside what is offered
}

// mayBeOfAny reports whether some pool may launch an instance for the pod.
func (a *ask) mayBeOfAny(all offers) bool {
	for p := range all.Pools() {
		if a.mayBeOf(&p) {
			return true
		}
	}
	return false
}

// mayBeOf reports whether a pool offers an instance that the pod may run on, if it has it for itself. It asks neither
// for room within limits nor whether an offering is available now, and daemon pods count for nothing.
func (a *ask) mayBeOf(p *cluster.Pool) bool {
	_, tainted := constraint.Untolerated(p.Taints, a.tolerations)
	if tainted || p.Catalogue == nil || p.Replicas != nil {
		return false
	}
	for i := range p.Catalogue.InstanceTypes {
		k := &p.Catalogue.InstanceTypes[i]
		room := k.Allocatable
		for _, e := range a.devices[k.Name] {
			room = room.With(e.Name, e.Amount)
		}
		if !a.requests.FitsIn(room) {
			continue
		}
		for j := range k.Offerings {
			has := p.Labels.Merge(k.Labels).Merge(k.Offerings[j].Labels)
			meets := func(term constraint.Requirements) bool { return canMeet(has, p.Requirements, term) }
			offered := canMeet(has, nil, present(p.Requirements, has))
			if offered && (len(a.terms) == 0 || slices.ContainsFunc(a.terms, meets)) {
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
