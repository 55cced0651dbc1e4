package costs

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/text"
)

// Rows of each kind that a screen has; more are counted.
const (
	rowsMost   = 10
	overMost   = 10
	namesMost  = 5
	barColumns = 40
)

// Write writes the screen: the total, each group of rows, what is idle and why, and what to do about the largest cause.
// all: every row, whatever their number, and every cause's nodes.
func Write(p *text.Printer, r *Report, all bool) error {
	s := screen{p, r, all}
	s.total()
	for _, g := range r.Groups {
		s.group(g)
	}
	s.idle()
	s.over()
	return p.Err()
}

type screen struct {
	*text.Printer
	r   *Report
	all bool
}

func (s *screen) heading(format string, args ...any) {
	s.Gap()
	s.Line(text.Say(text.Strong, format, args...))
}

// most is how many of n rows are written.
func (s *screen) most(n, usual int) int {
	if s.all {
		return n
	}
	return min(n, usual)
}

// share is which part of the whole that is.
func share(part, whole Dollars) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part/whole))
}

func (s *screen) total() {
	for _, t := range s.r.Troubles {
		s.Line(text.Say(text.Warn, "%s", t))
	}
	r := s.r
	what := ""
	if r.Of != "" {
		what = fmt.Sprintf(" for %s, %s of the cluster's $%.3f/h", r.Of, share(r.Cost, r.Cluster), r.Cluster)
	}
	s.Line(text.Say(text.Strong, "$%.3f/h, $%.0f a month", r.Cost, r.Cost.Month()),
		text.Of(fmt.Sprintf(", %s%s", brief.Counted(r.Nodes, "node"), what)))
	if r.Of == "" && r.Cost > 0 {
		s.bar()
	}
	if r.Listed > 0 {
		s.Line(text.Say(text.Faint, "  %s of it by built-in list prices for Linux, without your discounts",
			share(r.Listed, r.Cost)))
	}
	if n := len(r.Unpriced); n > 0 {
		names := strings.Join(r.Unpriced[:s.most(n, namesMost)], ", ")
		if more := n - s.most(n, namesMost); more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		s.Line(text.Say(text.Warn, "  the price of %s is not known, and not in any cost: %s",
			brief.Counted(n, "node"), names))
	}
	s.committed()
}

// bar shows which part of the whole is for workloads.
func (s *screen) bar() {
	var daemons Dollars
	for _, x := range s.r.Idle {
		if x.Cause == Daemons {
			daemons = x.Cost
		}
	}
	pods, rest := s.r.Pods, s.r.Cost-s.r.Pods-daemons
	columns := func(part Dollars) int { return int(float64(part/s.r.Cost)*barColumns + 0.5) }
	full, half := columns(pods), columns(daemons)
	s.Line(text.Of("  "), text.Cell{Text: strings.Repeat("█", full), Tone: text.Good},
		text.Cell{Text: strings.Repeat("▒", half), Tone: text.Plain},
		text.Cell{Text: strings.Repeat("░", max(0, barColumns-full-half)), Tone: text.Warn})
	s.Line(text.Of(fmt.Sprintf("  █ workloads %s   ▒ DaemonSets %s   ░ idle %s",
		share(pods, s.r.Cost), share(daemons, s.r.Cost), share(max(0, rest), s.r.Cost))))
}

func right(title string) text.Column { return text.Column{Title: title, Right: true} }

func (s *screen) group(g Group) {
	if len(g.Rows) == 0 {
		return
	}
	s.heading("By %s", strings.Join(g.By, ", "))
	t := text.Table{Indent: 2}
	for _, by := range g.By {
		dimension, label, _ := strings.Cut(by, "=")
		title := strings.TrimSpace(strings.ToUpper(dimension) + " " + label)
		t.Columns = append(t.Columns, text.Column{Title: title, Wraps: true})
	}
	for _, title := range []string{"$/H", "A MONTH", "SHARE", "PODS", "NODES", "IDLE"} {
		t.Columns = append(t.Columns, right(title))
	}
	shown := s.most(len(g.Rows), rowsMost)
	for i := range g.Rows[:shown] {
		r := &g.Rows[i]
		var cells []text.Cell
		for j, v := range r.Values {
			cells = append(cells, value(r, g.By[j], v))
		}
		idle := ""
		if r.Unused > 0 && !r.NoPods {
			idle = share(r.Unused, r.Cost)
		}
		t.Add(append(cells, text.Each(text.Plain, fmt.Sprintf("%.3f", r.Cost), fmt.Sprintf("$%.0f", r.Cost.Month()),
			share(r.Cost, s.r.Cost), fmt.Sprint(r.PodCount), fmt.Sprint(r.Nodes), idle)...)...)
	}
	s.Table(t)
	if more := g.Rows[shown:]; len(more) > 0 {
		var sum Dollars
		for i := range more {
			sum += more[i].Cost
		}
		s.Line(text.Say(text.Faint, "  and %d more for $%.3f/h; -o wide lists them", len(more), sum))
	}
}

