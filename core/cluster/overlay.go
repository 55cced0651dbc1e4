package cluster

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Overlay is a NodeOverlay: what a user says that offerings cost, and that instance types have, in place of
// what the cloud says. core/overlay applies it.
type Overlay struct {
	Name         string
	Weight       int                     // the highest counts; 0 where unset
	Requirements constraint.Requirements // on labels of a node of the offering, its pool's included; none: for all
	Price        PriceChange
	Capacity     []quantity.Extended // that instances have, sorted by name; zero is kept: they have none
	NotApplied   string              // why it changes nothing; empty: it does where it matches
}

// Compare orders overlays as they count: by weight, the highest first, then by name, the last first.
func (o Overlay) Compare(p Overlay) int {
	return cmp.Or(cmp.Compare(p.Weight, o.Weight), cmp.Compare(p.Name, o.Name))
}

// PriceChange is what becomes of a price. The zero value leaves it as it is.
type PriceChange struct {
	How     PriceHow
	Amount  quantity.MicroUSDPerHour // the new price, or what is added, which may be negative
	Percent float64                  // that the price grows by; negative: it falls
}

// PriceHow is how a price is changed.
type PriceHow byte

// The ways.
const (
	PriceStays PriceHow = iota
	PriceIs             // Amount, whatever it was, and known where it was not
	PriceAdds           // Amount, which leaves an unknown price unknown
	PriceGrows          // by Percent, likewise
)

// LeastPrice is what an offering costs at the least that an overlay makes free: a price of zero would be an
// unknown one where a node has it.
const LeastPrice quantity.MicroUSDPerHour = 1

// ParsePriceChange reads a price in dollars per hour such as "0.05", a signed amount to add such as "-0.5", or a
// signed percentage such as "+10%".
func ParsePriceChange(text string) (PriceChange, error) {
	digits, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(digits, 64)
	signed := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || percent && !signed {
		return PriceChange{}, fmt.Errorf("price %q: want dollars an hour such as 0.05, or a change such as -0.5 or +10%%",
			text)
	}
	switch {
	case percent:
		return PriceChange{How: PriceGrows, Percent: value}, nil
	case signed:
		return PriceChange{How: PriceAdds, Amount: quantity.USDPerHour(value)}, nil
	}
	return PriceChange{How: PriceIs, Amount: quantity.USDPerHour(value)}, nil
}

// String prints what ParsePriceChange reads; nothing for the zero value.
func (c PriceChange) String() string {
	switch c.How {
	case PriceIs:
		return dollars(c.Amount)
	case PriceAdds:
		if c.Amount < 0 {
			return "-" + dollars(-c.Amount)
		}
		return "+" + dollars(c.Amount)
	case PriceGrows:
		return fmt.Sprintf("%s%%", signed(c.Percent))
	}
	return ""
}

func dollars(p quantity.MicroUSDPerHour) string { return fmt.Sprintf("%d.%06d", p/1e6, p%1e6) }

func signed(x float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if x >= 0 {
		text = "+" + text
	}
	return text
}

// Of returns the changed price of an offering, LeastPrice or more, and whether it is known then.
func (c PriceChange) Of(o *Offering) (price quantity.MicroUSDPerHour, priced bool) {
	switch price, priced = o.Price, o.Priced; {
	case c.How == PriceIs:
		price, priced = c.Amount, true
	case !priced || c.How == PriceStays:
		return price, priced
	case c.How == PriceAdds:
		price += c.Amount
	default:
		price = quantity.USDPerHour(float64(price) / 1e6 * (1 + c.Percent/100))
	}
	return max(LeastPrice, price), priced
}

// Listed is what the class offers without overlays: the catalogue itself where none changes it.
func (c *Catalogue) Listed() *Catalogue {
	if c == nil || c.Base == nil {
		return c
	}
	return c.Base
}
