package cloud

import "time"

// SpotSeen is how often spot instances were taken away, as one process has seen it,
// for another to go on from. What was seen counts less with time: the figures are
// those of its moment.
type SpotSeen struct {
	At    time.Time  `json:"at"`
	Pools []SpotPool `json:"pools"` // sorted by kind and zone
}

// SpotPool is what was seen of the spot instances of one kind in one zone.
type SpotPool struct {
	Kind   string  `json:"kind"`
	Zone   string  `json:"zone"`
	Hours  float64 `json:"hours"`            // that such instances ran
	Events float64 `json:"events,omitempty"` // how many of them were taken away
}
