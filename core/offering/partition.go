package offering

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// onePartition keeps one of the offerings that differ in the partition of a placement
// group alone. Where all of them can be had, the cloud is left to choose, which fills
// partitions evenly; else the first that can be had is asked for.
func (c *chooser) onePartition(available []Named) []Named {
	if !slices.ContainsFunc(available, func(n Named) bool { return n.isPartitioned() }) {
		return available
	}
	type beside struct { // the partition
		name, zone, reservation string
		capacityType            cluster.Option
		unless                  constraint.Label
	}
	of := func(k *cluster.InstanceType, o *cluster.Offering) beside {
		return beside{k.Name, o.Zone, o.Reservation(), o.Option, o.Unless}
	}
	fit, all := map[beside]int{}, map[beside]int{}
	for _, n := range available {
		fit[of(n.Type, n.Offering)]++
	}
	counted := map[*cluster.InstanceType]bool{}
	return c.keep(available, OtherPartition, func(n *Named) bool {
		partition, partitioned := n.label(labelPartition)
		if !partitioned {
			return true
		}
		if !counted[n.Type] {
			counted[n.Type] = true
			for i := range n.Type.Offerings {
				all[of(n.Type, &n.Type.Offerings[i])]++
			}
		}
		at := of(n.Type, n.Offering)
		switch fit[at] {
		case 0: // one is kept
			return false
		case all[at]:
		default:
			n.Partition = partition
		}
		fit[at] = 0
		return true
	})
}

// isPartitioned reports whether it is of one partition of a placement group.
func (n *Named) isPartitioned() bool {
	_, partitioned := n.label(labelPartition)
	return partitioned
}
