package place

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
)

// Sizes reports whether the option Small could change an answer: some pool of the snapshot has both instance types that
// are too large for the cluster, and others.
func Sizes(s *cluster.Snapshot) bool {
	z := supply.SizesOf(s)
	for i := range s.Pools {
		p := &s.Pools[i]
		if p.Catalogue == nil || p.NotReady != "" || p.Limits.Nodes != nil {
			continue
		}
		large := 0
		for k := range p.Catalogue.InstanceTypes {
			if z.TooLarge(p.Catalogue.InstanceTypes[k].Capacity) {
				large++
			}
		}
		if large > 0 && large < len(p.Catalogue.InstanceTypes) {
			return true
		}
	}
	return false
}
