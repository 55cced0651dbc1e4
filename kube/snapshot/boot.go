package snapshot

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// bootsMin is of how many machines a pool must know how long they took, before
// that counts as usual.
const bootsMin = 3

// bootsOf is what machines usually take from the order to being initialised, by
// pool: 95 of 100 of those that are still there took that or less. Pools that
// know of too few are left out.
func (k *ClusterState) bootsOf() map[cluster.PoolID]time.Duration {
	if k.orders.boots != nil {
		return k.orders.boots
	}
	took := map[cluster.PoolID][]time.Duration{}
	for _, c := range k.claims {
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
	k.orders.boots = out
	return out
}
