package emulator

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// placementGroup is one placement group of the account.
type placementGroup struct {
	ID, Name, Strategy string
	Partitions         int // of a partition group, in each zone
	Tags               world.Tags
	Room               *int // instances that a cluster group has room for; nil: as many as the pools have
}

// The strategies of placement groups.
const (
	strategyCluster   = "cluster"
	strategySpread    = "spread"
	strategyPartition = "partition"
)

// Limits of EC2 on placement groups.
const (
	partitionsMax   = 7
	spreadEachZone  = 7
	partitionsUsual = 2

	partitionsDedicated = 2 // that may have dedicated instances
)

func (s *Server) sortedPlacements() []*placementGroup {
	var all []*placementGroup
	for _, g := range s.Placements {
		all = append(all, g)
	}
	return world.ByKey(all, func(g *placementGroup) string { return g.ID })
}

// placementNamed finds a group by its ID or, where that is empty, by its name.
func (s *Server) placementNamed(id, name string) (*placementGroup, error) {
	for _, g := range s.Placements {
		if id != "" && g.ID == id || id == "" && g.Name == name {
			return g, nil
		}
	}
	return nil, wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", cmp.Or(id, name))
}

// LimitPlacement lets a cluster group of that ID have room for so many instances in
// all, whatever the pools have.
func (s *Server) LimitPlacement(id string, room int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if g := s.Placements[id]; g != nil {
		g.Room = &room
	}
}

type placementGroupXML struct {
	ARN         string     `xml:"groupArn"`
	ID          string     `xml:"groupId"`
	Name        string     `xml:"groupName"`
	Partitions  int        `xml:"partitionCount,omitempty"`
	SpreadLevel string     `xml:"spreadLevel,omitempty"`
	State       string     `xml:"state"`
	Strategy    string     `xml:"strategy"`
	Tags        world.Tags `xml:"tagSet>item"`
}

func (s *Server) placementAnswer(g *placementGroup) placementGroupXML {
	x := placementGroupXML{
		ARN: s.Settings.ARN("ec2", s.Settings.Region, "placement-group/"+g.Name), ID: g.ID, Name: g.Name, Partitions: g.Partitions,
		State: "available", Strategy: g.Strategy, Tags: g.Tags,
	}
	if g.Strategy == strategySpread {
		x.SpreadLevel = "rack"
	}
	return x
}

func createPlacementGroup(c *call) (any, error) {
	st := c.server
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil, err
	}
	g := &placementGroup{Name: c.Params.String("GroupName"), Strategy: cmp.Or(c.Params.String("Strategy"), strategyCluster), Tags: world.TagsFor(specs, "placement-group")}
	if g.Partitions, err = c.Params.Int("PartitionCount", 0); err != nil {
		return nil, err
	}
	if _, err := st.placementNamed("", g.Name); err == nil {
		return nil, wire.Errorf("InvalidPlacementGroup.Duplicate", "The placement group '%s' already exists.", g.Name)
	}
	switch {
	case g.Name == "":
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter groupName")
	case !slices.Contains([]string{strategyCluster, strategySpread, strategyPartition}, g.Strategy):
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter strategy is invalid.", g.Strategy)
	case g.Partitions != 0 && g.Strategy != strategyPartition:
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter PartitionCount may only be used with placement groups that have the partition strategy.")
	case g.Partitions < 0 || g.Partitions > partitionsMax:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter PartitionCount is invalid. It must be between 1 and %d.", g.Partitions, partitionsMax)
	case g.Strategy == strategyPartition:
		g.Partitions = cmp.Or(g.Partitions, partitionsUsual)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	st.addPlacement(g)
	return struct {
		Group placementGroupXML `xml:"placementGroup"`
	}{st.placementAnswer(g)}, nil
}

