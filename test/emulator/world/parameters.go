package world

import (
	"cmp"
	"slices"
	"time"
)

// Parameter is one SSM parameter. AWS's own are public strings.
type Parameter struct {
	Value   string
	At      time.Time
	Own     bool   `json:",omitempty"` // the account's
	Kind    string `json:",omitempty"` // String where empty
	Data    string `json:",omitempty"` // text where empty
	Version int    `json:",omitempty"` // 1 where 0

	Before []pastValue `json:",omitempty"` // of the versions before it, oldest first
}

// pastValue is a value that a parameter had.
type pastValue struct {
	Value string
	At    time.Time
}

// versionsKept is how many values of a parameter are kept.
const versionsKept = 100

// Next is the parameter with another value, which makes another version of it.
func (p Parameter) Next(value string, at time.Time) Parameter {
	if p.Value == "" {
		p.Value, p.At, p.Version = value, at, 1
		return p
	}
	p.Before = append(slices.Clone(p.Before), pastValue{p.Value, p.At})
	p.Before = p.Before[max(0, len(p.Before)+1-versionsKept):]
	p.Value, p.At, p.Version = value, at, cmp.Or(p.Version, 1)+1
	return p
}

// AtVersion is the parameter as it was at a version of it; false where that is not kept.
func (p Parameter) AtVersion(n int) (Parameter, bool) {
	newest := cmp.Or(p.Version, 1)
	i := len(p.Before) - newest + n
	switch {
	case n == newest:
		return p, true
	case i < 0 || i >= len(p.Before):
		return Parameter{}, false
	}
	p.Value, p.At, p.Version, p.Before = p.Before[i].Value, p.Before[i].At, n, nil
	return p, true
}
