// Package quota knows how many vCPUs AWS lets the account run, and how many run or are reserved.
//
// It promises to report that an instance exceeds a limit only if AWS reported the limit: without
// permission to read Service Quotas, no instance does. It counts launches and terminations at once,
// before running instances are counted again. It refuses nothing itself.
package quota

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/core/cluster"
)

// Limit names what vCPUs are limited together: a group of families, spot and on demand
// apart.
type Limit struct {
	Group  string // "Standard", as catalog.Quota has it
	Option cluster.Option
}

// codes are those that Service Quotas knows the limits by
// (https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html). AWS limits
// the generations of spot instances of P apart.
var codes = map[string]Limit{
	"L-1216C47A": {"Standard", cluster.OnDemand}, "L-34B43A08": {"Standard", cluster.Spot},
	"L-DB2E81BA": {"G and VT", cluster.OnDemand}, "L-3819A6DF": {"G and VT", cluster.Spot},
	"L-417A185B": {"P", cluster.OnDemand}, "L-7212CCBC": {"P2 to P4", cluster.Spot}, "L-C4BD4855": {"P5", cluster.Spot},
	"L-7295265B": {"X", cluster.OnDemand}, "L-E3A00192": {"X", cluster.Spot},
	"L-74FC7D96": {"F", cluster.OnDemand}, "L-88CF9481": {"F", cluster.Spot},
	"L-1945791B": {"Inf", cluster.OnDemand}, "L-B5D1601B": {"Inf", cluster.Spot},
	"L-2C3B7624": {"Trn", cluster.OnDemand}, "L-6B0D517C": {"Trn", cluster.Spot},
	"L-6E869C2A": {"DL", cluster.OnDemand}, "L-85EED4F7": {"DL", cluster.Spot},
	"L-43DA4232": {"High Memory", cluster.OnDemand}, "L-F7808C92": {"HPC", cluster.OnDemand},
}

// Share is what one instance, or one capacity reservation, counts, and against which limit.
type Share struct {
	Limit
	VCPUs int64
}

// API is what is asked.
type API struct {
	Quotas servicequotas.ListServiceQuotasAPIClient
	EC2    interface {
		ec2.DescribeInstancesAPIClient
		ec2.DescribeCapacityReservationsAPIClient
	}
}

// Limits reads how many vCPUs the account may run, and the account's ID; that is empty
// where no limit says it.
func (a API) Limits(ctx context.Context) (limits map[Limit]int64, account string, err error) {
	limits = map[Limit]int64{}
	pages := servicequotas.NewListServiceQuotasPaginator(a.Quotas, &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2"), MaxResults: aws.Int32(100)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, "", fault.Wrap("servicequotas:ListServiceQuotas", err)
		}
		for _, q := range page.Quotas {
			if of, err := arn.Parse(aws.ToString(q.QuotaArn)); err == nil {
				account = cmp.Or(account, of.AccountID)
			}
			if limit, known := codes[aws.ToString(q.QuotaCode)]; known && q.Value != nil {
				limits[limit] = int64(*q.Value)
			}
		}
	}
	return limits, account, nil
}

// Counter says against which limit instances of an instance type count, and for how many
// vCPUs.
type Counter func(kind string, option cluster.Option) (group string, vCPUs int64)

// Reserved lists what the active capacity reservations that an account owns count, used or
// not: "Capacity Reservations count towards your On-Demand Instance limits"
// (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html). Capacity
// blocks have limits of their own.
func (a API) Reserved(ctx context.Context, account string, of Counter) (map[string]Share, error) {
	out := map[string]Share{}
	pages := ec2.NewDescribeCapacityReservationsPaginator(a.EC2, &ec2.DescribeCapacityReservationsInput{Filters: []types.Filter{
		{Name: aws.String("owner-id"), Values: []string{account}},
		{Name: aws.String("state"), Values: []string{string(types.CapacityReservationStateActive)}},
	}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeCapacityReservations", err)
		}
		for _, r := range page.CapacityReservations {
			if r.ReservationType != types.CapacityReservationTypeCapacityBlock {
				group, vCPUs := of(aws.ToString(r.InstanceType), cluster.OnDemand)
				out[aws.ToString(r.CapacityReservationId)] = Share{Limit{group, cluster.OnDemand}, vCPUs * int64(aws.ToInt32(r.TotalInstanceCount))}
			}
		}
	}
	return out, nil
}

// Running lists what the instances of the whole account count, whatever launched them: those that start or
// run, but for those of capacity blocks and on Dedicated Hosts, which have limits of their own. Where
// reservations are counted, instances in them are not: what they run in counts, with its owner.
func (a API) Running(ctx context.Context, reservedCount bool, of Counter) (map[string]Share, error) {
	out := map[string]Share{}
	pages := ec2.NewDescribeInstancesPaginator(a.EC2, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000),
		Filters: []types.Filter{{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeInstances", err)
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				onHost := i.Placement != nil && i.Placement.Tenancy == types.TenancyHost
				if onHost || reservedCount && aws.ToString(i.CapacityReservationId) != "" {
					continue
				}
				option := cluster.OnDemand
				switch i.InstanceLifecycle {
				case types.InstanceLifecycleTypeCapacityBlock:
					continue
				case types.InstanceLifecycleTypeSpot:
					option = cluster.Spot
				}
				group, vCPUs := of(string(i.InstanceType), option)
				out[aws.ToString(i.InstanceId)] = Share{Limit{group, option}, vCPUs}
			}
		}
	}
	return out, nil
}
