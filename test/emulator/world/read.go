package world

import (
	"github.com/daemok/daemok/test/emulator/wire"
)

// IntReader remembers the first number that was none.
type IntReader struct{ Err error }

// Int reads a number; 0 where it is missing or no number.
func (r *IntReader) Int(n *wire.Node, name string) int {
	v, err := n.Int(name, 0)
	if err != nil && r.Err == nil {
		r.Err = err
	}
	return v
}

// Pick sets what has a value.
func Pick[T comparable](to *T, value T) {
	var none T
	if value != none {
		*to = value
	}
}
