package viewer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// cell is what a row has in a column: text, or how much of a resource is taken.
type cell struct {
	text.Cell
	use *view.Use // nil: the text
}

func of(s string) cell { return cell{Cell: text.Of(s)} }

func say(tone text.Tone, format string, args ...any) cell {
	return cell{Cell: text.Say(tone, format, args...)}
}

// column is one of a sheet. Its cells are cut off where they are wider than it is.
type column struct {
	title string
	right bool
	least int // columns without which it is of no use
	most  int // columns that hold all of its cells
	rank  int // 0 is the most important: those of a higher rank go first where there is no room
}

// fixed is a column of one width.
func fixed(title string, width, rank int) column {
	return column{title: title, least: width, most: width, rank: rank}
}

func (c column) toTheRight() column {
	c.right = true
	return c
}

// gap is how many columns are free between two.
func gap(width int) int {
	if width < 60 {
		return 1
	}
	return 2
}

// unlimited is a width that holds everything.
const unlimited = 1 << 20

// fit are the widths of columns in so many columns of a terminal, with some between; 0: there is no room for
// it. The important come first, and what is left over widens them in the same order.
func fit(columns []column, width, between int) []int {
	out := make([]int, len(columns))
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return columns[a].rank - columns[b].rank })
	left := width + between
	for _, i := range order {
		if need := columns[i].least + between; need <= left {
			out[i] = columns[i].least
			left -= need
		}
	}
	for len(order) > 0 { // those of one rank grow together
		n := 1
		for n < len(order) && columns[order[n]].rank == columns[order[0]].rank {
			n++
		}
		left -= grow(columns, out, order[:n], left)
		order = order[n:]
	}
	return out
}

// grow widens columns alike until they are as wide as they may be, or so many columns are taken.
func grow(columns []column, widths, which []int, left int) (taken int) {
	for {
		more := slices.DeleteFunc(slices.Clone(which), func(i int) bool {
			return widths[i] == 0 || widths[i] >= columns[i].most
		})
		if len(more) == 0 || left == taken {
			return taken
		}
		step := unlimited
		for _, i := range more {
			step = min(step, columns[i].most-widths[i])
		}
		step = max(1, min(step, (left-taken)/len(more)))
		for _, i := range more {
			if taken+step <= left {
				widths[i] += step
				taken += step
			}
		}
	}
}

// line is a row of cells in columns of these widths. A bare one has no colours.
func line(columns []column, widths []int, cells []cell, between int, bare bool) string {
	var b strings.Builder
	first := true
	for i := range columns {
		if widths[i] == 0 {
			continue
		}
		if !first {
			b.WriteString(strings.Repeat(" ", between))
		}
		first = false
		b.WriteString(cells[i].in(widths[i], columns[i].right, bare))
	}
	return b.String()
}

// in is the cell in so many columns.
func (c cell) in(width int, right, bare bool) string {
	if c.use != nil {
		return bar(*c.use, width, bare)
	}
	s := cut(text.Clean(c.Text), width)
	free := strings.Repeat(" ", max(0, width-wide(s)))
	if !bare && c.Tone != text.Plain {
		s = c.Tone.Style().Render(s)
	}
	if right {
		return free + s
	}
	return s + free
}

// wide is how many columns a text takes.
func wide(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// plain reports whether a text has nothing but letters of one column, as nearly all have.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// cut is a text of one line in at most so many columns; what is missing is an ellipsis.
func cut(s string, width int) string {
	if wide(s) <= width {
		return s
	}
	return ansi.Truncate(s, width, "…")
}

// eighths fill a column from the left.
var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Shares of a resource: one below little is largely idle, and above full more is requested than there is.
const (
	little = 0.30
	full   = 1.005
)

// percent is how wide a percentage is beside a bar.
const percent = 5

// bar shows a share in so many columns: " 85 %" alone where there is no room for more.
func bar(u view.Use, width int, bare bool) string {
	share := u.Share()
	number := fmt.Sprintf("%3.0f %%", 100*min(share, 9.99))
	if u.Allocatable <= 0 {
		number = "  -  "
	}
	if width < percent+2 {
		return strings.Repeat(" ", max(0, width-percent)) + cut(number, width)
	}
	return gauge(u, width-percent-1, bare) + " " + number
}

// gauge is a bar alone. Where it is known what is used in truth, that is its dense part, and what is
// requested beyond it the other.
func gauge(u view.Use, width int, bare bool) string {
	filled := blocks(u.Share(), width)
	tone := text.Good
	switch {
	case u.Share() > full:
		tone = text.Bad
	case u.Share() < little:
		tone = text.Warn
	}
	if u.Used != nil && u.Allocatable > 0 {
		requested := rounded(u.Share(), width)
		used := rounded(float64(*u.Used)/float64(u.Allocatable), width)
		filled = strings.Repeat("█", used) + strings.Repeat("▓", max(0, requested-used))
		if *u.Used > u.Requested {
			tone = text.Bad
		}
	}
	empty := strings.Repeat("░", max(0, width-wide(filled)))
	if bare {
		return filled + empty
	}
	return tone.Style().Render(filled) + text.Faint.Style().Render(empty)
}

// rounded is a share of so many columns in whole ones.
func rounded(share float64, width int) int { return int(min(1, max(0, share))*float64(width) + 0.5) }

// blocks fill a share of so many columns.
func blocks(share float64, width int) string {
	parts := int(min(1, max(0, share))*float64(width*8) + 0.5)
	return strings.Repeat("█", parts/8) + eighths[parts%8]
}