func deletePlacementGroup(c *call) (any, error) {
	g, err := c.server.placementNamed("", c.Params.String("GroupName"))
	if err != nil {
		return nil, err
	}
	if len(c.server.placed(g, c.At)) > 0 {
		return nil, wire.Errorf("InvalidPlacementGroup.InUse", "The placement group '%s' is in use and may not be deleted.", g.Name)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	delete(c.server.Placements, g.ID)
	return struct {
		Done bool `xml:"return"`
	}{true}, nil
}

func describePlacementGroups(c *call) (any, error) {
	st := c.server
	all := st.sortedPlacements()
	byID, err := world.ChosenByID(c.Params.Strings("GroupId"), all, func(g *placementGroup) string { return g.ID },
		"InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.")
	if err != nil {
		return nil, err
	}
	chosen, err := world.ChosenByID(c.Params.Strings("GroupName"), byID, func(g *placementGroup) string { return g.Name },
		"InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.")
	if err != nil {
		return nil, err
	}
	chosen, err = world.Matching(c.Params, chosen, st.placementFields(), func(g *placementGroup) world.Tags { return g.Tags.Searchable(c.At) })
	if err != nil {
		return nil, err
	}
	var answer struct {
		Groups []placementGroupXML `xml:"placementGroupSet>item"`
	}
	for _, g := range chosen {
		answer.Groups = append(answer.Groups, st.placementAnswer(g))
	}
	return answer, nil
}

func (s *Server) placementFields() world.Fields[*placementGroup] {
	return world.Fields[*placementGroup]{
		"group-arn":  world.One(func(g *placementGroup) string { return s.placementAnswer(g).ARN }),
		"group-name": world.One(func(g *placementGroup) string { return g.Name }),
		"state":      world.One(func(*placementGroup) string { return "available" }),
		"strategy":   world.One(func(g *placementGroup) string { return g.Strategy }),
		"spread-level": func(g *placementGroup) []string {
			if g.Strategy != strategySpread {
				return nil
			}
			return []string{"rack"}
		},
	}
}

// placed are the instances that a group has, pending or running.
func (s *Server) placed(g *placementGroup, now time.Time) []live {
	return slices.DeleteFunc(s.instances(now), func(l live) bool {
		return l.Placed != g.ID || l.state != market.Pending && l.state != market.Running
	})
}

// resolvePlacement finds the group that a launch names, and refuses what it cannot
// hold.
func (s *Server) resolvePlacement(l *launch, now time.Time) error {
	p := l.data.Placement
	if p == nil || p.GroupID == "" && p.GroupName == "" {
		if p != nil && p.Partition != 0 {
			return wire.Errorf("InvalidParameterCombination", "The parameter PartitionNumber requires a placement group.")
		}
		return nil
	}
	g, err := s.placementNamed(p.GroupID, p.GroupName)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains(l.kind.PlacementGroups, g.Strategy):
		return wire.Errorf("InvalidParameterCombination", "%s placement groups are not supported by the '%s' instance type. Specify a supported instance type or change the placement group strategy, and try again.",
			g.Strategy, l.kind.Name)
	case g.Strategy == strategySpread && l.dedicated():
		return wire.Errorf("InvalidParameterCombination", "Spread placement groups are not supported for Dedicated Instances.")
	case g.Strategy == strategyPartition && l.dedicated() && g.Partitions > partitionsDedicated:
		return wire.Errorf("InvalidParameterCombination", "A partition placement group with Dedicated Instances can have a maximum of %d partitions.", partitionsDedicated)
	case p.Partition != 0 && g.Strategy != strategyPartition:
		return wire.Errorf("InvalidParameterCombination", "The parameter PartitionNumber may only be used with placement groups that have the partition strategy.")
	case p.Partition < 0 || p.Partition > g.Partitions:
		return wire.Errorf("InvalidParameterValue", "Value (%d) for parameter PartitionNumber is invalid. The placement group '%s' has %d partitions.", p.Partition, g.Name, g.Partitions)
	}
	if zone := s.clusterZone(g, now); zone != "" && zone != l.subnet.Zone.Name {
		return wire.Errorf("InvalidParameterCombination", "Instances in the placement group '%s' must be launched in the %s Availability Zone. Specify the %s Availability Zone and try again.",
			g.Name, zone, zone)
	}
	l.placement = g
	return nil
}

