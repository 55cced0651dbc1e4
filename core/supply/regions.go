package supply

import (
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/topology"
)

// Regions divides the options of a pool: those of one region are in the same domain of each key that matters, as
// far as the options decide it and not their pool. The zero value is a single region.
type Regions struct {
	byOption []int32 // nil where there is one region
	Count    int
}

// Of is the region of an option.
func (in *Regions) Of(option int) int32 {
	if in.byOption == nil {
		return 0
	}
	return in.byOption[option]
}

// RegionsBy returns the regions for these keys of the board.
func (b *Candidate) RegionsBy(board *topology.Board, keys []int) *Regions {
	var columns [][]int32
	var text []byte
	for _, k := range keys {
		if b.Defines(board.Keys()[k]) {
			columns = append(columns, b.Domains(board, k))
			text = binary.LittleEndian.AppendUint32(text, uint32(k))
		}
	}
	in := b.regionsOf[string(text)]
	if in == nil {
		in = NewRegions(len(b.Options), columns)
		if b.regionsOf == nil {
			b.regionsOf = map[string]*Regions{}
		}
		b.regionsOf[string(text)] = in
	}
	return in
}

// NewRegions divides options by the domains that they have in the columns.
func NewRegions(options int, columns [][]int32) *Regions {
	if len(columns) == 0 {
		return &Regions{Count: 1}
	}
	out := &Regions{byOption: make([]int32, options)}
	seen := map[string]int32{}
	var text []byte
	for i := range options {
		text = text[:0]
		for _, c := range columns {
			text = binary.LittleEndian.AppendUint32(text, uint32(c[i]))
		}
		at, known := seen[string(text)]
		if !known {
			at = int32(len(seen))
			seen[string(text)] = at
		}
		out.byOption[i] = at
	}
	out.Count = len(seen)
	return out
}

// Domains returns the domain of every option for a key that options decide.
func (b *Candidate) Domains(board *topology.Board, k int) []int32 {
	if b.inDomain == nil {
		b.inDomain = map[int][]int32{}
	}
	out := b.inDomain[k]
	if out == nil {
		out = slices.Repeat([]int32{topology.None}, len(b.Options))
		if c := b.Column(board.Keys()[k]); c != nil {
			domains := slices.Repeat([]int32{topology.None}, len(c.Values)) // the board knows those alone that can be launched
			for i, n := range c.Of {
				switch {
				case n < 0:
					continue
				case domains[n] == topology.None:
					domains[n] = board.Domain(k, c.Values[n])
				}
				out[i] = domains[n]
			}
		}
		b.inDomain[k] = out
	}
	return out
}
