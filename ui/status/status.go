// Package status writes the screen of `daemok status`: the controller, what is wrong, nodes and what they cost, pools,
// pods that wait, and what is under way.
//
// It promises to say what is wrong before all else. It decides and reads nothing.
package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// Most rows of each kind; more are counted.
const (
	problemsMost = 15
	rowsMost     = 20
	eventsMost   = 8
)

// Write writes the screen. all: every row, whatever their number.
func Write(p *text.Printer, c *view.Cluster, all bool) error {
	s := screen{p, c, all}
	s.controller()
	s.problems()
	s.nodes()
	s.pools()
	s.waiting()
	s.underWay()
	s.lately()
	return p.Err()
}

type screen struct {
	*text.Printer
	c   *view.Cluster
	all bool
}

// most is how many of n rows are written.
func (s *screen) most(n, usual int) int {
	if s.all {
		return n
	}
	return min(n, usual)
}

// more says how many rows are left out.
func (s *screen) more(n int, what string) {
	if n > 0 {
		s.Line(text.Say(text.Faint, "  and %d more %s; --all lists them", n, what))
	}
}

func (s *screen) heading(format string, args ...any) {
	s.Gap()
	s.Line(text.Say(text.Strong, format, args...))
}

func (s *screen) controller() {
	for _, t := range s.c.Troubles {
		s.Line(text.Say(text.Warn, "%s", t))
	}
	at := text.Say(text.Faint, ", at %s", moment(s.c.At))
	k := s.c.Controller
	if k == nil {
		s.Line(text.Say(text.Faint, "at %s", moment(s.c.At)))
		return
	}
	switch k.Standing {
	case view.Acting:
		s.Line(text.Say(text.Good, "%s acts", k.Name()), text.Of(": "+s.release(k)+"pod "+k.Leader), at)
	case view.Shadow:
		s.Line(text.Say(text.Warn, "Daemok changes nothing"), at)
	case view.Idle:
		s.Line(text.Say(text.Bad, "No controller acts"), at)
	default:
		known := "No controller of NodePools was found"
		if k.Wanted > 0 {
			known = fmt.Sprintf("Which controller acts is not known: %s%d of %d replicas are ready", s.release(k), k.Ready, k.Wanted)
		}
		s.Line(text.Of(known), at)
	}
}

func (s *screen) release(k *view.Controller) string {
	if k.Version == "" {
		return ""
	}
	return "release " + k.Version + ", "
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Ago prints a time span as kubectl does: "5s", "4m30s", "12m", "5h", "3d4h".
func Ago(d time.Duration) string { return duration.HumanDuration(max(0, d)) }

var tones = map[view.Severity]text.Tone{view.Failure: text.Bad, view.Warning: text.Warn, view.Notice: text.Plain}

func (s *screen) problems() {
	list := s.c.Problems
	if len(list) == 0 {
		s.heading("Nothing is wrong")
		return
	}
	s.heading("What is wrong")
	t := text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}
	shown := s.most(len(list), problemsMost)
	for _, x := range list[:shown] {
		about := x.About
		if about == "" {
			about = "cluster"
		}
		t.Add(text.Say(tones[x.Severity], "%s", about), text.Of(x.Text))
	}
	s.Table(t)
	s.more(len(list)-shown, "problems")
}