// clusterZone is the one zone that the instances of a cluster group are in; empty
// while it has none, and for other strategies.
func (s *Server) clusterZone(g *placementGroup, now time.Time) string {
	if there := s.placed(g, now); g.Strategy == strategyCluster && len(there) > 0 {
		return there[0].Zone.Name
	}
	return ""
}

// placementRoom is how many instances more a launch's group takes in its zone, and
// what EC2 says when that is too few; limited is false where that does not count.
func (s *Server) placementRoom(l launch) (room int, why *wire.Error, limited bool) {
	g := l.placement
	if g == nil {
		return 0, nil, false
	}
	now := s.Now()
	there := s.placed(g, now)
	switch {
	case g.Strategy == strategySpread:
		inZone := slices.DeleteFunc(there, func(x live) bool { return x.Zone.Name != l.subnet.Zone.Name })
		return max(0, spreadEachZone-len(inZone)), wire.Errorf("InsufficientInstanceCapacity",
			"There is not enough distinct hardware for the spread placement group '%s' in %s: it has %d of at most %d running instances there.",
			g.Name, l.subnet.Zone.Name, len(inZone), spreadEachZone), true
	case g.Strategy == strategyCluster && s.clusterZone(g, now) != "" && s.clusterZone(g, now) != l.subnet.Zone.Name:
		return 0, wire.Errorf("InsufficientInstanceCapacity", "The placement group '%s' is in another Availability Zone than %s.", g.Name, l.subnet.Zone.Name), true
	case g.Strategy == strategyCluster && g.Room != nil:
		return max(0, *g.Room-len(there)), wire.Errorf("InsufficientInstanceCapacity",
			"We currently do not have sufficient capacity in the placement group '%s' for the number of %s instances you requested.", g.Name, l.kind.Name), true
	}
	return 0, nil, false
}

// putInto records the group of a new instance and, where the launch leaves it to
// EC2, its partition: the one of the zone that has the fewest instances.
func (s *Server) putInto(i *instance, l launch) {
	if l.placement == nil {
		return
	}
	i.Placed = l.placement.ID
	p := *l.data.Placement // the launch's own is shared by all its instances
	p.GroupID, p.GroupName = l.placement.ID, l.placement.Name
	if l.placement.Strategy == strategyPartition && p.Partition == 0 {
		count := make([]int, l.placement.Partitions+1)
		for _, x := range s.placed(l.placement, s.Now()) {
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

// placementFilters are those of DescribeInstances about placement groups.
func placementFilters() world.Fields[live] {
	of := func(f func(*template.Placement) string) func(live) []string {
		return world.One(func(l live) string {
			if l.Data.Placement == nil {
				return ""
			}
			return f(l.Data.Placement)
		})
	}
	return world.Fields[live]{
		"placement-group-name": of(func(p *template.Placement) string { return p.GroupName }),
		"placement-partition-number": of(func(p *template.Placement) string {
			if p.Partition == 0 {
				return ""
			}
			return strconv.Itoa(p.Partition)
		}),
	}
}

// AddPlacementGroup puts a placement group into the account and returns its ID. Of
// a partition group, partitions is how many it has.
func (s *Server) AddPlacementGroup(name, strategy string, partitions int) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := &placementGroup{Name: name, Strategy: strategy, Partitions: partitions}
	s.addPlacement(g)
	return g.ID
}

func (s *Server) addPlacement(g *placementGroup) {
	g.ID = s.NewID("pg")
	if s.Placements == nil {
		s.Placements = map[string]*placementGroup{} // of an account saved by an older version
	}
	s.Placements[g.ID] = g
}
