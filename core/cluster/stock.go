package cluster

import "slices"

// Stock is what is had so many times only: room in a capacity reservation, or for
// machines of a placement group in one zone.
type Stock struct {
	Name string // shared by all offers that draw on it, of whatever kind and pool
	Left int64  // machines that are left, less those being bought
}

// Reservation is the capacity reservation that machines of the offer are launched
// into, as their label has it; empty: into none.
func (o *Offer) Reservation() string {
	if o.Option != Reserved {
		return ""
	}
	id, _ := o.Labels.Get(LabelReservation)
	return id
}

// LeftOf is how many machines are left of a stock that the offer draws on; 0 for any
// other.
func (o *Offer) LeftOf(stock string) int64 {
	for _, s := range o.Stocks {
		if s.Name == stock {
			return s.Left
		}
	}
	return 0
}

// DrawsAlike reports whether machines of both offers are taken from the same stocks.
func (o *Offer) DrawsAlike(p *Offer) bool {
	return slices.EqualFunc(o.Stocks, p.Stocks, func(a, b Stock) bool { return a.Name == b.Name })
}

// DrawnBy lists the stocks that a machine on order will be taken from, whichever of the
// offers it becomes that it still may: what all of them draw on, sorted by name.
//
// Cost: O(offers) for a machine that may become one of those that draw on something.
func (c *Catalogue) DrawnBy(m *Machine) []Stock {
	if c == nil {
		return nil
	}
	var out []Stock
	any := false
	for k := range c.Kinds {
		kind := &c.Kinds[k]
		if !mayBe(m, LabelInstanceType, kind.Name) || !mayBeLabelled(m, kind.Labels) {
			continue
		}
		for i := range kind.Offers {
			o := &kind.Offers[i]
			if !o.Asked(m.Requirements) || !mayBeLabelled(m, o.Labels) {
				continue
			}
			if !any {
				out, any = slices.Clone(o.Stocks), true
			}
			out = slices.DeleteFunc(out, func(s Stock) bool {
				return !slices.ContainsFunc(o.Stocks, func(t Stock) bool { return t.Name == s.Name })
			})
			if len(out) == 0 {
				return nil
			}
		}
	}
	return out
}
