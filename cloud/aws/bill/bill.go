// Package bill reports what the instances of a NodePool cost, for measurements and tests.
//
// It promises current prices: on-demand prices from the price list, spot prices as EC2 reports them.
package bill

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

// Of is what EC2 charges now for the instances of a NodePool that are pending or running, in dollars an hour,
// and how many these are.
func Of(ctx context.Context, config aws.Config, pool string) (dollars float64, instances int, err error) {
	account, data, region := ec2.NewFromConfig(config), ec2data.Load(), config.Region
	list := ec2.NewDescribeInstancesPaginator(account, &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("tag:karpenter.sh/nodepool"), Values: []string{pool}},
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	for list.HasMorePages() {
		page, err := list.NextPage(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("list instances: %w", err)
		}
		for _, r := range page.Reservations {
			for i := range r.Instances {
				price, err := priceOf(ctx, account, data, region, &r.Instances[i])
				if err != nil {
					return 0, 0, err
				}
				instances, dollars = instances+1, dollars+price
			}
		}
	}
	return dollars, instances, nil
}

func priceOf(ctx context.Context, account *ec2.Client, data *ec2data.Data, region string, i *types.Instance) (float64, error) {
	if i.InstanceLifecycle != types.InstanceLifecycleTypeSpot {
		kind, known := data.Type(string(i.InstanceType))
		if !known {
			return 0, fmt.Errorf("no price of %s is known", i.InstanceType)
		}
		price, _, _ := kind.OnDemandUSD(region)
		return price, nil
	}
	got, err := account.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{
		AvailabilityZone: i.Placement.AvailabilityZone, InstanceTypes: []types.InstanceType{i.InstanceType},
		ProductDescriptions: []string{"Linux/UNIX"}, StartTime: aws.Time(time.Now()),
	})
	if err != nil || len(got.SpotPriceHistory) == 0 {
		return 0, fmt.Errorf("spot price of %s in %s: %w", i.InstanceType, *i.Placement.AvailabilityZone, err)
	}
	return strconv.ParseFloat(*got.SpotPriceHistory[0].SpotPrice, 64)
}
