package emulator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// group makes a placement group and a launch template that puts instances into it.
func (a *account) group(name string, strategy types.PlacementStrategy, partitions int32) (id string) {
	a.Helper()
	in := &ec2.CreatePlacementGroupInput{GroupName: aws.String(name), Strategy: strategy}
	if partitions > 0 {
		in.PartitionCount = aws.Int32(partitions)
	}
	out, err := a.ec2.CreatePlacementGroup(context.Background(), in)
	a.must(err)
	a.template(name, func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{GroupId: out.PlacementGroup.GroupId}
	})
	return *out.PlacementGroup.GroupId
}

// launched is how many instances came and the codes of what was refused.
func launched(out *ec2.CreateFleetOutput) string {
	n, codes := 0, []string(nil)
	for _, i := range out.Instances {
		n += len(i.InstanceIds)
	}
	for _, e := range out.Errors {
		codes = append(codes, *e.ErrorCode)
	}
	return fmt.Sprint(n, codes)
}

// "A rack level spread placement group supports a maximum of seven running instances
// per Availability Zone", each of another zone counts by itself.
func TestASpreadGroupHasSevenInstancesInAZone(t *testing.T) {
	a := open(t, noLags)
	a.group("apart", types.PlacementStrategySpread, 0)
	for _, step := range []struct {
		zone string
		n    int32
		want string
	}{
		{"us-east-1a", 9, "7 [InsufficientInstanceCapacity]"},
		{"us-east-1a", 1, "0 [InsufficientInstanceCapacity]"},
		{"us-east-1b", 2, "2 []"},
	} {
		out, err := a.fleet("apart", step.n, overrides(a.override("m5.large", step.zone)))
		a.must(err)
		if got := launched(out); got != step.want {
			t.Errorf("%d in %s: %s, want %s", step.n, step.zone, got, step.want)
		}
	}
}

// "A cluster placement group can't span multiple Availability Zones", and a launch
// into it fails where there is no room beside the instances that it has.
func TestAClusterGroupIsInOneZone(t *testing.T) {
	a := open(t, noLags)
	id := a.group("near", types.PlacementStrategyCluster, 0)
	a.server.LimitPlacement(id, 3)
	for _, step := range []struct {
		kind, zone string
		n          int32
		want       string
	}{
		{"m5.large", "us-east-1b", 2, "2 []"},
		{"m5.large", "us-east-1a", 1, "0 [InvalidParameterCombination]"},
		{"t3.large", "us-east-1b", 1, "0 [InvalidParameterCombination]"}, // burstable types are not supported
		{"m5.large", "us-east-1b", 2, "1 [InsufficientInstanceCapacity]"},
	} {
		out, err := a.fleet("near", step.n, overrides(a.override(step.kind, step.zone)))
		a.must(err)
		if got := launched(out); got != step.want {
			t.Errorf("%d %s in %s: %s, want %s", step.n, step.kind, step.zone, got, step.want)
		}
	}
}

// "If you don't specify a partition, Amazon EC2 distributes the instances evenly
// across all partitions."
func TestEC2FillsPartitionsEvenly(t *testing.T) {
	a := open(t, noLags)
	a.group("parts", types.PlacementStrategyPartition, 3)
	_, err := a.fleet("parts", 7, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	out, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: filters("placement-group-name", "parts")})
	a.must(err)
	var got []int32
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			got = append(got, aws.ToInt32(i.Placement.PartitionNumber))
		}
	}
	if slices.Sort(got); !slices.Equal(got, []int32{1, 1, 1, 2, 2, 3, 3}) {
		t.Errorf("partitions are %v", got)
	}
}

func TestPlacementGroupsAreFoundMadeAndRemoved(t *testing.T) {
	a := open(t, noLags)
	ctx := context.Background()
	id := a.group("web", types.PlacementStrategyPartition, 0)
	for name, in := range map[string]*ec2.DescribePlacementGroupsInput{
		"by name": {GroupNames: []string{"web"}}, "by id": {GroupIds: []string{id}}, "by strategy": {Filters: filters("strategy", "partition")},
	} {
		out, err := a.ec2.DescribePlacementGroups(ctx, in)
		a.must(err)
		if len(out.PlacementGroups) != 1 || *out.PlacementGroups[0].GroupId != id || *out.PlacementGroups[0].PartitionCount != 2 ||
			out.PlacementGroups[0].State != types.PlacementGroupStateAvailable {
			t.Errorf("%s: %+v; want the group with 2 partitions, which is the usual", name, out.PlacementGroups)
		}
	}
	refused := map[string]func() error{
		"InvalidPlacementGroup.Unknown": func() error {
			_, err := a.ec2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{GroupNames: []string{"nobody"}})
			return err
		},
		"InvalidPlacementGroup.Duplicate": func() error {
			_, err := a.ec2.CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: aws.String("web")})
			return err
		},
		"InvalidParameterValue": func() error {
			_, err := a.ec2.CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: aws.String("many"), Strategy: types.PlacementStrategyPartition, PartitionCount: aws.Int32(8)})
			return err
		},
		"InvalidPlacementGroup.InUse": func() error {
			_, err := a.fleet("web", 1, overrides(a.override("m5.large", "us-east-1a")))
			a.must(err)
			_, err = a.ec2.DeletePlacementGroup(ctx, &ec2.DeletePlacementGroupInput{GroupName: aws.String("web")})
			return err
		},
	}
	for want, do := range refused {
		if got := code(do()); got != want {
			t.Errorf("got code %q, want %s", got, want)
		}
	}
}
