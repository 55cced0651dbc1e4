package commitment

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/instance"
	"github.com/daemok/daemok/core/commitment"
)

// instancesMost is how many instances EC2 lists at a time, at most.
const instancesMost = 1000

// running lists the instances that run in the Region, are none of the cluster's by their tags, and that commitments may
// pay for, those that users list included: of all types. They are sorted by provider ID. EC2 filters by what it can,
// and most of what it says of an instance is not decoded. It has no filter for instances that are neither spot nor in a
// capacity block.
func (r Reader) running(ctx context.Context) ([]cloud.RunningInstance, error) {
	filters := []types.Filter{
		filter("instance-state-name", string(types.InstanceStateNameRunning)),
		filter("tenancy", string(types.TenancyDefault)), filter("platform-details", platforms[0]),
	}
	var out []cloud.RunningInstance
	pages := ec2.NewDescribeInstancesPaginator(r.EC2,
		&ec2.DescribeInstancesInput{Filters: filters, MaxResults: aws.Int32(instancesMost)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx, func(o *ec2.Options) { o.APIOptions = append(o.APIOptions, unread) })
		if err != nil {
			return nil, fault.Wrap(actionInstances, err)
		}
		for i := range page.Reservations {
			for j := range page.Reservations[i].Instances {
				of := &page.Reservations[i].Instances[j]
				if of.InstanceLifecycle == "" && of.Placement != nil && !r.Own(tagsOf(of)) {
					out = append(out, r.runs(of))
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b cloud.RunningInstance) int { return cmp.Compare(a.ProviderID, b.ProviderID) })
	return out, nil
}

// unread is most of what EC2 says of an instance.
var unread = client.Without("networkInterfaceSet", "blockDeviceMapping", "groupSet", "metadataOptions", "cpuOptions",
	"enclaveOptions", "hibernationOptions", "maintenanceOptions", "privateDnsNameOptions",
	"capacityReservationSpecification", "monitoring", "productCodes", "networkPerformanceOptions")

func (r Reader) runs(i *types.Instance) cloud.RunningInstance {
	zone, instanceType := aws.ToString(i.Placement.AvailabilityZone), string(i.InstanceType)
	return cloud.RunningInstance{ProviderID: instance.ProviderID(zone, aws.ToString(i.InstanceId)),
		Usage: commitment.Usage{InstanceType: instanceType, Zone: zone, OnDemand: r.Price(instanceType)}}
}

func tagsOf(i *types.Instance) map[string]string {
	out := make(map[string]string, len(i.Tags))
	for _, t := range i.Tags {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}
