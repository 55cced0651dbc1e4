package place

import (
	"slices"

	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/topology"
)

// trial is what was there before something was tried, to put it back.
type trial struct {
	board    *topology.Board
	launched []provisioning.Launched
	places   []int // by target
	touched
}

// trial keeps what another look at all places changes.
func (r *run) trial() *trial {
	out := &trial{board: r.board, launched: slices.Clone(r.provisioner.Launched), places: make([]int, len(r.targets))}
	for i, s := range r.targets {
		out.places[i] = s.place
	}
	return out
}

// undo makes everything what it was.
func (t *trial) undo(r *run) {
	t.giveBack()
	for i, place := range t.places {
		r.targets[i].place = place
	}
	r.useBoard(t.board)
	r.provisioner.Launched = t.launched
}
