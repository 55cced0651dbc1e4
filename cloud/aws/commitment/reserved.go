package commitment

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/core/commitment"
)

// platforms are the product descriptions of Reserved Instances for Linux without a license. EC2 names those that were
// bought for a VPC, when there was another choice, by themselves.
var platforms = []string{
	string(types.RIProductDescriptionLinuxUnix), string(types.RIProductDescriptionLinuxUnixAmazonVpc),
}

// reserved reads Reserved Instances that pay, sorted by ID. EC2 gives all of them in one answer.
func (r Reader) reserved(ctx context.Context) ([]commitment.ReservedInstances, map[string]time.Time, error) {
	answer, err := r.EC2.DescribeReservedInstances(ctx, &ec2.DescribeReservedInstancesInput{Filters: []types.Filter{
		filter("state", string(types.ReservedInstanceStateActive)),
		filter("product-description", platforms...),
	}})
	if err != nil {
		return nil, nil, fault.Wrap(ActionReserved, err)
	}
	var all []commitment.ReservedInstances
	ends := map[string]time.Time{}
	for i := range answer.ReservedInstances {
		of := &answer.ReservedInstances[i]
		one, ok := convert(of)
		if !ok {
			continue
		}
		all = append(all, one)
		if of.End != nil {
			ends[one.ID] = of.End.UTC()
		}
	}
	slices.SortFunc(all, func(a, b commitment.ReservedInstances) int { return cmp.Compare(a.ID, b.ID) })
	return all, ends, nil
}

// convert is what plans know of Reserved Instances; ok is false for those that pay for no node here.
func convert(r *types.ReservedInstances) (out commitment.ReservedInstances, ok bool) {
	out = commitment.ReservedInstances{ID: aws.ToString(r.ReservedInstancesId), InstanceType: string(r.InstanceType),
		Count: int64(aws.ToInt32(r.InstanceCount)), Account: true}
	if out.ID == "" || out.Count < 1 || r.State != types.ReservedInstanceStateActive ||
		r.InstanceTenancy != types.TenancyDefault || !slices.Contains(platforms, string(r.ProductDescription)) {
		return out, false
	}
	switch r.Scope {
	case types.ScopeRegional:
		out.Flexible = flexible(out.InstanceType)
	case types.ScopeAvailabilityZone:
		out.Zone = aws.ToString(r.AvailabilityZone)
		return out, out.Zone != ""
	default:
		return out, false
	}
	return out, true
}

// inflexible begins the names of families whose Reserved Instances are for one size. AWS's page "How Reserved Instances
// are applied" excepts bare metal and, by name, families with accelerators (G4ad, G4dn, G5, G5g, Inf1, with later ones
// added as they come), of high-performance computing and of high memory from size flexibility. This list is longer than
// that one where in doubt: Reserved Instances that are taken for inflexible only pay for fewer instances in plans than
// they do on the bill.
var inflexible = []string{
	"dl", "f1", "f2", "g4", "g5", "g6", "g7", "gr", "hpc", "inf", "p4", "p5", "p6", "trn", "u-", "u7", "vt",
}

func flexible(instanceType string) bool {
	family, size, _ := strings.Cut(instanceType, ".")
	return !strings.HasPrefix(size, "metal") &&
		!slices.ContainsFunc(inflexible, func(begins string) bool { return strings.HasPrefix(family, begins) })
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}
