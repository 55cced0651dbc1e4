package view

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/internal/brief"
)

// explainOverlay explains a NodeOverlay: what it sets, of which offerings, and for which pools and nodes it counts.
func explainOverlay(s *cluster.Snapshot, card *Card, name string) bool {
	at := slices.IndexFunc(s.Overlays, func(o cluster.Overlay) bool { return o.Name == name })
	if at < 0 {
		return false
	}
	o := &s.Overlays[at]
	add := func(name, format string, values ...any) {
		card.Facts = append(card.Facts, Fact{name, fmt.Sprintf(format, values...)})
	}
	if len(o.Requirements) == 0 {
		add("for", "all offerings")
	} else {
		add("for", "%s", o.Requirements)
	}
	if o.Price.How != cluster.PriceStays {
		add("price", "%s", changeOf(o.Price))
	}
	for _, e := range o.Capacity {
		add(e.Name, "%s of each instance", Amount(e.Name, e.Amount))
	}
	if o.NotApplied != "" {
		card.State, card.Bad = "is not applied: "+o.NotApplied, true
		return true
	}
	card.State = "is applied"
	offered, concerned := false, 0
	for i := range s.Pools {
		p := &s.Pools[i]
		offered = offered || p.Catalogue != nil
		if !slices.Contains(overlay.Concern(s, p), o) {
			continue
		}
		switch set := overlay.SetBy(s, p, o); {
		case p.Catalogue == nil:
			concerned++
			add(p.ID.String(), "may be concerned: what its class offers is not known here")
		case set != overlay.Counts{}:
			concerned++
			add(p.ID.String(), "%s", countsText(set))
		}
	}
	if concerned == 0 && offered {
		card.State = "changes nothing: no pool has an offering that it is for, or others come before it"
	}
	priced := 0
	for i := range s.Nodes {
		if overlay.PriceBy(s, s.Nodes[i].Labels) == o {
			priced++
		}
	}
	if o.Price.How != cluster.PriceStays {
		add("nodes", "%d priced by it", priced)
	}
	return true
}

// changeOf says what becomes of a price.
func changeOf(c cluster.PriceChange) string {
	switch c.How {
	case cluster.PriceIs:
		return c.Amount.String()
	case cluster.PriceAdds:
		if c.Amount < 0 {
			return fmt.Sprintf("%v less", -c.Amount)
		}
		return fmt.Sprintf("%v more", c.Amount)
	}
	return c.String()
}

func countsText(c overlay.Counts) string {
	text := ""
	if c.Offerings > 0 {
		text = "the price of " + brief.Counted(c.Offerings, "offering")
	}
	if c.Types > 0 {
		if text != "" {
			text += ", and "
		}
		text += "resources of " + brief.Counted(c.Types, "instance type")
	}
	return text
}
