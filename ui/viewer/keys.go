package viewer

import (
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"

	"github.com/daemok/daemok/ui/text"
)

// keys are what a user can press. Those of a sheet move in details too.
type keys struct {
	up, down, pageUp, pageDown, top, bottom key.Binding
	enter, back, next, previous, sheets     key.Binding
	filter, sort, sortBack, reverse         key.Binding
	pause, troubles, help, quit             key.Binding
}

func bind(shown, does string, pressed ...string) key.Binding {
	return key.NewBinding(key.WithKeys(pressed...), key.WithHelp(shown, does))
}

func usualKeys() keys {
	return keys{
		up:       bind("↑ k", "up", "up", "k"),
		down:     bind("↓ j", "down", "down", "j"),
		pageUp:   bind("pgup b", "page up", "pgup", "b", "ctrl+u"),
		pageDown: bind("pgdn space", "page down", "pgdown", "space", "ctrl+d"),
		top:      bind("home g", "first row", "home", "g"),
		bottom:   bind("end G", "last row", "end", "G"),
		enter:    bind("enter", "details", "enter"),
		back:     bind("esc", "back; without details, no filter", "esc", "backspace"),
		next:     bind("tab →", "next table", "tab", "right", "l"),
		previous: bind("shift+tab ←", "previous table", "shift+tab", "left", "h"),
		sheets:   bind("1-5", "tables", "1", "2", "3", "4", "5"),
		filter:   bind("/", "filter", "/"),
		sort:     bind("s", "sort", "s"),
		sortBack: bind("S", "sort nodes by the previous column", "S"),
		reverse:  bind("r", "reverse the order of nodes", "r"),
		pause:    bind("p", "pause", "p"),
		troubles: bind("t", "what could not be read", "t"),
		help:     bind("?", "help", "?"),
		quit:     bind("q", "quit", "q", "ctrl+c"),
	}
}

// short are the keys of the last line, the most important first.
func (k *keys) short() []key.Binding {
	return []key.Binding{k.quit, k.help, k.enter, k.filter, k.sheets, k.sort, k.pause}
}

// shortInDetail are those where details are shown.
func (k *keys) shortInDetail() []key.Binding {
	return []key.Binding{k.quit, k.help, bind("esc", "back", "esc"), bind("↑↓", "scroll", "up"), k.sheets}
}

// scrolling are the keys of details, as the viewport wants them.
func (k *keys) scrolling() viewport.KeyMap {
	return viewport.KeyMap{Up: k.up, Down: k.down, PageUp: k.pageUp, PageDown: k.pageDown}
}

// writeHelp says what all keys do, and what is on the screen.
func (k *keys) writeHelp(p *text.Printer) {
	p.Line(text.Say(text.Strong, "Keys"))
	t := text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}
	for _, b := range []key.Binding{
		k.up, k.down, k.pageUp, k.pageDown, k.top, k.bottom, k.enter, k.back, k.sheets, k.next, k.previous,
		k.filter, k.sort, k.sortBack, k.reverse, k.pause, k.troubles, k.help, k.quit,
	} {
		t.Add(text.Say(text.Strong, "%s", b.Help().Key), text.Of(b.Help().Desc))
	}
	p.Table(t)
	heading(p, "Filter")
	t = text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}
	for _, f := range [][2]string{
		{"m5", "part of the name, owner, type, zone, capacity type or status of a node"},
		{"team=shop", "a label; also pool=, type=, zone=, capacity=, arch=, status= and pod= with part of the value"},
		{"!spot", "all that have it not"},
		{"zone=a !m5", "several words: all of them have to match"},
	} {
		t.Add(text.Say(text.Strong, "%s", f[0]), text.Of(f[1]))
	}
	p.Table(t)
	heading(p, "Bars")
	t = text.Table{Indent: 2, Columns: []text.Column{{}, {Wraps: true}}}
	t.Add(text.Say(text.Good, "████"), text.Of("requested by pods, as a part of what the node has for them"))
	t.Add(text.Say(text.Good, "██▓▓"),
		text.Of("where metrics-server says what is used: the dense part is used, the rest is only requested"))
	t.Add(text.Say(text.Warn, "█"), text.Of("less than 30 % is requested"))
	t.Add(text.Say(text.Bad, "████"),
		text.Of("more is requested than the node has, or more is used than requested"))
	p.Table(t)
	heading(p, "Costs")
	p.Line(text.Of("  $/H is dollars per hour; ? is a price that is not known and not counted. A month has 730 hours. " +
		"The least possible is what no choice of instances that the pools may launch can cost less than."))
}