func (s *screen) nodes() {
	t := &s.c.Totals
	s.heading("%s, %s", brief.Counted(t.Nodes, "node"), Dollars(t.Cost))
	var states, options []string
	for _, status := range view.Statuses() {
		if n := t.ByStatus[status]; n > 0 {
			states = append(states, fmt.Sprintf("%d %s", n, status))
		}
	}
	for _, option := range slices.Sorted(keys(t.ByOption)) {
		if option != "" {
			options = append(options, fmt.Sprintf("%d %s", t.ByOption[option], option))
		}
	}
	if len(states) > 0 {
		s.Line(text.Of("  " + strings.Join(states, ", ")))
	}
	if len(options) > 0 {
		s.Line(text.Of("  " + strings.Join(options, ", ")))
	}
	if t.Unpriced > 0 {
		s.Line(text.Say(text.Warn, "  the price of %s is not known and not counted", brief.Counted(t.Unpriced, "node")))
	}
	if t.Cost.Listed {
		s.Line(text.Say(text.Faint, "  some of it by list prices"))
	}
	if t.Gap != nil {
		s.Line(text.Say(text.Plain, "  nodes of pools cost %s, %s ($%.3f/h)",
			Dollars(t.PoolCost), brief.AboveLeast(*t.Gap), t.Bound))
	}
	table := text.Table{Indent: 2, Columns: []text.Column{{}, {Right: true}, {}, {Right: true}, {}}}
	for _, u := range t.Use {
		if u.Requested == 0 && u.Resource != "cpu" && u.Resource != "memory" {
			continue
		}
		used := ""
		if u.Used != nil {
			used = view.Amount(u.Resource, *u.Used) + " used"
		}
		table.Add(text.Of(u.Resource), text.Of(view.Amount(u.Resource, u.Requested)),
			text.Of("of "+view.Amount(u.Resource, u.Allocatable)+" requested"),
			text.Say(text.Plain, "%.0f %%", 100*u.Share()), text.Of(used))
	}
	s.Table(table)
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Dollars prints "$1.234/h ($901 a month)".
func Dollars(c view.Cost) string {
	return fmt.Sprintf("$%.3f/h ($%.0f a month)", c.PerHour, c.PerMonth())
}

func (s *screen) pools() {
	if len(s.c.Pools) == 0 {
		return
	}
	s.heading("%s", brief.Counted(len(s.c.Pools), "pool"))
	t := text.Table{Indent: 2, Columns: []text.Column{
		{Title: "POOL"}, {Title: "READY"}, {Title: "NODES", Right: true}, {Title: "$/H",
			Right: true}, {Title: "LIMITS", Wraps: true}, {Title: "MAY GO NOW", Wraps: true},
	}}
	for i := range s.c.Pools {
		p := &s.c.Pools[i]
		ready := text.Say(text.Good, "yes")
		if !p.Ready {
			ready = text.Say(text.Bad, "no")
		}
		var limits []string
		tone := text.Plain
		for _, l := range p.Limits {
			limits = append(limits, l.Resource+" "+l.Use())
			if l.Reached() {
				tone = text.Warn
			}
		}
		may := fmt.Sprint(p.Allowed)
		if p.Allowed == 0 && p.Because != "" && p.Nodes > 0 {
			may += ": " + p.Because
		}
		nodes := fmt.Sprint(p.Nodes)
		if p.Replicas != nil {
			nodes += fmt.Sprintf(" of %d", *p.Replicas)
		}
		t.Add(text.Of(p.ID()), ready, text.Of(nodes),
			text.Say(text.Plain, "%.3f", p.Cost.PerHour), text.Say(tone, "%s",
				strings.Join(limits, ", ")), text.Of(may))
	}
	s.Table(t)
}

func (s *screen) waiting() {
	if s.c.Totals.Waiting == 0 {
		s.heading("No pod waits for a node")
		return
	}
	s.heading("%s for a node", brief.Counted(s.c.Totals.Waiting, "pod waits", "pods wait"))
	t := text.Table{Indent: 2,
		Columns: []text.Column{{Title: "PODS OF"}, {Title: "PODS", Right: true}, {Title: "SINCE", Right: true},
			{Title: "WHAT FOR", Wraps: true}}}
	shown := s.most(len(s.c.Waiting), rowsMost)
	for i := range s.c.Waiting[:shown] {
		w := &s.c.Waiting[i]
		what := text.Of(w.Reason)
		if w.Stuck() {
			what = text.Say(text.Bad, "a place: see what is wrong")
		}
		t.Add(text.Of(w.Name()), text.Say(text.Plain, "%d", w.Count), text.Of(Ago(s.c.At.Sub(w.Since))), what)
	}
	s.Table(t)
	s.more(len(s.c.Waiting)-shown, "rows")
}

// underWay lists nodes that come or go.
func (s *screen) underWay() {
	t := text.Table{Indent: 2,
		Columns: []text.Column{{Title: "NODE"}, {Title: "STATUS"}, {Title: "TYPE"}, {Title: "LEFT", Right: true},
			{Title: "WHY", Wraps: true}}}
	n := 0
	for i := range s.c.Nodes {
		x := &s.c.Nodes[i]
		if x.Status == view.Ready {
			continue
		}
		if n++; n > s.most(len(s.c.Nodes), rowsMost) {
			continue
		}
		left := ""
		if !x.Until.IsZero() {
			left = Ago(x.Until.Sub(s.c.At))
		}
		t.Add(text.Of(x.Called()), text.Say(text.Warn, "%s", x.Status), text.Of(x.Type), text.Of(left),
			text.Of(x.Reason))
	}
	if n == 0 {
		return
	}
	s.heading("Under way")
	s.Table(t)
	s.more(n-len(t.Rows), "nodes")
}

func (s *screen) lately() {
	if len(s.c.Events) == 0 {
		return
	}
	s.heading("Lately")
	t := text.Table{Indent: 2, Columns: []text.Column{{Right: true}, {Wraps: true}}}
	for i := range s.c.Events[:s.most(len(s.c.Events), eventsMost)] {
		e := &s.c.Events[i]
		line := e.About.String() + " " + e.Said
		if e.Why != "" {
			line += ": " + e.Why
		}
		t.Add(text.Say(text.Faint, "%s ago", Ago(s.c.At.Sub(e.At))), text.Of(line))
	}
	s.Table(t)
}
