// Package changes lays out a plan for people: what needs them first, then what it comes to, then tables.
//
// It promises that nodes that are alike share a row, however many there are, so that a plan fits a screen; that the
// same plan is laid out the same on every host; and that nothing is left out without a line that counts it. It makes
// no plan, and knows no terminal.
package changes

import (
	"fmt"
	"time"

	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// Page lays out the input.
func Page(in Input) page.Page {
	out := page.Page{Title: "Plan: " + in.Counts().String()}
	out.Note = "Made for the cluster as it was at " + in.Snapshot.Now.UTC().Format(time.RFC3339) + "."
	out.Add(in.trouble())
	out.Add(in.summary())
	out.Add(in.applied())
	out.Add(in.launched(), in.terminated(), in.replaced(), in.withdrawn(), in.moved())
	out.Add(in.order())
	out.Add(in.cost())
	out.Add(in.kept())
	out.Add(in.supposed())
	out.Add(in.whereTo(), in.notesInFull(), in.notLaunched(), in.keptInFull(), in.margins())
	return out
}

// summary is the plan in a few sentences.
func (in *Input) summary() page.Block {
	var b page.Block
	p, c := &in.Plan, in.Counts()
	line := []text.Cell{text.Say(text.Strong, "Plan: %s.", c.String())}
	if c.Pending > 0 {
		line = append(line, text.Say(text.Plain, " %s.", c.places()))
	}
	b.Line(line...)
	if c.Nothing() && p.CostBefore == p.CostAfter {
		b.Line(text.Say(text.Plain, "Cost: %s, unchanged.", hourly(p.CostBefore)))
		in.committed(&b)
		return b
	}
	line = []text.Cell{text.Say(text.Plain, "Cost: %s -> %s, ", hourly(p.CostBefore), hourly(p.CostAfter)),
		{Text: monthlyChange(p.CostAfter-p.CostBefore) + " a month", Tone: toneOf(p.CostAfter - p.CostBefore)}}
	if n := len(in.Unpriced()); n > 0 {
		line = append(line, text.Say(text.Warn, ", without %s of unknown price", brief.Counted(n, "new instance")))
	}
	b.Line(append(line, text.Of("."))...)
	in.committed(&b)
	if gap, ok := p.Gap(); ok && len(p.Launches) > 0 {
		b.Line(text.Say(text.Plain, "New instances cost %s.", mostAbove(gap)))
	}
	return b
}

// mostAbove says how far a cost may be from the least possible, by the gap as a share of that.
func mostAbove(gap float64) string {
	if above := brief.AboveLeast(gap); above != brief.AboveLeast(0) {
		return "at most " + above
	}
	return "the least possible"
}

// places says how many of the pods that wait get a place.
func (c Counts) places() string {
	switch {
	case c.Placed >= c.Pending && c.Pending == 1:
		return "The pending pod gets a place"
	case c.Placed >= c.Pending:
		return fmt.Sprintf("All %d pending pods get a place", c.Pending)
	}
	return fmt.Sprintf("%d of %s %s a place", c.Placed, brief.Counted(c.Pending, "pending pod"),
		agreed(c.Placed, "gets", "get"))
}

// applied is what manifests changed, and what drifts by them.
func (in *Input) applied() page.Block {
	b := page.Block{Heading: "Manifests", Tone: text.Strong}
	if in.Manifests == nil {
		return b
	}
	for _, line := range in.Manifests.Changes {
		b.Line(text.Of("  " + line))
	}
	b.Table = table("DRIFT CAUSED>", "POOL", "WHY~")
	for _, d := range in.Manifests.Drifts {
		b.Table.Add(text.Say(text.Warn, "%s", brief.Counted(len(d.Nodes), "node")), text.Of(d.Pool),
			text.Of(d.Reason+": "+d.Text))
	}
	without, with := &in.Manifests.Without.Plan, &in.Plan
	d := with.CostAfter - without.CostAfter
	b.Below(text.Say(text.Plain, "  without them: %s, %s -> %s", in.Manifests.Without.Counts(),
		hourly(without.CostBefore), hourly(without.CostAfter)))
	lost := in.Lost()
	if len(lost) > 0 {
		verb := map[bool]string{true: "loses its place", false: "lose their place"}[len(lost) == 1]
		b.Below(text.Say(text.Bad, "  %s %s: %s", brief.Counted(len(lost), "pod"), verb, few(lost, podsNamed)))
	}
	unpriced, fewer := in.UnpricedMore(), len(in.Manifests.Without.Unpriced())-len(in.Unpriced())
	switch {
	case unpriced > 0:
		b.Below(text.Of("  they change what the cluster costs by "+change(d)+"/h, "),
			text.Say(text.Warn, "and by %s of unknown price", brief.Counted(unpriced, "new instance")))
	case fewer > 0:
		b.Below(text.Of("  they change what the cluster costs by "+change(d)+"/h, "),
			text.Say(text.Plain, "without %s of unknown price that they save", brief.Counted(fewer, "new instance")))
	case d == 0:
		b.Below(text.Of("  they do not change what the cluster costs"))
	case d < 0 && len(lost) > 0:
		b.Below(text.Of("  they change what the cluster costs by "+change(d)+"/h, "+monthlyChange(d)+" a month, "),
			text.Say(text.Bad, "because pods without a place cost nothing"))
	default:
		b.Below(text.Of("  they change what the cluster costs by "),
			text.Cell{Text: change(d) + "/h, " + monthlyChange(d) + " a month", Tone: toneOf(d)})
	}
	for _, line := range in.Manifests.Notes {
		b.Below(text.Say(text.Faint, "  note: %s", line))
	}
	return b
}
