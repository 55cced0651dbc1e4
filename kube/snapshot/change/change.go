// Package change is the consequence of a watch event: what has to be updated.
package change

// Effect is what follows; the zero value is nothing.
type Effect int

const (
	None    Effect = iota
	Shown          // the next snapshot shows it, and none is made for its sake
	Planned        // a plan may depend on it
)

// If is Planned where something has changed.
func If(changed bool) Effect {
	if changed {
		return Planned
	}
	return None
}
