package cloud

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Unavailable is something that could not be had lately, as one process has seen it, for
// another to go on from. Exactly one of Kind, Reservation, Subnet and Quota is set, or
// none of them for a whole capacity type.
type Unavailable struct {
	Kind        string         `json:"kind,omitempty"`
	Zone        string         `json:"zone,omitempty"`  // of the kind
	Place       string         `json:"place,omitempty"` // placement group or hardware the kind was asked for in
	Option      cluster.Option `json:"option,omitempty"`
	Reservation string         `json:"reservation,omitempty"`
	Subnet      string         `json:"subnet,omitempty"`
	Quota       string         `json:"quota,omitempty"`      // group of kinds with one limit of vCPUs
	VCPUsLeast  int64          `json:"vcpusLeast,omitempty"` // of the quota: from how many on
	Until       time.Time      `json:"until"`
}