// value is the cell of a key.
func value(r *Row, by, v string) text.Cell {
	key, _, _ := strings.Cut(by, "=")
	switch {
	case v != "":
		return text.Of(v)
	case r.NoPods && (cost.Key{Dimension: cost.Dimension(key)}).OfPods():
		return text.Say(text.Faint, "(idle)")
	}
	return text.Say(text.Faint, "(none)")
}

func (s *screen) idle() {
	if len(s.r.Idle) == 0 {
		return
	}
	var sum Dollars
	for _, x := range s.r.Idle {
		sum += x.Cost
	}
	s.heading("Not used by workloads: $%.3f/h, %s", sum, share(sum, s.r.Cost))
	t := text.Table{Indent: 2, Columns: []text.Column{
		{Title: "CAUSE"}, right("$/H"), right("SHARE"), right("NODES"), {Title: "WHAT IT IS", Wraps: true},
	}}
	for _, x := range s.r.Idle {
		t.Add(text.Of(string(x.Cause)), text.Of(fmt.Sprintf("%.3f", x.Cost)), text.Of(share(x.Cost, s.r.Cost)),
			text.Of(fmt.Sprint(x.Nodes)), text.Of(x.Meaning))
	}
	s.Table(t)
	shown := s.r.Idle
	if !s.all {
		shown = shown[:1]
	}
	for _, x := range shown {
		s.cause(x)
	}
}

// cause says what to do about a cause, and which nodes most of it is on.
func (s *screen) cause(x Idle) {
	s.Gap()
	s.Line(text.Say(text.Strong, "  What to do about %s: ", x.Cause), text.Of(x.WhatToDo+"."))
	for _, h := range x.Most[:s.most(len(x.Most), 3)] {
		why := ""
		if h.Why != "" {
			why = ": " + h.Why
		}
		s.Line(text.Of(fmt.Sprintf("    node %s, $%.3f/h%s", h.Node, h.Cost, why)))
	}
}

func (s *screen) over() {
	if s.r.NoUsage != "" {
		s.Gap()
		s.Line(text.Say(text.Faint, "%s", s.r.NoUsage))
	}
	if len(s.r.Over) == 0 {
		return
	}
	var sum Dollars
	for i := range s.r.Over {
		sum += s.r.Over[i].Cost()
	}
	s.heading("Requested and not used: $%.3f/h, %s", sum, share(sum, s.r.Cost))
	if s.r.Samples == 1 {
		s.Line(text.Say(text.Warn, "  one sample: usage at this moment, which says nothing about peaks"))
	} else {
		s.Line(text.Say(text.Plain, "  the mean of %d samples, which says nothing about peaks", s.r.Samples))
	}
	t := text.Table{Indent: 2, Columns: []text.Column{
		{Title: "WORKLOAD", Wraps: true}, right("PODS"), right("CPU USED"), right("MEMORY USED"), right("$/H"),
	}}
	shown := s.most(len(s.r.Over), overMost)
	for i := range s.r.Over[:shown] {
		o := &s.r.Over[i]
		t.Add(text.Of(o.Workload), text.Of(fmt.Sprint(o.Pods)), text.Of(o.CPUUsed+" of "+o.CPURequested),
			text.Of(o.MemoryUsed+" of "+o.MemoryRequested), text.Of(fmt.Sprintf("%.3f", o.Cost())))
	}
	s.Table(t)
	if more := len(s.r.Over) - shown; more > 0 {
		s.Line(text.Say(text.Faint, "  and %d more; -o wide lists them", more))
	}
}
