package instance

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// ProviderID is how a node names its instance.
func ProviderID(zone, id string) string { return "aws:///" + zone + "/" + id }

func convert(i types.Instance) cloud.Instance {
	tags := tagMap(i.Tags)
	m := cloud.Instance{
		ID: aws.ToString(i.InstanceId), Kind: string(i.InstanceType), Option: optionOf(i),
		Image: aws.ToString(i.ImageId), Class: tags[nodeclass.TagClass], Batch: tags[nodeclass.TagBatch],
		LaunchedAt: aws.ToTime(i.LaunchTime).UTC(), Tags: tags, PrivateDNS: aws.ToString(i.PrivateDnsName),
		Subnet: aws.ToString(i.SubnetId), Groups: groupsOf(i),
	}
	if m.Option == cluster.Reserved {
		m.ReservedCapacity = aws.ToString(i.CapacityReservationId)
	}
	if i.State != nil {
		m.State = cloud.State(i.State.Name)
	}
	if i.Placement != nil {
		m.Zone, m.ZoneID = aws.ToString(i.Placement.AvailabilityZone), aws.ToString(i.Placement.AvailabilityZoneId)
		m.Placement = cmp.Or(aws.ToString(i.Placement.GroupId), aws.ToString(i.Placement.GroupName))
		m.Dedicated = i.Placement.Tenancy == types.TenancyDedicated
		if n := aws.ToInt32(i.Placement.PartitionNumber); n > 0 {
			m.Partition = strconv.Itoa(int(n))
		}
	}
	m.ProviderID = ProviderID(m.Zone, m.ID)
	return m
}

// groupsOf lists the groups of the instance's first interface; those that pods bring for
// themselves are on others.
func groupsOf(i types.Instance) []string {
	out := make([]string, 0, len(i.SecurityGroups))
	for _, g := range i.SecurityGroups {
		out = append(out, aws.ToString(g.GroupId))
	}
	slices.Sort(out)
	return out
}

func optionOf(i types.Instance) cluster.Option {
	switch {
	case i.InstanceLifecycle == types.InstanceLifecycleTypeSpot || i.SpotInstanceRequestId != nil && *i.SpotInstanceRequestId != "":
		return cluster.Spot
	case aws.ToString(i.CapacityReservationId) != "":
		return cluster.Reserved
	}
	return cluster.OnDemand
}

func tagMap(tags []types.Tag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}
