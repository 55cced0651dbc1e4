package nodepool

import (
	"sync"

	"github.com/daemok/daemok/core/cluster"
)

// healthWindow is how many registrations are remembered, and unhealthyAt how
// many failures among them make a pool unhealthy.
const (
	healthWindow = 4
	unhealthyAt  = 2
)

// Verdict says whether a pool's instances join the cluster.
type Verdict int

// The verdicts. Unknown holds until the first registration since the pool or
// its class changed.
const (
	Unknown Verdict = iota
	Healthy
	Unhealthy
)

// Health remembers how the last registrations of each pool ended. The zero
// value is ready to use; it is safe for concurrent use.
type Health struct {
	mu    sync.Mutex
	pools map[cluster.PoolID]*record
}

type record struct {
	pool, class int64 // generations that the results are about
	results     []bool
}

// Note records how a registration ended.
func (h *Health) Note(pool cluster.PoolID, registered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rec := h.record(pool)
	rec.results = append(rec.results, registered)
	rec.results = rec.results[max(0, len(rec.results)-healthWindow):]
}

// Of returns the verdict on a pool; results from before a change of the pool
// or of its class are dropped.
func (h *Health) Of(pool cluster.PoolID, poolGeneration, classGeneration int64) Verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	rec := h.record(pool)
	if rec.pool != poolGeneration || rec.class != classGeneration {
		if rec.pool != 0 {
			rec.results = nil
		}
		rec.pool, rec.class = poolGeneration, classGeneration
	}
	failures := 0
	for _, ok := range rec.results {
		if !ok {
			failures++
		}
	}
	switch {
	case failures >= unhealthyAt:
		return Unhealthy
	case len(rec.results) == 0:
		return Unknown
	}
	return Healthy
}

// Recall takes over the verdict that a pool's condition holds from before
// this process: of a pool about which nothing is known yet, nothing else.
func (h *Health) Recall(pool cluster.PoolID, poolGeneration, classGeneration int64, was Verdict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rec := h.record(pool)
	if rec.pool != 0 || len(rec.results) > 0 {
		return
	}
	rec.pool, rec.class = poolGeneration, classGeneration
	switch was {
	case Healthy:
		rec.results = []bool{true}
	case Unhealthy:
		rec.results = make([]bool, unhealthyAt)
	}
}

// Forget drops what is known of a pool that is gone.
func (h *Health) Forget(pool cluster.PoolID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pools, pool)
}

func (h *Health) record(pool cluster.PoolID) *record {
	if h.pools == nil {
		h.pools = map[cluster.PoolID]*record{}
	}
	if h.pools[pool] == nil {
		h.pools[pool] = &record{}
	}
	return h.pools[pool]
}
