package pools

import (
	"iter"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// Offers says which nodes pools offer, whatever they have of them.
type Offers struct{ Of *Table }

// Pools goes through the pools that can be read, with what their classes last offered, in no order. None of it must be
// written.
func (o Offers) Pools() iter.Seq[cluster.Pool] {
	return func(yield func(cluster.Pool) bool) {
		t := o.Of
		for id, object := range t.pools {
			p, err := translate.Pool(object, 0, time.Time{})
			p.Catalogue = t.Overlaid(id, t.Offered(object.Class))
			if err == nil && !yield(p) {
				return
			}
		}
		for _, p := range t.recalled {
			if !t.isSeen(p.ID) && !yield(p) {
				return
			}
		}
	}
}
