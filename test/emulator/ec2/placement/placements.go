package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// Group is one placement group of the account.
type Group struct {
	ID, Name, Strategy string
	Partitions         int // of a partition group, in each zone
	Tags               world.Tags
	Room               *int // instances that a cluster group has room for; nil: as many as the pools have
}

// The strategies of placement groups.
const (
	StrategyCluster   = "cluster"
	StrategySpread    = "spread"
	StrategyPartition = "partition"
)

// Limits of EC2 on placement groups.
const (
	partitionsMax   = 7
	SpreadEachZone  = 7
	partitionsUsual = 2

	PartitionsDedicated = 2 // that may have dedicated instances
)

func (s *Layout) sortedPlacements() []*Group {
	var all []*Group
	for _, g := range s.Placements {
		all = append(all, g)
	}
	return world.ByKey(all, func(g *Group) string { return g.ID })
}

// PlacementNamed finds a group by its ID or, where that is empty, by its name.
func (s *Layout) PlacementNamed(id, name string) (*Group, error) {
	for _, g := range s.Placements {
		if id != "" && g.ID == id || id == "" && g.Name == name {
			return g, nil
		}
	}
	return nil, wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", cmp.Or(id, name))
}

// LimitPlacement lets a cluster group of that ID have room for so many instances in
// all, whatever the pools have.
func (s *Layout) LimitPlacement(id string, room int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if g := s.Placements[id]; g != nil {
		g.Room = &room
	}
}

// GroupXML is a placement group as EC2 shows it.
type GroupXML struct {
	ARN         string     `xml:"groupArn"`
	ID          string     `xml:"groupId"`
	Name        string     `xml:"groupName"`
	Partitions  int        `xml:"partitionCount,omitempty"`
	SpreadLevel string     `xml:"spreadLevel,omitempty"`
	State       string     `xml:"state"`
	Strategy    string     `xml:"strategy"`
	Tags        world.Tags `xml:"tagSet>item"`
}

// PlacementAnswer is how EC2 shows a placement group.
func (s *Layout) PlacementAnswer(g *Group) GroupXML {
	x := GroupXML{
		ARN: s.Settings.ARN("ec2", s.Settings.Region, "placement-group/"+g.Name), ID: g.ID, Name: g.Name, Partitions: g.Partitions,
		State: "available", Strategy: g.Strategy, Tags: g.Tags,
	}
	if g.Strategy == StrategySpread {
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
	g := &Group{Name: c.Params.String("GroupName"), Strategy: cmp.Or(c.Params.String("Strategy"), StrategyCluster), Tags: world.TagsFor(specs, "placement-group")}
	if g.Partitions, err = c.Params.Int("PartitionCount", 0); err != nil {
		return nil, err
	}
	if _, err := st.PlacementNamed("", g.Name); err == nil {
		return nil, wire.Errorf("InvalidPlacementGroup.Duplicate", "The placement group '%s' already exists.", g.Name)
	}
	switch {
	case g.Name == "":
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter groupName")
	case !slices.Contains([]string{StrategyCluster, StrategySpread, StrategyPartition}, g.Strategy):
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter strategy is invalid.", g.Strategy)
	case g.Partitions != 0 && g.Strategy != StrategyPartition:
		return nil, wire.Errorf("InvalidParameterCombination", "The parameter PartitionCount may only be used with placement groups that have the partition strategy.")
	case g.Partitions < 0 || g.Partitions > partitionsMax:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%d) for parameter PartitionCount is invalid. It must be between 1 and %d.", g.Partitions, partitionsMax)
	case g.Strategy == StrategyPartition:
		g.Partitions = cmp.Or(g.Partitions, partitionsUsual)
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	st.addPlacement(g)
	return struct {
		Group GroupXML `xml:"placementGroup"`
	}{st.PlacementAnswer(g)}, nil
}

func deletePlacementGroup(c *call) (any, error) {
	g, err := c.server.PlacementNamed("", c.Params.String("GroupName"))
	if err != nil {
		return nil, err
	}
	if len(c.server.Placed(g, c.At)) > 0 {
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
	byID, err := world.ChosenByID(c.Params.Strings("GroupId"), all, func(g *Group) string { return g.ID },
		"InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.")
	if err != nil {
		return nil, err
	}
	chosen, err := world.ChosenByID(c.Params.Strings("GroupName"), byID, func(g *Group) string { return g.Name },
		"InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.")
	if err != nil {
		return nil, err
	}
	chosen, err = world.Matching(c.Params, chosen, st.placementFields(), func(g *Group) world.Tags { return g.Tags.Searchable(c.At) })
	if err != nil {
		return nil, err
	}
	var answer struct {
		Groups []GroupXML `xml:"placementGroupSet>item"`
	}
	for _, g := range chosen {
		answer.Groups = append(answer.Groups, st.PlacementAnswer(g))
	}
	return answer, nil
}

func (s *Layout) placementFields() world.Fields[*Group] {
	return world.Fields[*Group]{
		"group-arn":  world.One(func(g *Group) string { return s.PlacementAnswer(g).ARN }),
		"group-name": world.One(func(g *Group) string { return g.Name }),
		"state":      world.One(func(*Group) string { return "available" }),
		"strategy":   world.One(func(g *Group) string { return g.Strategy }),
		"spread-level": func(g *Group) []string {
			if g.Strategy != StrategySpread {
				return nil
			}
			return []string{"rack"}
		},
	}
}

// Placed are the instances that a group has, pending or running.
func (s *Layout) Placed(g *Group, now time.Time) []instance.Live {
	return slices.DeleteFunc(s.Remembered(now), func(l instance.Live) bool {
		return l.Placed != g.ID || l.State != market.Pending && l.State != market.Running
	})
}

// ClusterZone is the one zone that the instances of a cluster group are in; empty
// while it has none, and for other strategies.
func (s *Layout) ClusterZone(g *Group, now time.Time) string {
	if there := s.Placed(g, now); g.Strategy == StrategyCluster && len(there) > 0 {
		return there[0].Zone.Name
	}
	return ""
}

// AddPlacementGroup puts a placement group into the account and returns its ID. Of
// a partition group, partitions is how many it has.
func (s *Layout) AddPlacementGroup(name, strategy string, partitions int) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := &Group{Name: name, Strategy: strategy, Partitions: partitions}
	s.addPlacement(g)
	return g.ID
}

func (s *Layout) addPlacement(g *Group) {
	g.ID = s.NewID("pg")
	if s.Placements == nil {
		s.Placements = map[string]*Group{} // of an account saved by an older version
	}
	s.Placements[g.ID] = g
}
