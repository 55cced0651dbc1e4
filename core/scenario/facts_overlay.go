package scenario

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

type userOverlay = cluster.Overlay

// overlayLine is a NodeOverlay. Catalogues stand in the text as classes offer them; what overlays make of them
// is worked out when it is read.
var overlayLine = line[userOverlay]{noun: "overlay",
	means: "A NodeOverlay: what offerings cost and instance types have in place of what their `catalogue` says.",
	facts: []fact[userOverlay]{
		argument("a name", func(o *userOverlay) *string { return &o.Name }, name("overlay"), "of the NodeOverlay"),
		field("weight", func(o *userOverlay) *int { return &o.Weight }, number,
			"the overlay with the highest weight is applied first, of those with one weight the one with the last name"),
		field("price", func(o *userOverlay) *cluster.PriceChange { return &o.Price }, priceChange,
			"dollars an hour; with a sign: what is added to the price, in dollars or per cent"),
		field("not-applied", func(o *userOverlay) *string { return &o.NotApplied }, text,
			"why it changes nothing; worked out again when the text is read"),
	},
	below: []part[userOverlay]{
		requirements("require", func(o *userOverlay) *constraint.Requirements { return &o.Requirements },
			(*redactor).value, mustBe),
		&one[userOverlay, []quantity.Extended]{at: func(o *userOverlay) *[]quantity.Extended { return &o.Capacity },
			when: func(o *userOverlay) bool { return len(o.Capacity) > 0 }, line: setLine},
	}}

var setLine = line[[]quantity.Extended]{noun: "set", means: "Extended resources that instances have.",
	facts: []fact[[]quantity.Extended]{
		several("resource=amount", each, func(l *[]quantity.Extended) *[]quantity.Extended { return l }, amount,
			"of a resource; 0 if they have none of it"),
	},
	ends: func(list *[]quantity.Extended) error {
		slices.SortFunc(*list, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
		return unique("set", *list, func(e quantity.Extended) string { return e.Name })
	}}

func priceChange() codec[cluster.PriceChange] {
	return codec[cluster.PriceChange]{form: "price",
		read: cluster.ParsePriceChange, print: cluster.PriceChange.String}
}
