// Package faults makes calls to the emulated account fail: by fault, by right and by pool.
//
// It promises that what is drawn by chance comes of the account's seed.
package faults

import (
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// Injector makes calls fail as it was told.
type Injector struct {
	*world.World

	Answered []string // actions that the account answers, sorted

	faults     []Fault
	denied     map[string]bool
	refusals   map[market.Pool]refusal
	faultDraws uint64 // of faults by chance
}

// New makes faults possible, and none yet.
func New(w *world.World) *Injector {
	return &Injector{World: w, denied: map[string]bool{}, refusals: map[market.Pool]refusal{}}
}
