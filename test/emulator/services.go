package emulator

import (
	"maps"
	"slices"

	"github.com/daemok/daemok/test/emulator/wire"
)

// Actions are all that the account answers, of all services, sorted.
func (s *Server) Actions() []string {
	var all []string
	for _, actions := range s.tables {
		all = slices.AppendSeq(all, maps.Keys(actions))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Limited are the actions whose calls request limits hold for, sorted: those of EC2.
func (s *Server) Limited() []string { return slices.Sorted(maps.Keys(s.tables[wire.EC2])) }

// Calls counts the calls of every action so far, refused ones included.
func (s *Server) Calls() map[string]int { return s.Market().Calls() }
