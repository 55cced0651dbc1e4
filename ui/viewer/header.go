package viewer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// header are the lines above the sheets, at most so many: the most important first.
func header(c *view.Cluster, o *Options, width, most int) []string {
	h := heads{c, o, width}
	var lines []string
	for _, l := range [][]string{h.troubles(), {h.summary()}, {h.wrong()}, {h.costs()}, h.uses(), {h.pods()}} {
		lines = append(lines, l...)
	}
	// What is wrong is said last where there is room for all, next to the sheets that say more.
	if len(lines) <= most {
		at := len(h.troubles()) + 1
		wrong := lines[at]
		lines = append(slices.Delete(lines, at, at+1), wrong)
	}
	return lines[:min(len(lines), most)]
}

// heads writes the lines.
type heads struct {
	c     *view.Cluster
	o     *Options
	width int
}

// joined are the cells in one line, cut off where it ends.
func (h heads) joined(cells ...text.Cell) string { return joined(h.width, cells...) }

// joined are cells one behind the other in at most so many columns.
func joined(width int, cells ...text.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		s := cut(text.Clean(c.Text), width)
		width -= wide(s)
		b.WriteString(text.Cell{Text: s, Tone: c.Tone}.String())
		if width <= 0 {
			break
		}
	}
	return b.String()
}

// troubles are a line about what could not be read.
func (h heads) troubles() []string {
	list := h.c.Troubles
	more := ""
	if len(list) > 1 {
		more = fmt.Sprintf(", and %d more", len(list)-1)
	}
	if len(list) == 0 {
		return nil
	}
	first := text.Clean(list[0])
	if room := h.width - wide(more); wide(first) > room || more != "" {
		first = "(t) " + cut(first, room-len("(t) "))
	}
	return []string{h.joined(text.Say(text.Warn, "%s%s", first, more))}
}

// summary counts the nodes.
func (h heads) summary() string {
	t := &h.c.Totals
	cells := []text.Cell{text.Say(text.Strong, "%s", brief.Counted(t.Nodes, "node"))}
	if h.o.Cluster != "" {
		cells = append([]text.Cell{text.Say(text.Strong, "%s  ", h.o.Cluster)}, cells...)
	}
	before := ": "
	for _, s := range view.Statuses() {
		if n := t.ByStatus[s]; n > 0 {
			cells = append(cells, text.Of(before), text.Say(statusTones[s], "%d %s", n, s))
			before = ", "
		}
	}
	before = "; "
	for _, option := range slices.Sorted(maps.Keys(t.ByOption)) {
		if option != "" {
			cells = append(cells, text.Say(text.Plain, "%s%d %s", before, t.ByOption[option], option))
			before = ", "
		}
	}
	return h.joined(cells...)
}

// costs says what the nodes cost, and how far that is from the least possible.
func (h heads) costs() string {
	t := &h.c.Totals
	if t.Unpriced == t.Nodes && t.Nodes > 0 {
		return h.joined(text.Say(text.Warn, "the price of %s is not known", brief.Counted(t.Nodes, "node")))
	}
	cells := []text.Cell{
		text.Say(text.Strong, "$%.3f/h", t.Cost.PerHour), text.Say(text.Plain, ", $%.0f a month", t.Cost.PerMonth()),
	}
	if t.Gap != nil {
		cells = append(cells, text.Of("; pools "+brief.AboveLeast(*t.Gap)))
	}
	switch {
	case t.Unpriced > 0:
		cells = append(cells, text.Say(text.Warn, "; the price of %s is not known", brief.Counted(t.Unpriced, "node")))
	case t.Cost.Listed:
		cells = append(cells, text.Say(text.Faint, "; in part by list prices"))
	}
	return h.joined(cells...)
}

// useWidth is how many columns a resource takes at the least, with its bar and amounts.
const useWidth = 56

// uses are bars of the resources that were asked for, several in a line where there is room.
func (h heads) uses() []string {
	var named widest
	named.most = 20
	for _, r := range h.o.Resources {
		named.see(shortened(r))
	}
	var lines []string
	perLine := max(1, min(len(h.o.Resources), h.width/useWidth))
	width := h.width/perLine - 2
	if perLine == 1 {
		width = h.width
	}
	var parts []string
	for _, r := range h.o.Resources {
		at := slices.IndexFunc(h.c.Totals.Use, func(u view.Use) bool { return u.Resource == r })
		if at >= 0 {
			parts = append(parts, h.use(h.c.Totals.Use[at], named.least, width))
		}
	}
	for chunk := range slices.Chunk(parts, perLine) {
		lines = append(lines, strings.Join(chunk, "  "))
	}
	return lines
}

// use is a resource in so many columns, of which its name takes some.
func (h heads) use(u view.Use, name, width int) string {
	requested, allocatable := view.Amount(u.Resource, u.Requested), view.Amount(u.Resource, u.Allocatable)
	left := width - name - 1
	amounts := requested + " of " + allocatable + " requested"
	if left-2-wide(amounts) < percent+4 {
		amounts = requested + "/" + allocatable
	}
	if u.Used != nil {
		amounts += ", " + view.Amount(u.Resource, *u.Used) + " used"
	}
	bars := min(26, max(percent+4, left-2-wide(amounts)))
	head := text.Clean(shortened(u.Resource))
	head = cut(head, name) + strings.Repeat(" ", max(0, name-wide(head))) + " " + bar(u, min(bars, left), false)
	rest := left - bars - 2
	if rest < 8 {
		return head + strings.Repeat(" ", max(0, width-name-1-bars))
	}
	amounts = cut(amounts, rest)
	return head + "  " + amounts + strings.Repeat(" ", max(0, rest-wide(amounts)))
}

// pods counts the pods, and says which controller acts.
func (h heads) pods() string {
	t := &h.c.Totals
	cells := []text.Cell{text.Of(brief.Counted(t.Pods, "pod") + " on nodes")}
	if t.Waiting > 0 {
		cells = append(cells, text.Say(text.Warn, ", %d pending", t.Waiting))
	}
	if t.Unplaced > 0 {
		cells = append(cells, text.Say(text.Bad, ", %d of them without a place", t.Unplaced))
	}
	return h.joined(append(cells, h.controller()...)...)
}

// controller says which controller acts, as far as that is known.
func (h heads) controller() []text.Cell {
	k := h.c.Controller
	if k == nil {
		return nil
	}
	switch k.Standing {
	case view.Acting:
		release := ""
		if k.Version != "" {
			release = " " + k.Version
		}
		return []text.Cell{text.Say(text.Faint, "; %s%s acts", k.Name(), release)}
	case view.Shadow:
		return []text.Cell{text.Say(text.Warn, "; Daemok changes nothing")}
	case view.Idle:
		return []text.Cell{text.Say(text.Bad, "; no controller acts")}
	}
	return nil
}

// wrong counts what is wrong, and says what is worst.
func (h heads) wrong() string {
	list := h.c.Problems
	if len(list) == 0 {
		return h.joined(text.Say(text.Good, "nothing is wrong"))
	}
	worst := &list[0]
	return h.joined(text.Say(problemTones[worst.Severity], "%s: ", brief.Counted(len(list), "problem")),
		text.Of(aboutOf(worst)+": "+worst.Text))
}
