package claims

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// bootsMin is of how many instances a pool must know how long they took, before
// that counts as usual.
const bootsMin = 3

// Boots is what instances usually take from the launch to being initialised, by
// pool: 95 of 100 of those that are still there took that or less. Pools that
// know of too few are left out.
func (t *Table) Boots() map[cluster.PoolID]time.Duration {
	if t.boots != nil {
		return t.boots
	}
	took := map[cluster.PoolID][]time.Duration{}
	for _, c := range t.claims {
		if length, known := translate.Boot(c); known {
			pool := translate.PoolOf(c)
			took[pool] = append(took[pool], length)
		}
	}
	out := map[cluster.PoolID]time.Duration{}
	for pool, list := range took {
		if len(list) >= bootsMin {
			slices.Sort(list)
			out[pool] = list[(len(list)*95+99)/100-1]
		}
	}
	t.boots = out
	return out
}
