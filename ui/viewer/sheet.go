package viewer

import (
	"time"

	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

// Sheets are the tables between which a user switches.
const (
	nodeSheet = iota
	waitingSheet
	problemSheet
	eventSheet
	poolSheet
	sheetCount
)

// sheetNames are their names, short enough for all to stand in one line.
var sheetNames = [sheetCount]string{"nodes", "pending", "problems", "events", "pools"}

// sheet is a table whose rows are made when they are seen.
type sheet interface {
	// size is how many rows there are, and how many there would be without a filter.
	size() (rows, all int)
	// id says which object a row is about, so that it is found again in the next view.
	id(row int) string
	columns() []column
	// cells are the row's, one of each column, at a moment.
	cells(row int, now time.Time) []cell
	// foot is what is most worth reading of a row beyond its cells.
	foot(row int, now time.Time) []text.Cell
	// detail writes all that is known.
	detail(p *text.Printer, row int, now time.Time)
}

// look is what a user has chosen to see of a cluster.
type look struct {
	Options
	filter filter
}

// sheetOf is a sheet of a cluster.
func sheetOf(which int, c *view.Cluster, l look) sheet {
	switch which {
	case waitingSheet:
		return newWaiting(c, l.filter)
	case problemSheet:
		return newProblems(c, l.filter)
	case eventSheet:
		return newEvents(c, l.filter)
	case poolSheet:
		return newPools(c, l.filter)
	}
	return newNodes(c, l)
}

// place is where a user is in a sheet.
type place struct {
	at  int    // the row that is chosen
	top int    // the first row that is seen
	id  string // of the row that is chosen; empty: the first, whatever it is
}

// restore finds the chosen row again, and keeps it on a screen of so many rows.
func (p *place) restore(s sheet, height int) {
	rows, _ := s.size()
	if p.id == "" {
		p.at = 0
	} else if p.at >= rows || s.id(p.at) != p.id {
		for i := range rows {
			if s.id(i) == p.id {
				p.at = i
				break
			}
		}
	}
	p.at = max(0, min(p.at, rows-1))
	p.scroll(rows, height)
}

func (p *place) scroll(rows, height int) {
	p.top = min(p.top, p.at, max(0, rows-height))
	p.top = max(p.top, p.at-height+1, 0)
}

// move chooses another row, so many below.
func (p *place) move(s sheet, by, height int) {
	rows, _ := s.size()
	p.at = max(0, min(p.at+by, rows-1))
	p.id = ""
	if p.at > 0 {
		p.id = s.id(p.at)
	}
	p.scroll(rows, height)
}

// widest is how many columns the widest of some texts takes, within bounds.
type widest struct{ least, most int }

func (w *widest) see(s string) {
	if !plain(s) {
		s = text.Clean(s)
	}
	w.least = min(w.most, max(w.least, wide(s)))
}
