package viewer

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/daemok/daemok/ui/text"
)

// What can take the place of a sheet.
const (
	noDetail = iota
	rowDetail
	helpDetail
	troubleDetail
)

// detail is text in the place of a sheet.
type detail struct {
	shown int
	id    string // of the row
	port  viewport.Model
	why   why
}

// toggle shows the text, or the sheet again where it is shown.
func (d *detail) toggle(m *Model, which int) {
	if d.shown == which || m.sheet == nil {
		d.shown = noDetail
		return
	}
	rows, _ := m.sheet.size()
	if which == rowDetail {
		if rows == 0 {
			return
		}
		d.id = m.sheet.id(m.places[m.which].at)
	}
	d.shown = which
	d.port.GotoTop()
	d.write(m)
}

// position says how far down the text is seen; nothing where all of it is.
func (d *detail) position() string {
	if d.port.TotalLineCount() <= d.port.Height() {
		return ""
	}
	return fmt.Sprintf("%3.0f %%", 100*d.port.ScrollPercent())
}

func (d *detail) press(m *Model, msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, m.keys.back, m.keys.enter):
		d.shown = noDetail
	case key.Matches(msg, m.keys.top):
		d.port.GotoTop()
	case key.Matches(msg, m.keys.bottom):
		d.port.GotoBottom()
	default:
		d.port, _ = d.port.Update(msg)
	}
}

// write fills in the text of now.
func (d *detail) write(m *Model) {
	if d.shown == noDetail || m.sheet == nil {
		return
	}
	var b strings.Builder
	p := text.Screen(&b, m.width)
	switch d.shown {
	case helpDetail:
		m.keys.writeHelp(p)
	case troubleDetail:
		writeTroubles(p, m.cluster.Troubles)
	default:
		d.writeRow(m, p)
	}
	d.port.SetWidth(m.width)
	d.port.SetHeight(max(1, m.height-len(m.head())-2))
	d.port.SetContent(strings.TrimRight(b.String(), "\n"))
}

func (d *detail) writeRow(m *Model, p *text.Printer) {
	rows, _ := m.sheet.size()
	for i := range rows {
		if m.sheet.id(i) == d.id {
			m.sheet.detail(p, i, m.moment())
			d.why.write(m, p, i)
			return
		}
	}
	name, _, _ := strings.Cut(d.id, "\n")
	p.Line(text.Say(text.Strong, "%s", name), text.Of(" is gone, or the filter leaves it out; esc leads back"))
}

func writeTroubles(p *text.Printer, list []string) {
	if len(list) == 0 {
		p.Line(text.Of("All could be read."))
		return
	}
	p.Line(text.Say(text.Strong, "What could not be read"))
	for _, t := range list {
		p.Line(text.Of("  "), text.Of(t))
	}
}
