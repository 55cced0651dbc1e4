package launch

import (
	"slices"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/ec2/placement"
	"github.com/daemok/daemok/test/emulator/wire"
)

// placementRoom is how many instances more a launch's group takes in its zone, and
// what EC2 says when that is too few; limited is false where that does not count.
func (s *Launcher) placementRoom(l launch) (room int, why *wire.Error, limited bool) {
	g := l.placement
	if g == nil {
		return 0, nil, false
	}
	now := s.Now()
	there := s.Placed(g, now)
	switch {
	case g.Strategy == placement.StrategySpread:
		inZone := slices.DeleteFunc(there, func(x instance.Live) bool { return x.Zone.Name != l.subnet.Zone.Name })
		return max(0, placement.SpreadEachZone-len(inZone)), wire.Errorf("InsufficientInstanceCapacity",
			"There is not enough distinct hardware for the spread placement group '%s' in %s: it has %d of at most %d running instances there.",
			g.Name, l.subnet.Zone.Name, len(inZone), placement.SpreadEachZone), true
	case g.Strategy == placement.StrategyCluster && s.ClusterZone(g, now) != "" && s.ClusterZone(g, now) != l.subnet.Zone.Name:
		return 0, wire.Errorf("InsufficientInstanceCapacity", "The placement group '%s' is in another Availability Zone than %s.", g.Name, l.subnet.Zone.Name), true
	case g.Strategy == placement.StrategyCluster && g.Room != nil:
		return max(0, *g.Room-len(there)), wire.Errorf("InsufficientInstanceCapacity",
			"We currently do not have sufficient capacity in the placement group '%s' for the number of %s instances you requested.", g.Name, l.kind.Name), true
	}
	return 0, nil, false
}

// putInto records the group of a new instance and, where the launch leaves it to
// EC2, its partition: the one of the zone that has the fewest instances.
func (s *Launcher) putInto(i *instance.Instance, l launch) {
	if l.placement == nil {
		return
	}
	i.Placed = l.placement.ID
	p := *l.data.Placement // the launch's own is shared by all its instances
	p.GroupID, p.GroupName = l.placement.ID, l.placement.Name
	if l.placement.Strategy == placement.StrategyPartition && p.Partition == 0 {
		count := make([]int, l.placement.Partitions+1)
		for _, x := range s.Placed(l.placement, s.Now()) {
			if x.Zone == i.Zone {
				count[x.Data.Placement.Partition]++
			}
		}
		p.Partition = 1
		for n := 2; n < len(count); n++ {
			if count[n] < count[p.Partition] {
				p.Partition = n
			}
		}
	}
	i.Data.Placement = &p
}
