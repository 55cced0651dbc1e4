package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Column is one of a table.
type Column struct {
	Title string
	Right bool // its cells end in one line, as numbers do
	Wraps bool // its cells go on below where the table is too wide; else they keep their width
}

// Table is rows of cells under titles. A column whose cells are all empty is left out.
type Table struct {
	Indent  int
	Columns []Column
	Rows    [][]Cell
}

// Add adds a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

const (
	between   = 2  // columns between cells
	wrapLeast = 16 // columns of a cell that goes on below
)

// Table writes the table; one without rows is nothing.
func (p *Printer) Table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	t = t.WithoutEmpty()
	widths := t.widths(p.width)
	var titles []Cell
	for _, c := range t.Columns {
		titles = append(titles, Cell{c.Title, Faint})
	}
	if strings.Join(texts(titles), "") != "" {
		p.row(&t, widths, titles)
	}
	for _, r := range t.Rows {
		p.row(&t, widths, r)
	}
}

func texts(cells []Cell) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c.Text
	}
	return out
}

// WithoutEmpty is the table without columns that have nothing in them.
func (t Table) WithoutEmpty() Table {
	out := Table{Indent: t.Indent, Rows: make([][]Cell, len(t.Rows))}
	for i, c := range t.Columns {
		filled := false
		for _, r := range t.Rows {
			filled = filled || i < len(r) && r[i].Text != ""
		}
		if !filled {
			continue
		}
		out.Columns = append(out.Columns, c)
		for j, r := range t.Rows {
			cell := Cell{}
			if i < len(r) {
				cell = r[i]
			}
			out.Rows[j] = append(out.Rows[j], cell)
		}
	}
	return out
}

// widths are how wide each column is, so that the table has so many columns where cells may go on below.
func (t *Table) widths(most int) []int {
	widths := make([]int, len(t.Columns))
	total, wraps := t.Indent+between*(len(t.Columns)-1), 0
	for i, c := range t.Columns {
		widths[i] = ansi.StringWidth(Clean(c.Title))
		for _, r := range t.Rows {
			widths[i] = max(widths[i], ansi.StringWidth(Clean(r[i].Text)))
		}
		total += widths[i]
		if c.Wraps {
			wraps++
		}
	}
	for over := total - most; over > 0 && wraps > 0; {
		widest := -1
		for i, c := range t.Columns {
			if c.Wraps && widths[i] > wrapLeast && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		over--
	}
	return widths
}

// row writes one row in as many lines as its highest cell has.
func (p *Printer) row(t *Table, widths []int, cells []Cell) {
	columns, height := make([][]string, len(cells)), 1
	for i, c := range cells {
		columns[i] = []string{c.String()}
		if t.Columns[i].Wraps && ansi.StringWidth(columns[i][0]) > widths[i] {
			columns[i] = wrap([]Cell{c}, widths[i], 0)
		}
		height = max(height, len(columns[i]))
	}
	for line := range height {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", t.Indent))
		for i := range cells {
			text := ""
			if line < len(columns[i]) {
				text = columns[i][line]
			}
			free := strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text)))
			if t.Columns[i].Right {
				text = free + text
			} else {
				text += free
			}
			b.WriteString(text)
			if i < len(cells)-1 {
				b.WriteString(strings.Repeat(" ", between))
			}
		}
		p.write(strings.TrimRight(b.String(), " ") + "\n")
	}
}
