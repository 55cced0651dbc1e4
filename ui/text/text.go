// Package text writes what commands print for people: sentences and tables that fit a width.
//
// It promises that no text from a cluster reaches a terminal as a control sequence; that colour is on terminals
// alone, and never with NO_COLOR; and that nothing is cut off: what is too wide goes on in the next line.
package text

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// Columns is how wide text is where no terminal says so.
const Columns = 78

// Tone is what a piece of text means to its reader; colours follow from it.
type Tone int

// The tones.
const (
	Plain  Tone = iota
	Strong      // what to read first: a heading, a total
	Good        // it is well, or it is added
	Warn        // it may need somebody, or it changes
	Bad         // it needs somebody, or it goes
	Faint       // it is said for the sake of completeness
)

// Cell is a piece of text with one meaning. Control characters in it are shown as U+FFFD.
type Cell struct {
	Text string
	Tone Tone
}

// Say is a cell whose text is formatted as by fmt.Sprintf.
func Say(tone Tone, format string, args ...any) Cell {
	return Cell{fmt.Sprintf(format, args...), tone}
}

// Of is plain text.
func Of(text string) Cell { return Cell{Text: text} }

// Each makes a cell of every text.
func Each(tone Tone, texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i] = Cell{t, tone}
	}
	return out
}

// styles are those of the tones. They use the sixteen colours of the terminal itself, which its user has chosen to be
// read on the background, light or dark.
var styles = [...]lipgloss.Style{
	Plain:  lipgloss.NewStyle(),
	Strong: lipgloss.NewStyle().Bold(true),
	Good:   lipgloss.NewStyle().Foreground(lipgloss.Green),
	Warn:   lipgloss.NewStyle().Foreground(lipgloss.Yellow),
	Bad:    lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
	Faint:  lipgloss.NewStyle().Faint(true),
}

// Style is how text of the tone looks.
func (t Tone) Style() lipgloss.Style { return styles[t] }

// String is the cell as a terminal with colours shows it.
func (c Cell) String() string {
	if c.Tone == Plain || c.Text == "" {
		return Clean(c.Text)
	}
	return styles[c.Tone].Render(Clean(c.Text))
}

// Clean is the text in one line, without characters that a terminal would follow instead of showing them: control
// characters, and those that turn the direction of text.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// CleanLines is Clean for each line of a text.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Printer writes for people. It keeps the first error of writing, after which it writes nothing; see Err.
type Printer struct {
	out      io.Writer
	width    int
	terminal bool
	err      error
}

// New returns a printer of a command's output: as wide as the terminal, or Columns wide where there is none.
func New(out io.Writer) *Printer {
	p := &Printer{out: colorprofile.NewWriter(out, os.Environ()), width: Columns}
	if f, is := out.(*os.File); is && term.IsTerminal(f.Fd()) {
		p.terminal = true
		if width, _, err := term.GetSize(f.Fd()); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

// Screen returns a printer of a part of a screen that is so many columns wide. It writes all colours: what shows the
// screen leaves out those that its terminal has not.
func Screen(out io.Writer, width int) *Printer {
	return &Printer{out: out, width: width, terminal: true}
}

// Terminal reports whether a person is likely to look on while it is written.
func (p *Printer) Terminal() bool { return p.terminal }

// Width is how many columns there are.
func (p *Printer) Width() int { return p.width }

// Err is the first error of writing.
func (p *Printer) Err() error { return p.err }

// Line writes the cells in one line, one after the other, and goes on below where there is no room, with two columns
// of indent more than the line begins with.
func (p *Printer) Line(cells ...Cell) {
	indent := 0
	if len(cells) > 0 {
		indent = len(cells[0].Text) - len(strings.TrimLeft(cells[0].Text, " "))
	}
	for i, line := range wrap(cells, p.width, indent+2) {
		if i > 0 {
			p.write(strings.Repeat(" ", indent+2))
		}
		p.write(line + "\n")
	}
}

// Again begins a screen anew: on a terminal in place of what is there, elsewhere behind a line of dashes.
func (p *Printer) Again() {
	if p.terminal {
		p.write(ansi.CursorHomePosition + ansi.EraseEntireScreen)
		return
	}
	p.write(strings.Repeat("-", p.width) + "\n")
}

// Raw writes a line that is styled already, whatever its width. Text from a cluster in it must have been cleaned.
func (p *Printer) Raw(line string) { p.write(strings.TrimRight(line, " ") + "\n") }

// Gap leaves a line free.
func (p *Printer) Gap() { p.write("\n") }

func (p *Printer) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.out, s)
	}
}

// wrap are the lines of cells, one behind the other, that are parted between words: none is wider than so many columns
// unless a word is. All but the first are narrower, by the indent that they get.
func wrap(cells []Cell, width, indent int) []string {
	var out []string
	var line strings.Builder
	var run Cell       // words of one tone that are not in the line yet
	at, blank := 0, "" // columns that are written, and the blanks before the next word
	flush := func() {
		line.WriteString(run.String())
		run = Cell{}
	}
	for _, c := range cells {
		for word := range words(Clean(c.Text)) {
			if strings.TrimLeft(word, " ") == "" {
				blank += word
				continue
			}
			if n := ansi.StringWidth(blank + word); at > 0 && at+n > width && blank != "" {
				flush()
				out, at, blank = append(out, line.String()), indent, ""
				line.Reset()
			}
			if run.Tone != c.Tone || run.Text == "" {
				flush()
				line.WriteString(blank)
				run.Tone = c.Tone
			} else {
				run.Text += blank
			}
			run.Text += word
			at, blank = at+ansi.StringWidth(blank+word), ""
		}
	}
	flush()
	return append(out, line.String())
}

// words are the words of a text and the blanks between them, in turn.
func words(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			n := len(s) - len(strings.TrimLeft(s, " "))
			if n == 0 {
				if n = strings.IndexByte(s, ' '); n < 0 {
					n = len(s)
				}
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}
