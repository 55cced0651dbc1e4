package shadow

import (
	"fmt"
	"io"
	"time"

	"github.com/daemok/daemok/ui/text"
)

// row is a line of the comparison.
type row struct {
	Name           string
	Actual, Shadow string
}

// rows compares the two sides.
func (r *report) rows() []row {
	pair := func(name, format string, value func(side) any) row {
		return row{name, fmt.Sprintf(format, value(r.Actual)), fmt.Sprintf(format, value(r.Shadow))}
	}
	wait := func(s float64) string { return (time.Duration(s) * time.Second).String() }
	return []row{
		pair("Cost", "$%.2f", func(s side) any { return s.Dollars }),
		pair("Cost per month", "$%.0f", func(s side) any { return s.DollarsPerMonth }),
		pair("Nodes, mean", "%.1f", func(s side) any { return s.NodesMean }),
		pair("Nodes launched", "%d", func(s side) any { return s.Launched }),
		pair("Nodes terminated", "%d", func(s side) any { return s.Terminated }),
		pair("Pods evicted per day", "%.0f", func(s side) any { return s.EvictedPerDay }),
		pair("Pods that waited 10 s or longer", "%d", func(s side) any { return s.Waited }),
		pair("  for, mean", "%s", func(s side) any { return wait(s.WaitMeanSeconds) }),
		pair("  for, longest", "%s", func(s side) any { return wait(s.WaitLongestSeconds) }),
	}
}

// headline is the sentence that says it all.
func (r *report) headline() string {
	if r.SavedPerMonthDollars < 0 {
		return fmt.Sprintf("Daemok would have cost $%.0f a month more, %.0f %% of $%.0f.", -r.SavedPerMonthDollars,
			-100*r.SavedShare, r.Actual.DollarsPerMonth)
	}
	return fmt.Sprintf("Daemok would have saved $%.0f a month, %.0f %% of $%.0f.", r.SavedPerMonthDollars,
		100*r.SavedShare, r.Actual.DollarsPerMonth)
}

// period says what was watched.
func (r *report) period() string {
	const form = "2006-01-02 15:04"
	return fmt.Sprintf("Cluster %s, %s to %s UTC, %.1f hours watched", r.Cluster, r.BeganAt.UTC().Format(form),
		r.UntilAt.UTC().Format(form), r.Hours)
}

func saves(dollars float64) string {
	if dollars < 0 {
		return fmt.Sprintf("-$%.3f", -dollars)
	}
	return fmt.Sprintf("$%.3f", dollars)
}

// writeText prints the report for people.
func (r report) writeText(out io.Writer) error {
	p := text.New(out)
	tone := text.Good
	if r.SavedPerMonthDollars < 0 {
		tone = text.Warn
	}
	p.Line(text.Say(tone, "%s", r.headline()))
	p.Line(text.Say(text.Faint, "%s", r.period()))
	p.Gap()
	t := text.Table{Columns: []text.Column{{}, {Title: "ACTUAL", Right: true}, {Title: "DAEMOK", Right: true}}}
	for _, x := range r.rows() {
		t.Add(text.Of(x.Name), text.Of(x.Actual), text.Of(x.Shadow))
	}
	p.Table(t)
	if len(r.Unplaced) > 0 {
		p.Gap()
		p.Line(text.Say(text.Warn, "Pods without a place for Daemok"))
		t := text.Table{Indent: 2,
			Columns: []text.Column{{Title: "PODS", Right: true}, {Title: "RAN", Right: true}, {Title: "SUCH AS"},
				{Title: "WHY", Wraps: true}}}
		for _, u := range r.Unplaced {
			t.Add(text.Say(text.Plain, "%d", u.Pods), text.Say(text.Plain, "%d", u.Running), text.Of(u.Example),
				text.Of(u.Why))
		}
		p.Table(t)
	}
	if len(r.Decisions) > 0 {
		p.Gap()
		p.Line(text.Say(text.Strong, "Largest decisions"))
		t := text.Table{Indent: 2,
			Columns: []text.Column{{Title: "SAVES/H", Right: true}, {Title: "EVICTS", Right: true},
				{Title: "WHAT", Wraps: true}, {Title: "WHY", Wraps: true}}}
		for _, d := range r.Decisions {
			t.Add(text.Of(saves(d.SavesPerHour)), text.Say(text.Plain, "%d", d.Evicted),
				text.Say(text.Plain, "%s %s", d.Kind, d.What), text.Of(d.Why))
		}
		p.Table(t)
	}
	p.Gap()
	for _, a := range r.Assumptions {
		p.Line(text.Say(text.Faint, "%s", a))
	}
	return p.Err()
}
