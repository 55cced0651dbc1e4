package viewer

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
)

// Lines of the screen beside the header and the rows: names of the sheets, titles of the columns, the foot
// and the keys.
const frame = 4

// leastRows are rows of a sheet that a header leaves free.
const leastRows = 5

// head is the header of the cluster that is shown: at most a third of the screen.
func (m *Model) head() []string {
	return header(m.cluster, &m.look.Options, m.width, max(1, min(m.height-frame-leastRows, m.height/3+1)))
}

// rows is how many rows of the sheet the screen has room for.
func (m *Model) rows() int { return max(1, m.height-frame-len(m.head())) }

// lines are the lines of the screen, as many as it is high at the most.
func (m *Model) lines() []string {
	if m.cluster == nil {
		return []string{joined(m.width, text.Of("Reading the cluster ..."), text.Say(text.Faint, " q quits"))}
	}
	lines := append(m.head(), m.tabs())
	body := m.height - len(lines) - 1
	if m.detail.shown != noDetail {
		lines = append(lines, strings.Split(m.detail.port.View(), "\n")...)
	} else {
		lines = append(lines, m.body(body)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines[:max(0, m.height-1)], m.last())
}

// tabs are the names of the sheets, with how many rows each has.
func (m *Model) tabs() string {
	c := m.cluster
	counts := [sheetCount]int{c.Totals.Nodes, c.Totals.Waiting, len(c.Problems), len(c.Events), len(c.Pools)}
	full := m.width >= 76
	var cells []text.Cell
	for i, name := range sheetNames {
		tone := text.Plain
		var label string
		switch {
		case i == m.which:
			tone = text.Strong
			label = fmt.Sprintf("[%d %s %d]", i+1, name, counts[i])
		case full:
			label = fmt.Sprintf("%d %s %d", i+1, name, counts[i])
		default:
			label = fmt.Sprintf("%d %s", i+1, name[:3])
		}
		cells = append(cells, text.Say(tone, "%s", label), text.Of(strings.Repeat(" ", gap(m.width))))
	}
	left := 0
	for _, c := range cells {
		left += wide(c.Text)
	}
	state := m.state()
	if free := m.width - left - wide(state.Text); free >= 0 {
		cells = append(cells, text.Of(strings.Repeat(" ", free)), state)
	}
	return joined(m.width, cells...)
}

// fresh is for how long a view is taken for that of now, because nothing may have changed since.
const fresh = 10 * time.Second

// state says of which moment the view is.
func (m *Model) state() text.Cell {
	age := m.now.Sub(m.received)
	switch {
	case m.paused:
		return text.Say(text.Warn, "paused, %s old", status.Ago(age))
	case age > fresh:
		return text.Say(text.Faint, "%s old", status.Ago(age))
	}
	return text.Say(text.Faint, "%s", m.cluster.At.UTC().Format("15:04:05 UTC"))
}

// marked stands before the row that is chosen, and unmarked before the others.
const (
	marked   = "› "
	unmarked = "  "
)

// body are the rows of the sheet in so many lines, with titles above and the foot below.
func (m *Model) body(height int) []string {
	rows, all := m.sheet.size()
	if rows == 0 {
		return []string{"", joined(m.width, text.Say(text.Faint, "  %s", m.nothing(all)))}
	}
	columns, width, between := m.sheet.columns(), m.width-len(unmarked), gap(m.width)
	widths := fit(columns, width, between)
	titles := make([]cell, len(columns))
	for i, c := range columns {
		titles[i] = say(text.Faint, "%s", m.title(c.title))
	}
	out := []string{unmarked + strings.TrimRight(line(columns, widths, titles, between, false), " ")}
	at := m.places[m.which]
	now := m.moment()
	for row := at.top; row < min(rows, at.top+height-2); row++ {
		chosen := row == at.at
		s := line(columns, widths, m.sheet.cells(row, now), between, chosen)
		if chosen {
			s = reversed.Render(marked + s)
		} else {
			s = unmarked + s
		}
		out = append(out, s)
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	return append(out, joined(m.width, m.sheet.foot(at.at, now)...))
}

// title marks the column by which nodes are sorted.
func (m *Model) title(of string) string {
	if m.which != nodeSheet || of != titleOfKey(m.look.Sort.By) {
		return of
	}
	if m.look.Sort.Descending {
		return of + "↓"
	}
	return of + "↑"
}

func titleOfKey(by string) string {
	switch by {
	case byName:
		return "NODE"
	case byCost:
		return "$/H"
	}
	return titleOf(by)
}

// nothing says why there are no rows.
func (m *Model) nothing(all int) string {
	if all > 0 {
		return fmt.Sprintf("none of %d matches %q; esc shows all", all, text.Clean(m.input.Value()))
	}
	switch m.which {
	case waitingSheet:
		return "no pod waits for a node"
	case problemSheet:
		return "nothing is wrong"
	case eventSheet:
		return "the record has no events"
	case poolSheet:
		return "there is no NodePool"
	}
	if m.cluster.Totals.Nodes > 0 {
		return "no node is of these pools and has these labels"
	}
	return "there is no node"
}

// last is the last line: the filter while it is typed, else the keys.
func (m *Model) last() string {
	if m.input.Focused() {
		return m.input.View()
	}
	if typed := m.input.Value(); typed != "" && m.detail.shown == noDetail {
		rows, all := m.sheet.size()
		count := text.Say(text.Faint, "  %d of %d; esc shows all", rows, all)
		return joined(m.width, text.Say(text.Warn, "/%s", typed), count)
	}
	pressed, state := m.keys.short(), ""
	if m.detail.shown != noDetail {
		pressed, state = m.keys.shortInDetail(), m.detail.position()
	}
	width := m.width - wide(state)
	m.help.SetWidth(width)
	line := ansi.Truncate(m.help.ShortHelpView(pressed), width, "") // help overruns where its ellipsis has no room
	return line + strings.Repeat(" ", width-ansi.StringWidth(line)) + text.Say(text.Faint, "%s", state).String()
}
