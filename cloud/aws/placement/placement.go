// Package placement finds the placement group that a class selects, and how many instances it takes in
// each zone.
//
// It promises to report zero where a group takes no more instances: a spread group that is full in a
// zone, and all zones except that of a cluster group's instances. It creates and deletes no groups.
package placement

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// eachZone is how many running instances a spread group takes in a zone.
const eachZone = 7

// Any is returned where a group takes as many instances as can be had.
const Any = 1 << 40

type api interface {
	DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error)
	ec2.DescribeInstancesAPIClient
}

// Finder looks placement groups up.
type Finder struct{ API api }

// Find returns the group that the term names. It is a *nodeclass.MissingError where
// there is none, or where it is not for use.
func (f Finder) Find(ctx context.Context, term nodeclass.PlacementTerm) (nodeclass.PlacementGroup, error) {
	in := &ec2.DescribePlacementGroupsInput{}
	if term.ID != "" {
		in.GroupIds = []string{term.ID}
	} else {
		in.GroupNames = []string{term.Name}
	}
	out, err := f.API.DescribePlacementGroups(ctx, in)
	switch {
	case fault.NotFound(err), err == nil && len(out.PlacementGroups) == 0:
		return nodeclass.PlacementGroup{}, &nodeclass.MissingError{Reason: nodeclass.PlacementGroupNotFound, Text: fmt.Sprintf(
			"there is no placement group %s, which spec.placementGroupSelector names: make it, or name another", cmp.Or(term.ID, term.Name))}
	case err != nil:
		return nodeclass.PlacementGroup{}, fault.Wrap("ec2:DescribePlacementGroups", err)
	}
	return read(&out.PlacementGroups[0])
}

func read(g *types.PlacementGroup) (nodeclass.PlacementGroup, error) {
	out := nodeclass.PlacementGroup{
		ID: aws.ToString(g.GroupId), Name: aws.ToString(g.GroupName), Strategy: string(g.Strategy), Partitions: int(aws.ToInt32(g.PartitionCount)),
	}
	refused := func(why string) (nodeclass.PlacementGroup, error) {
		return nodeclass.PlacementGroup{}, &nodeclass.MissingError{Reason: nodeclass.PlacementGroupResolutionFailed, Text: fmt.Sprintf(
			"placement group %s (%s) %s: wait, or have spec.placementGroupSelector name another", out.Name, out.ID, why)}
	}
	switch {
	case g.State != types.PlacementGroupStateAvailable:
		return refused(fmt.Sprintf("is %s", g.State))
	case out.Strategy != nodeclass.Cluster && out.Strategy != nodeclass.Spread && out.Strategy != nodeclass.Partition:
		return refused(fmt.Sprintf("has the strategy %s, of which nothing is known", g.Strategy))
	}
	return out, nil
}

// Room says how many instances more a group takes in each of the zones, by
// PlacementGroup.Stock. A partition group takes as many as can be had, and no call is made
// for it.
func (f Finder) Room(ctx context.Context, g nodeclass.PlacementGroup, zones []string) (map[string]int64, error) {
	if g.Strategy == nodeclass.Partition {
		return nil, nil
	}
	there, err := f.count(ctx, g)
	if err != nil {
		return nil, err
	}
	room := map[string]int64{}
	for _, zone := range zones {
		switch {
		case g.Strategy == nodeclass.Spread:
			room[g.ReservedCapacity(zone)] = max(0, eachZone-there[zone])
		case len(there) == 0 || there[zone] > 0:
			room[g.ReservedCapacity(zone)] = Any
		default:
			room[g.ReservedCapacity(zone)] = 0
		}
	}
	return room, nil
}

// count is how many instances the group has in each zone, whatever launched them.
func (f Finder) count(ctx context.Context, g nodeclass.PlacementGroup) (map[string]int64, error) {
	there := map[string]int64{}
	pages := ec2.NewDescribeInstancesPaginator(f.API, &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("placement-group-name"), Values: []string{g.Name}},
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeInstances", err)
		}
		for _, r := range page.Reservations {
			for i := range r.Instances {
				if p := r.Instances[i].Placement; p != nil {
					there[aws.ToString(p.AvailabilityZone)]++
				}
			}
		}
	}
	return there, nil
}
