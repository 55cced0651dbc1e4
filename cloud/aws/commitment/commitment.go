// Package commitment reads the Reserved Instances and Savings Plans of the account, and which instances use them that
// are no nodes of the cluster.
//
// It promises to list those commitments alone that may pay for Linux instances of default tenancy in the Region, with
// their ends, and to keep what it read of each kind before where that cannot be read. It divides nothing: that is for
// core/commitment. It does not see other accounts of an organization, other Regions, Fargate and Lambda, which may use
// the same commitments.
package commitment

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"

	"github.com/daemok/daemok/core/quantity"
)

// Reader asks AWS.
type Reader struct {
	EC2    ec2API
	Plans  plansAPI // nil: Savings Plans cannot be asked for
	Region string   // of the cluster
	// Own reports whether tags are those of an instance of the cluster.
	Own func(tags map[string]string) bool
	// Price is what an instance type costs on demand, on Linux with default tenancy; 0: that is not known.
	Price func(instanceType string) quantity.MicroUSDPerHour

	perPage int32 // how many Savings Plans, or rates, are asked for at a time; 0: as many as AWS gives
}

type ec2API interface {
	ec2.DescribeInstancesAPIClient
	DescribeReservedInstances(context.Context, *ec2.DescribeReservedInstancesInput, ...func(*ec2.Options)) (
		*ec2.DescribeReservedInstancesOutput, error)
}

type plansAPI interface {
	DescribeSavingsPlans(context.Context, *savingsplans.DescribeSavingsPlansInput, ...func(*savingsplans.Options)) (
		*savingsplans.DescribeSavingsPlansOutput, error)
	DescribeSavingsPlanRates(context.Context, *savingsplans.DescribeSavingsPlanRatesInput,
		...func(*savingsplans.Options)) (*savingsplans.DescribeSavingsPlanRatesOutput, error)
}

// The actions that are called, as IAM names them.
const (
	ActionReserved = "ec2:DescribeReservedInstances"
	ActionPlans    = "savingsplans:DescribeSavingsPlans"
	ActionRates    = "savingsplans:DescribeSavingsPlanRates"

	actionInstances = "ec2:DescribeInstances"
)
