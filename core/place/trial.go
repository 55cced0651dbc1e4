package place

import (
	"slices"

	"github.com/daemok/daemok/core/topology"
)

// trial is what was there before something was tried, to put it back.
type trial struct {
	board    *topology.Board
	launched []launched
	places   []int // by seat
	seats    map[*seat]seat
}

// trial keeps what another look at all places changes.
func (r *run) trial() *trial {
	out := &trial{board: r.board, launched: slices.Clone(r.launched), places: make([]int, len(r.seats))}
	for i, s := range r.seats {
		out.places[i] = s.place
	}
	return out
}

// touch keeps what a seat has before something is placed on it.
func (t *trial) touch(s *seat) {
	if _, known := t.seats[s]; known {
		return
	}
	if t.seats == nil {
		t.seats = map[*seat]seat{}
	}
	kept := *s
	kept.free = slices.Clone(s.free)
	kept.guests.ports, kept.guests.claims = slices.Clone(s.guests.ports), slices.Clone(s.guests.claims)
	t.seats[s] = kept
}

// giveBack makes the seats what they were.
func (t *trial) giveBack() {
	for s, kept := range t.seats {
		*s = kept
	}
}

// undo makes everything what it was.
func (t *trial) undo(r *run) {
	t.giveBack()
	for i, place := range t.places {
		r.seats[i].place = place
	}
	r.board, r.launched = t.board, t.launched
}
