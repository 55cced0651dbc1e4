// Package page is what a command shows, as blocks of lines and tables that a terminal and an HTML file share.
//
// It promises that both say the same in the same order; that no text of a cluster becomes a control sequence or
// markup; and that the HTML file loads nothing and runs no script. It does not know what the blocks are about.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/daemok/daemok/ui/text"
)

// Page is blocks in the order in which they are read.
type Page struct {
	Title  string // of the HTML file alone
	Note   string // below the title there, such as when it was made
	Blocks []Block
}

// Block is a few lines, a table and some lines more, under a heading. Empty parts are left out.
type Block struct {
	Heading string
	Tone    text.Tone // of the heading
	Lines   [][]text.Cell
	Table   text.Table
	After   [][]text.Cell
	Detail  bool // for who asks for more: folded in an HTML file
}

// Line adds a line before the table.
func (b *Block) Line(cells ...text.Cell) { b.Lines = append(b.Lines, cells) }

// Below adds a line after the table.
func (b *Block) Below(cells ...text.Cell) { b.After = append(b.After, cells) }

// Empty reports whether there is nothing to show below the heading.
func (b *Block) Empty() bool { return len(b.Lines)+len(b.Table.Rows)+len(b.After) == 0 }

// Add adds the blocks that are not empty.
func (p *Page) Add(blocks ...Block) {
	for _, b := range blocks {
		if !b.Empty() {
			p.Blocks = append(p.Blocks, b)
		}
	}
}

// Print writes the blocks for people, with free lines between; details only where they are asked for.
func (p *Page) Print(out *text.Printer, details bool) error {
	first := true
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if b.Detail && !details {
			continue
		}
		if !first {
			out.Gap()
		}
		first = false
		b.print(out)
	}
	return out.Err()
}

func (b *Block) print(out *text.Printer) {
	if b.Heading != "" {
		out.Line(text.Cell{Text: b.Heading, Tone: b.Tone})
	}
	for _, line := range b.Lines {
		out.Line(line...)
	}
	out.Table(b.Table)
	for _, line := range b.After {
		out.Line(line...)
	}
}

//go:embed page.html
var pageText string

// classes are the names that the style sheet has for tones.
var classes = map[text.Tone]string{
	text.Strong: "strong", text.Good: "good", text.Warn: "warn", text.Bad: "bad", text.Faint: "faint",
}

// Class is the name that style sheets have for a tone; empty: for plain text.
func Class(tone text.Tone) string { return classes[tone] }

// HTML writes the page as a file of its own. Its details can be unfolded, and are printed on paper.
func (p *Page) HTML(out io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"class":  Class,
		"clean":  text.Clean,
		"indent": func(line []text.Cell) bool { return len(line) > 0 && strings.HasPrefix(line[0].Text, " ") },
		"right":  func(b Block, column int) bool { return b.Table.Columns[column].Right },
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	shown := *p
	shown.Blocks = nil
	for _, b := range p.Blocks {
		b.Table = b.Table.WithoutEmpty()
		shown.Blocks = append(shown.Blocks, b)
	}
	return t.Execute(out, shown)
}
