package supply

import (
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bound"
)

// AvailableAs is what can be had by one instance of the instance type at this cost; cpu
// beyond what it can use for ever is offered apart, by use.
func (b *Candidate) AvailableAs(kind int, cost float64, open uint64) []bound.Offering {
	has := amount.Positive(b.Free[kind])
	c := b.CreditOf(kind)
	if c == nil {
		return []bound.Offering{{Column: bound.Column{Price: cost, Has: has}, Open: open}}
	}
	has[amount.CPU] = float64(max(0, c.lasting))
	more := make([]float64, len(has))
	more[amount.CPU] = 1000
	return []bound.Offering{
		{Column: bound.Column{Price: cost, Has: has}, Open: open},
		{Column: bound.Column{Price: 1000 * c.price, Has: more}, Open: open},
	}
}
