// Package card writes the screen of `daemok explain`: what an object is doing, why, what would change that, what keeps it
// as it is, and what was done lately.
//
// It promises one screen: of long lists it names the first and counts the others. It decides and reads nothing.
package card

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// rowsMost is how many rows each list has.
const rowsMost = 8

// Write writes the card as of a moment. all: every row, whatever their number.
func Write(p *text.Printer, c *view.Card, now time.Time, all bool) error {
	s := screen{p, now, all}
	tone := text.Strong
	if c.Bad {
		tone = text.Bad
	}
	since := ""
	if !c.Since.IsZero() {
		since = fmt.Sprintf(" (%s)", status.Ago(now.Sub(c.Since)))
	}
	p.Line(text.Say(tone, "%s", c.About), text.Of(" "+c.State), text.Say(text.Faint, "%s", since))
	facts := text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}
	for _, f := range c.Facts {
		facts.Add(text.Say(text.Faint, "%s", f.Name), text.Of(f.Value))
	}
	p.Table(facts)
	s.reasons(c)
	events := text.Table{Indent: 2, Columns: []text.Column{{Right: true}, {Wraps: true}}}
	for _, x := range s.first(len(c.Lately)) {
		e := &c.Lately[x]
		line := strings.TrimSpace(strings.TrimPrefix(e.About.String()+" ",
			strings.Replace(c.About, " ", "/", 1)+" ") + " " + e.Said)
		if e.Why != "" {
			line += ": " + e.Why
		}
		if e.Cost != nil {
			line += fmt.Sprintf("; the cluster: $%.3f/h -> $%.3f/h", e.Cost.Before, e.Cost.After)
		}
		events.Add(text.Say(text.Faint, "%s ago", status.Ago(now.Sub(e.At))), text.Of(line))
	}
	s.list("Lately", events, len(c.Lately))
	return p.Err()
}

// Reasons writes of the card why, what would change it and what keeps it so, for screens that show the rest themselves.
func Reasons(p *text.Printer, c *view.Card, now time.Time) {
	s := screen{p, now, false}
	s.reasons(c)
}

func (s *screen) reasons(c *view.Card) {
	causes := text.Table{Indent: 2, Columns: []text.Column{{Wraps: true}, {Wraps: true}}}
	for _, x := range s.first(len(c.Why)) {
		causes.Add(text.Of(c.Why[x].About), text.Of(c.Why[x].What))
	}
	s.list("Why", causes, len(c.Why))
	changes := text.Table{Indent: 2, Columns: []text.Column{{Wraps: true}, {Wraps: true}}}
	for _, x := range s.first(len(c.Change)) {
		changes.Add(text.Of(c.Change[x].About), text.Of(c.Change[x].What))
	}
	s.list("What would change it", changes, len(c.Change))
	blocks := text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}, {}}}
	for _, x := range s.first(len(c.Blocks)) {
		b := &c.Blocks[x]
		left := ""
		if !b.Until.IsZero() {
			left = status.Ago(b.Until.Sub(s.now)) + " left"
		}
		blocks.Add(text.Of(b.What), text.Of(b.Text), text.Say(text.Warn, "%s", left))
	}
	s.list("What keeps it so", blocks, len(c.Blocks))
}

type screen struct {
	*text.Printer
	now time.Time
	all bool
}

// first are the positions of the rows that are written, of n.
func (s *screen) first(n int) []int {
	if !s.all {
		n = min(n, rowsMost)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// list writes a list under its heading, if there is anything in it.
func (s *screen) list(heading string, t text.Table, n int) {
	if n == 0 {
		return
	}
	s.Gap()
	s.Line(text.Say(text.Strong, "%s", heading))
	s.Table(t)
	if more := n - len(t.Rows); more > 0 {
		s.Line(text.Say(text.Faint, "  and %d more; --all lists them", more))
	}
}
