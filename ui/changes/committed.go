package changes

import (
	"fmt"

	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// unusedMost is how many unused commitments are named.
const unusedMost = 3

// committed says what commitments pay beside the cost, and what of them is unused, both before the plan.
func (in *Input) committed(b *page.Block) {
	if in.Snapshot == nil || !in.Snapshot.Commitments.Any() {
		return
	}
	line := fmt.Sprintf("Commitments pay another %s of what nodes cost now", hourly(coverage.PaidFor(in.Snapshot)))
	var unused []string
	for _, u := range coverage.FleetOf(in.Snapshot).Unused() {
		if u.Instances > 0 {
			unused = append(unused, fmt.Sprintf("%.3g of %s", u.Instances, u.ID))
		} else {
			unused = append(unused, hourly(u.Commitment)+" of "+u.ID)
		}
	}
	if len(unused) == 0 {
		b.Line(text.Say(text.Plain, "%s, and none is unused.", line))
		return
	}
	b.Line(text.Say(text.Plain, "%s. ", line), text.Say(text.Warn, "Unused: %s.", brief.List(unused, unusedMost)))
}
