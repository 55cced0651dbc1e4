package cluster

import (
	"iter"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// PerInstance is what each instance of the pool costs an hour beside the price of its type: its
// volumes, and what is declared for it.
func (p *Pool) PerInstance() quantity.MicroUSDPerHour {
	if p.Catalogue == nil {
		return p.InstanceCost
	}
	return p.InstanceCost + p.Catalogue.Disk
}

// CostOf is what a node of the pool costs an hour with all that is paid for each instance, but for
// surplus credits: how much it uses is not known. It is 0 where its price is not known.
func (p *Pool) CostOf(n *Node) quantity.MicroUSDPerHour {
	if n.Price == 0 {
		return 0
	}
	return n.Price + p.PerInstance()
}

// PriceOf returns the lowest known price among what the instance is or may become, by the pool's
// catalogue and without commitments; ok is false when none is known.
func (p *Pool) PriceOf(m *Instance) (price quantity.MicroUSDPerHour, ok bool) {
	if _, o := p.Cheapest(m); o != nil {
		return o.Price, true
	}
	return 0, false
}

// Cheapest returns the first of the cheapest offerings with a known price among what the instance is or may become, and
// its type; nil where there is none. What commitments pay does not count.
func (p *Pool) Cheapest(m *Instance) (of *InstanceType, by *Offering) {
	for t, o := range p.mayBecome(m) {
		if o.Priced && !o.Covered() && (by == nil || o.Price < by.Price) {
			of, by = t, o
		}
	}
	return of, by
}

// mayBecome lists what the instance is or may become, by the pool's catalogue.
func (p *Pool) mayBecome(m *Instance) iter.Seq2[*InstanceType, *Offering] {
	return func(yield func(*InstanceType, *Offering) bool) {
		if p.Catalogue == nil {
			return
		}
		for k := range p.Catalogue.InstanceTypes {
			t := &p.Catalogue.InstanceTypes[k]
			if !mayBe(m, LabelInstanceType, t.Name) || !mayBeLabelled(m, t.Labels) {
				continue
			}
			for i := range t.Offerings {
				if mayBeLabelled(m, t.Offerings[i].Labels) && !yield(t, &t.Offerings[i]) {
					return
				}
			}
		}
	}
}

// Offering returns the offering by which an instance was launched whose node has these labels: the
// first of its zone, capacity type and reservation that none of them contradicts. It is nil where
// there is none.
func (k *InstanceType) Offering(labels map[string]string) *Offering {
	for i := range k.Offerings {
		o := &k.Offerings[i]
		if o.Zone == labels[LabelZone] && string(o.Option) == labels[LabelCapacityType] && o.Reservation() == labels[LabelReservation] && agrees(o.Labels, labels) {
			return o
		}
	}
	return nil
}

func agrees(own constraint.Labels, labels map[string]string) bool {
	for _, l := range own {
		if value := labels[l.Key]; value != "" && value != l.Value {
			return false
		}
	}
	return true
}

func mayBeLabelled(m *Instance, labels constraint.Labels) bool {
	for _, l := range labels {
		if !mayBe(m, l.Key, l.Value) {
			return false
		}
	}
	return true
}

func mayBe(m *Instance, key, value string) bool {
	if known, ok := m.Labels.Get(key); ok {
		return known == value
	}
	return m.Requirements.Get(key).Allows(value)
}
