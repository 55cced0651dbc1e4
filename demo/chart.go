package demo

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/daemok/daemok/ui/text"
)

// Who pods, or an empty node, wait for.
const (
	byDaemok    = "Daemok"
	byAWS       = "AWS"
	byKubelet   = "kubelet"
	byScheduler = "scheduler"
	byNodePool  = "NodePool"
)

// tones tell those who are waited for apart.
var tones = map[string]text.Tone{byDaemok: text.Good, byAWS: text.Warn, byKubelet: text.Strong, byNodePool: text.Faint}

// Columns of the chart, which are 78 with two between them.
const (
	whoColumns  = 9
	whatColumns = 28
	barColumns  = 28
	timeColumns = 7
)

// wait is one thing that is waited for, from the end of the one before on.
type wait struct {
	who, what string
	until     time.Time // zero: it has not come yet
}

// bar is a wait with its times since the beginning.
type bar struct {
	who, what string
	from, to  time.Duration
	begun     bool
}

// bars are the waits one after the other. What comes earlier than what it waits for takes no time.
func bars(waits []wait, start, now time.Time) []bar {
	var out []bar
	var at time.Duration
	begun := true
	for _, w := range waits {
		b := bar{who: w.who, what: w.what, from: at, to: at, begun: begun}
		switch {
		case begun && w.until.IsZero():
			b.to, begun = max(at, now.Sub(start)), false
		case begun:
			b.to = max(at, w.until.Sub(start))
		}
		at = b.to
		out = append(out, b)
	}
	return out
}

// rows are the lines of a chart: who is waited for, for what, a bar on the scale of all of them, and how long.
func rows(all []bar, least time.Duration) [][]text.Cell {
	total := max(least, time.Millisecond)
	for _, b := range all {
		total = max(total, b.to)
	}
	end := fmt.Sprintf("%.1fs", total.Seconds())
	out := [][]text.Cell{{text.Say(text.Faint, "%-*s  %-*s  0s%*s", whoColumns, "WAIT FOR", whatColumns, "WHICH", barColumns-2, end)}}
	for _, b := range all {
		row := []text.Cell{text.Say(tones[b.who], "%-*s", whoColumns, b.who), text.Of("  " + b.what)}
		if b.begun {
			first := column(b.from, total)
			length := max(1, column(b.to, total)-first)
			first = min(first, barColumns-length)
			row = append(row, text.Of(strings.Repeat(" ", max(0, whatColumns-len(b.what))+2+first)), text.Cell{Text: strings.Repeat("█", length), Tone: tones[b.who]},
				text.Say(text.Plain, "%s  %*s", strings.Repeat(" ", barColumns-first-length), timeColumns, brief(b.to-b.from)))
		}
		out = append(out, row)
	}
	return out
}

// column is where a time lies on the scale.
func column(at, total time.Duration) int {
	return int((at*barColumns + total/2) / total)
}

// shares is how long each was waited for, longest first.
func shares(all []bar) string {
	sum := map[string]time.Duration{}
	var order []string
	for _, b := range all {
		if _, known := sum[b.who]; !known {
			order = append(order, b.who)
		}
		sum[b.who] += b.to - b.from
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(sum[b], sum[a]) })
	for i, who := range order {
		order[i] = who + " " + brief(sum[who])
	}
	return strings.Join(order, ", ")
}

// chart shows waits: again and again on a terminal that is wide enough, else once at the end.
type chart struct {
	out     io.Writer
	printer *text.Printer
	least   time.Duration // the scale has at least so much
	lines   int           // how many are on the terminal
}

func newChart(out io.Writer, least time.Duration) *chart {
	return &chart{out: out, printer: text.New(out), least: least}
}

func (c *chart) live() bool { return c.printer.Terminal() && c.printer.Width() >= text.Columns }

// draw shows how it stands, in place of what was shown before.
func (c *chart) draw(all []bar) {
	if c.lines > 0 {
		fmt.Fprint(c.out, ansi.CursorUp(c.lines)+"\r"+ansi.EraseScreenBelow)
	}
	lines := rows(all, c.least)
	for _, row := range lines {
		c.printer.Line(row...)
	}
	c.lines = len(lines)
}

// finish shows the whole, to scale, and who was waited for how long.
func (c *chart) finish(all []bar) {
	c.least = 0
	c.draw(all)
	c.printer.Line(text.Say(text.Strong, "in all: %s", shares(all)))
}
