package cloud

import (
	"time"

	"github.com/daemok/daemok/core/quantity"
)

// MemorySeen is how much memory instances turned out to have, as one process has
// seen it, for another to go on from.
type MemorySeen []MemoryOf

// MemoryOf is the least that instances of one kind and image had.
type MemoryOf struct {
	Kind   string         `json:"kind"`
	Image  string         `json:"image"`
	Memory quantity.Bytes `json:"memory"`
	SeenOn time.Time      `json:"seenOn"` // the day (UTC) that one was seen last
}
