package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// cost is what the cluster costs before and after, and how far new instances are from the bound.
func (in *Input) cost() page.Block {
	b := page.Block{Heading: "Cost of instances", Tone: text.Strong}
	p := &in.Plan
	if p.CostBefore == p.CostAfter && len(p.Launches) == 0 {
		return b
	}
	difference := p.CostAfter - p.CostBefore
	b.Table = table("", "BEFORE>", "AFTER>", "CHANGE>")
	share := ""
	if p.CostBefore > 0 {
		share = fmt.Sprintf(" (%+.1f %%)", 100*float64(difference)/float64(p.CostBefore))
	}
	b.Table.Add(text.Of("per hour"), text.Of(dollars(p.CostBefore)), text.Of(dollars(p.CostAfter)),
		text.Cell{Text: change(difference) + share, Tone: toneOf(difference)})
	b.Table.Add(text.Of("per month of 730 hours"), text.Of(monthly(p.CostBefore)), text.Of(monthly(p.CostAfter)),
		text.Cell{Text: monthlyChange(difference), Tone: toneOf(difference)})
	if reserved := cost.Reservations(in.Snapshot); reserved > 0 {
		b.Below(text.Say(text.Plain, "  capacity reservations in use, billed with nodes or without: %s",
			hourly(reserved)))
	}
	if gap, ok := p.Gap(); ok && len(p.Launches) > 0 {
		b.Below(text.Say(text.Plain, "  new instances: %s; the least possible: %s; gap: %.1f %%",
			hourly(p.ForPods()), hourly(p.Bound), 100*max(0, gap)))
	}
	if l := p.Likely; l != nil && len(p.Launches) > 0 && (l.Left > 0 || l.Cost != p.ForPods()) {
		line := "  likely, with pods where kube-scheduler may put them: " + hourly(l.Cost)
		if l.Left > 0 {
			line += fmt.Sprintf("; %s may need another instance", brief.Counted(l.Left, "pod"))
		}
		b.Below(text.Of(line))
	}
	if p.SpotMore > 0 && len(p.Launches) > 0 {
		b.Below(text.Of("  EC2 chooses among spot offerings close to the cheapest: about " +
			hourly(p.SpotMore) + " more"))
	}
	return b
}

// supposed compares the plan with those for other questions.
func (in *Input) supposed() page.Block {
	b := page.Block{Heading: "What if", Tone: text.Strong}
	if len(in.Others) == 0 {
		return b
	}
	b.Table = table("QUESTION~", "NEW>", "$/H AFTER>", "CHANGE>", "GAP>", "ALL PODS FIT")
	row := func(question string, p *plan.Plan, difference text.Cell) {
		fit := text.Say(text.Good, "yes")
		if n := len(withoutPlace(p)); n > 0 {
			fit = text.Say(text.Bad, "no: %d left", n)
		}
		b.Table.Add(text.Of(question), number(len(launches(p))), text.Of(dollars(p.CostAfter)), difference,
			text.Of(gapWords(p)), fit)
	}
	row("as it is", &in.Plan, text.Of("-"))
	for i := range in.Others {
		x := &in.Others[i]
		d := x.Plan.CostAfter - in.Plan.CostAfter
		difference := text.Cell{Text: differenceWords(d, in.Plan.CostAfter), Tone: toneOf(d)}
		row(strings.ReplaceAll(x.Question, ",", ", "), &x.Plan, difference)
	}
	b.Below(text.Say(text.Faint, "  change: of what the cluster costs after the plan as it is"))
	b.Below(text.Say(text.Plain, "  as it is: %s", launchedWords(&in.Plan)))
	for i := range in.Others {
		x := &in.Others[i]
		b.Below(text.Say(text.Plain, "  %s: %s", x.Question, launchedWords(&x.Plan)))
		for _, note := range x.Notes {
			b.Below(text.Say(text.Faint, "    a pool stays as it is: %s", note))
		}
	}
	return b
}

// launches are all instances that a plan launches: for pods that wait, and in place of nodes.
func launches(p *plan.Plan) []plan.Launch {
	out := slices.Clone(p.Launches)
	for i := range p.Moves {
		out = append(out, p.Moves[i].Launches...)
	}
	return out
}

// differenceWords states a difference, and which share of the whole it is.
func differenceWords(d, of quantity.MicroUSDPerHour) string {
	if of <= 0 {
		return change(d)
	}
	return fmt.Sprintf("%s (%+.1f %%)", change(d), 100*float64(d)/float64(of))
}

func gapWords(p *plan.Plan) string {
	gap, ok := p.Gap()
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", 100*max(0, gap))
}

// launchedWords counts launches by what is chosen, the most first.
func launchedWords(p *plan.Plan) string {
	var words []string
	for _, l := range launches(p) {
		words = append(words, string(l.Choice.Option)+" "+l.Choice.Kind)
	}
	groups := byCount(grouped(words, func(w string) string { return w }))
	if len(groups) == 0 {
		return "launches nothing"
	}
	var out []string
	for i, g := range groups {
		if i == reasonsNamed && len(groups) > reasonsNamed+1 {
			out = append(out, fmt.Sprintf("%d more types", len(groups)-i))
			break
		}
		out = append(out, fmt.Sprintf("%d %s", len(g.items), g.key))
	}
	return strings.Join(out, ", ")
}
