package viewer

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// Changed is received after the source has another view.
type Changed struct{}

// Tick is received every second, for ages.
type Tick time.Time

// Model is the screen and what its user has chosen. It is a tea.Model; New makes one.
type Model struct {
	source view.Source
	look   look
	keys   keys
	help   help.Model
	screen

	cluster  *view.Cluster // nil: nothing has been read yet
	received time.Time     // when the view was, by the clock of ticks
	now      time.Time
	paused   bool

	sheet  sheet
	which  int // sheet
	places [sheetCount]place
	detail detail
	input  textinput.Model
}

// screen is how large it is.
type screen struct{ width, height int }

// New returns a model of a source's clusters. Now is the time here.
func New(source view.Source, o Options, now time.Time) *Model {
	m := &Model{
		source: source, look: look{Options: o.WithUsual()}, keys: usualKeys(), help: help.New(),
		screen: screen{80, 24}, now: now,
	}
	m.help.Styles = help.Styles{
		ShortKey: text.Strong.Style(), ShortDesc: text.Plain.Style(),
		ShortSeparator: text.Faint.Style(), Ellipsis: text.Faint.Style(),
	}
	m.help.ShortSeparator = "  "
	m.input = textinput.New()
	m.input.Prompt = "/"
	m.input.SetVirtualCursor(false)
	m.input.SetStyles(textinput.Styles{
		Focused: textinput.StyleState{Prompt: text.Strong.Style()},
		Cursor:  textinput.CursorStyle{Shape: tea.CursorBar, Blink: true},
	})
	m.detail.port = viewport.New()
	m.detail.port.KeyMap = m.keys.scrolling()
	m.take()
	return m
}

// Init waits for changes and the clock.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.waits(), ticks()) }

func (m *Model) waits() tea.Cmd {
	return func() tea.Msg {
		if _, open := <-m.source.Changed(); !open {
			return nil
		}
		return Changed{}
	}
}

func ticks() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return Tick(t) }) }

// Update takes in what happened.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case Changed:
		m.take()
		return m, m.waits()
	case Tick:
		m.now = time.Time(msg)
		return m, ticks()
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			m.screen = screen{msg.Width, msg.Height}
			m.restore()
			m.detail.write(m)
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.typed(msg)
	}
	return m, nil
}

// take shows the newest view, unless the user looks at an older one.
func (m *Model) take() {
	if m.paused {
		return
	}
	if c := m.source.View(); c != nil && c != m.cluster {
		m.cluster, m.received = c, m.now
		m.arrange()
	}
}

// arrange makes the rows of the sheet again.
func (m *Model) arrange() {
	if m.cluster == nil {
		return
	}
	m.sheet = sheetOf(m.which, m.cluster, m.look)
	m.restore()
	m.detail.write(m)
}

func (m *Model) restore() {
	if m.sheet != nil {
		m.places[m.which].restore(m.sheet, m.rows())
	}
}

// moment is now by the clock of the view: the time since it was received is measured, so that no wrong clock matters.
func (m *Model) moment() time.Time {
	return m.cluster.At.Add(max(0, m.now.Sub(m.received)))
}

// typed hands a message to the line in which the user types a filter.
func (m *Model) typed(msg tea.Msg) tea.Cmd {
	if !m.input.Focused() {
		return nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	m.look.filter = parseFilter(m.input.Value())
	m.arrange()
	return cmd
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case msg.String() == "ctrl+z":
		return tea.Suspend
	case m.input.Focused() && msg.String() == "ctrl+c":
		return tea.Quit
	case m.input.Focused():
		return m.pressTyping(msg)
	case key.Matches(msg, m.keys.quit):
		return tea.Quit
	case key.Matches(msg, m.keys.pause):
		m.paused = !m.paused
		m.take()
	case key.Matches(msg, m.keys.help):
		m.detail.toggle(m, helpDetail)
	case key.Matches(msg, m.keys.troubles):
		m.detail.toggle(m, troubleDetail)
	case key.Matches(msg, m.keys.sheets):
		m.turn(int(msg.String()[0] - '1'))
	case key.Matches(msg, m.keys.next):
		m.turn((m.which + 1) % sheetCount)
	case key.Matches(msg, m.keys.previous):
		m.turn((m.which + sheetCount - 1) % sheetCount)
	case m.detail.shown != noDetail:
		m.detail.press(m, msg)
	default:
		m.pressInSheet(msg)
	}
	return nil
}

// pressTyping follows a key while a filter is typed: arrows move in the sheet.
func (m *Model) pressTyping(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		m.input.Blur()
	case "esc":
		m.noFilter()
	case "up":
		m.move(-1)
	case "down":
		m.move(1)
	default:
		return m.typed(msg)
	}
	return nil
}

func (m *Model) noFilter() {
	m.input.Reset()
	m.input.Blur()
	m.look.filter = nil
	m.arrange()
}

func (m *Model) pressInSheet(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, m.keys.up):
		m.move(-1)
	case key.Matches(msg, m.keys.down):
		m.move(1)
	case key.Matches(msg, m.keys.pageUp):
		m.move(-m.rows())
	case key.Matches(msg, m.keys.pageDown):
		m.move(m.rows())
	case key.Matches(msg, m.keys.top):
		m.move(-unlimited)
	case key.Matches(msg, m.keys.bottom):
		m.move(unlimited)
	case key.Matches(msg, m.keys.enter):
		m.detail.toggle(m, rowDetail)
	case key.Matches(msg, m.keys.back):
		m.noFilter()
	case key.Matches(msg, m.keys.filter):
		m.input.Focus()
	case key.Matches(msg, m.keys.sort):
		m.sortBy(1)
	case key.Matches(msg, m.keys.sortBack):
		m.sortBy(-1)
	case key.Matches(msg, m.keys.reverse):
		m.look.Sort.Descending = !m.look.Sort.Descending
		m.arrange()
	}
}

func (m *Model) move(by int) {
	if m.sheet != nil {
		m.places[m.which].move(m.sheet, by, m.rows())
	}
}

// turn shows another sheet.
func (m *Model) turn(which int) {
	m.which = which
	m.detail.shown = noDetail
	m.arrange()
}

// sortBy sorts nodes by the key so many after that by which they are sorted.
func (m *Model) sortBy(step int) {
	by := slices.Concat([]string{byName, byStatus}, m.look.Resources,
		[]string{byPods, byType, byZone, byCapacity, byCost, byAge, byOwner}, m.look.Labels)
	at := slices.Index(by, m.look.Sort.By)
	m.look.Sort.By = by[(at+step+len(by))%len(by)]
	m.turn(nodeSheet)
}

// View is the whole screen.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = strings.TrimSpace("daemok view " + text.Clean(m.look.Cluster))
	if m.input.Focused() {
		if v.Cursor = m.input.Cursor(); v.Cursor != nil {
			v.Cursor.Y = m.height - 1
		}
	}
	return v
}

// reversed is the row that is chosen: it is read on every background.
var reversed = lipgloss.NewStyle().Reverse(true)
