package audit

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/rights"
)

// Subject is what calls are tried on.
type Subject struct {
	Cluster    string // its name in EKS
	ClusterARN string
	Queue      string // name of the interruption queue; empty: none
}

// attempt makes one call that changes nothing: a read, or a dry run.
type attempt func(ctx context.Context, a *Auditor, s Subject) error

// Try makes one call for each action of the parts, with the caller's own rights: reads, and dry runs
// of EC2. Actions that cannot be called without changing something, or without something that is
// there already, are Unknown.
func (a *Auditor) Try(ctx context.Context, parts []rights.Part, s Subject) []Finding {
	var all []Finding
	tried := map[string]Finding{}
	for _, p := range parts {
		for _, g := range p.Grants {
			for _, action := range g.Actions {
				f := finding(g, action, Unknown, "it can only be simulated, which takes the right iam:SimulatePrincipalPolicy on the role")
				call, known := attempts[action]
				switch before, again := tried[action]; {
				case again:
					f.State, f.Why = before.State, before.Why
				case known:
					f.State, f.Why = judged(call(ctx, a, s))
				}
				tried[action] = f
				all = append(all, f)
			}
		}
	}
	return all
}

// judged is what an answer says of the right to call.
func judged(err error) (State, string) {
	switch {
	case err == nil, fault.Code(err) == "DryRunOperation", fault.NotFound(err), fault.TemplateNotFound(fault.Code(err)):
		return Allowed, ""
	case fault.Denied(err):
		return Missing, fault.Message(err)
	}
	return Unknown, fmt.Sprintf("AWS did not say: %v", err)
}

// none is the name of what is not there.
const none = "daemok-iam-check"

var attempts = map[string]attempt{
	"ec2:DescribeCapacityReservations": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeImages": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeInstances": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeInstanceStatus": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeInstanceTypeOfferings": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeInstanceTypes": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeLaunchTemplates": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribePlacementGroups": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeSecurityGroups": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeSpotPriceHistory": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:DescribeSubnets": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ec2:CreateLaunchTemplate": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{DryRun: aws.Bool(true), LaunchTemplateName: aws.String(none),
			LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: types.InstanceTypeM5Large}, TagSpecifications: tagged(s, types.ResourceTypeLaunchTemplate)})
		return err
	},
	"ec2:CreateFleet": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EC2.CreateFleet(ctx, &ec2.CreateFleetInput{DryRun: aws.Bool(true), Type: types.FleetTypeInstant,
			LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{
				LaunchTemplateName: aws.String(none), Version: aws.String("$Latest")}}},
			TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand},
			TagSpecifications:           tagged(s, types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeFleet)})
		return err
	},
	"eks:DescribeCluster": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(s.Cluster)})
		return err
	},
	"iam:GetInstanceProfile": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(none)})
		return err
	},
	"iam:ListInstanceProfiles": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.IAM.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{MaxItems: aws.Int32(1)})
		return err
	},
	"ssm:GetParameter": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/" + none)})
		return err
	},
	"pricing:GetProducts": func(ctx context.Context, a *Auditor, _ Subject) error {
		if a.clients.Pricing == nil {
			return nil // the region has no price list to ask
		}
		_, err := a.clients.Pricing.GetProducts(ctx, &pricing.GetProductsInput{ServiceCode: aws.String("AmazonEC2"), MaxResults: aws.Int32(1)})
		return err
	},
	"servicequotas:ListServiceQuotas": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.Quotas.ListServiceQuotas(ctx, &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2"), MaxResults: aws.Int32(1)})
		return err
	},
	"arc-zonal-shift:GetManagedResource": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.ARC.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(s.ClusterARN)})
		return err
	},
	"sqs:GetQueueUrl": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.Queue)})
		return err
	},
	"sqs:ListQueueTags": func(ctx context.Context, a *Auditor, s Subject) error {
		found, err := a.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.Queue)})
		if err != nil {
			return err
		}
		_, err = a.clients.SQS.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: found.QueueUrl})
		return err
	},
}

// tagged are the tags that what the controller makes carries.
func tagged(s Subject, kinds ...types.ResourceType) (all []types.TagSpecification) {
	for _, kind := range kinds {
		all = append(all, types.TagSpecification{ResourceType: kind, Tags: []types.Tag{
			{Key: aws.String("kubernetes.io/cluster/" + s.Cluster), Value: aws.String("owned")},
			{Key: aws.String("eks:eks-cluster-name"), Value: aws.String(s.Cluster)},
			{Key: aws.String("karpenter.sh/nodepool"), Value: aws.String("dry-run")},
		}})
	}
	return all
}
