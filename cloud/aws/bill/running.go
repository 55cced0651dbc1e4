package bill

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

// Running is an instance on demand that is pending or running, and so is charged for.
type Running struct {
	ID         string
	LaunchedAt time.Time
	USDPerHour float64
}

// Account is where instances are charged to.
type Account struct{ Config aws.Config }

// Running lists the instances on demand of a NodePool that EC2 charges for now.
func (a Account) Running(ctx context.Context, pool string) (out []Running, err error) {
	list := ec2.NewDescribeInstancesPaginator(ec2.NewFromConfig(a.Config), &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("tag:karpenter.sh/nodepool"), Values: []string{pool}},
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	for list.HasMorePages() {
		page, err := list.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list instances: %w", err)
		}
		for _, r := range page.Reservations {
			for i := range r.Instances {
				x := &r.Instances[i]
				kind, known := ec2data.Load().Type(string(x.InstanceType))
				if !known {
					return nil, fmt.Errorf("no price of %s is known", x.InstanceType)
				}
				price, _, _ := kind.OnDemandUSD(a.Config.Region)
				out = append(out, Running{*x.InstanceId, *x.LaunchTime, price})
			}
		}
	}
	return out, nil
}

// Zones are those in which the account has subnets.
func (a Account) Zones(ctx context.Context) (map[string]bool, error) {
	subnets, err := ec2.NewFromConfig(a.Config).DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
	if err != nil {
		return nil, fmt.Errorf("list subnets: %w", err)
	}
	zones := map[string]bool{}
	for i := range subnets.Subnets {
		zones[*subnets.Subnets[i].AvailabilityZone] = true
	}
	return zones, nil
}
