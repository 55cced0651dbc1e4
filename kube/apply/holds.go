package apply

import (
	"sync"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Holds is what the last plan says of pods on nodes whose instances the cloud takes away. It is in
// memory alone: until the first plan has seen a node, nothing says that its pods may go. The zero
// value is ready, and it is safe for concurrent use.
type Holds struct {
	mu    sync.Mutex
	basis map[string]time.Time // nodes that the plan knew to end, and when
	stay  map[string]plan.Hold // by node
}

// Hold notes what a plan says.
func (h *Holds) Hold(s *cluster.Snapshot, p plan.Plan) {
	basis, stay := map[string]time.Time{}, map[string]plan.Hold{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Deleting && !n.EndsAt.IsZero() {
			basis[n.Name] = n.EndsAt
		}
	}
	for _, hold := range p.Holds {
		stay[hold.Node] = hold
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.basis, h.stay = basis, stay
}

// On returns what the last plan says of the node that ends then; known is false
// where it did not know that.
func (h *Holds) On(node string, endsAt time.Time) (hold plan.Hold, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, seen := h.basis[node]
	return h.stay[node], seen && at.Equal(endsAt)
}
