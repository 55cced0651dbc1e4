package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
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

	example *types.Instance // of the cluster; nil: there is none, or it may not be seen
}

// attempt makes one call that changes nothing: a read, or a dry run.
type attempt func(ctx context.Context, a *Auditor, s Subject) error

// Try makes one call for each action of each statement, with the caller's own rights: reads, and dry
// runs of EC2, for which an instance of the cluster serves as an example where there is one. What
// cannot be found out so is Unknown.
func (a *Auditor) Try(ctx context.Context, parts []rights.Part, s Subject) []Finding {
	s.example = a.exampleOf(ctx, s.Cluster)
	var all []Finding
	for _, p := range parts {
		for _, g := range p.Grants {
			for _, action := range g.Actions {
				f := finding(g, action, Unknown, "it can only be simulated, which takes the right iam:SimulatePrincipalPolicy on the role")
				if call, known := attempts[g.Sid+" "+action]; known {
					f.State, f.Why = judged(action, call(ctx, a, s))
				}
				all = append(all, f)
			}
		}
	}
	return all
}

// errNoExample says that there is nothing of the cluster's to try a call on.
var errNoExample = errors.New("the cluster has no instance yet to try it on: repeat it with one, or with the right iam:SimulatePrincipalPolicy on the role")

// judged is what an answer says of the right to an action.
func judged(action string, err error) (State, string) {
	switch {
	case err == nil, fault.Code(err) == "DryRunOperation", fault.NotFound(err), fault.TemplateNotFound(fault.Code(err)):
		return Allowed, ""
	case errors.Is(err, errNoExample):
		return Unknown, err.Error()
	case fault.Denied(err) && refusesAnother(fault.Message(err), action):
		return Unknown, "AWS refused the call for lack of another right first: " + words(err)
	case fault.Denied(err):
		return Missing, words(err)
	}
	return Unknown, fmt.Sprintf("AWS did not say: %v", err)
}

// perform is how AWS begins to name the action that was refused.
const perform = "not authorized to perform: "

// refusesAnother reports whether AWS names another action than the one that was asked for.
func refusesAnother(message, action string) bool {
	return strings.Contains(message, perform) && !strings.Contains(message, perform+action+" ")
}

// words are AWS's, without the part that it alone can read.
func words(err error) string {
	text, _, _ := strings.Cut(fault.Message(err), " Encoded authorization failure message:")
	return text
}

// none is the name of what is not there.
const none = "daemok-iam-check"

// attempts are by statement and action.
var attempts = map[string]attempt{
	"ReadEC2 ec2:DescribeCapacityReservations": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeImages": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeInstances": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeInstanceStatus": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeInstanceTypeOfferings": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeInstanceTypes": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeLaunchTemplates": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribePlacementGroups": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeSecurityGroups": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeSpotPriceHistory": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadEC2 ec2:DescribeSubnets": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{DryRun: aws.Bool(true)})
		return err
	},
	"LaunchTagged ec2:CreateLaunchTemplate": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{DryRun: aws.Bool(true), LaunchTemplateName: aws.String(none),
			LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: types.InstanceTypeM5Large}, TagSpecifications: tagged(s, types.ResourceTypeLaunchTemplate)})
		return err
	},
	"TagAtLaunch ec2:CreateTags": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{DryRun: aws.Bool(true), LaunchTemplateName: aws.String(none),
			LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: types.InstanceTypeM5Large}, TagSpecifications: tagged(s, types.ResourceTypeLaunchTemplate)})
		return err
	},
	"LaunchInSharedResources ec2:RunInstances": run,
	"LaunchTagged ec2:RunInstances":            run,
	"PassNodeRole iam:PassRole":                run,
	"TagInstances ec2:CreateTags": func(ctx context.Context, a *Auditor, s Subject) error {
		if s.example == nil {
			return errNoExample
		}
		_, err := a.clients.EC2.CreateTags(ctx, &ec2.CreateTagsInput{DryRun: aws.Bool(true), Resources: []string{aws.ToString(s.example.InstanceId)},
			Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String("dry-run")}}})
		return err
	},
	"EndOwned ec2:TerminateInstances": func(ctx context.Context, a *Auditor, s Subject) error {
		if s.example == nil {
			return errNoExample
		}
		_, err := a.clients.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{DryRun: aws.Bool(true), InstanceIds: []string{aws.ToString(s.example.InstanceId)}})
		return err
	},
	"LaunchTagged ec2:CreateFleet": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EC2.CreateFleet(ctx, &ec2.CreateFleetInput{DryRun: aws.Bool(true), Type: types.FleetTypeInstant,
			LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{
				LaunchTemplateName: aws.String(none), Version: aws.String("$Latest")}}},
			TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand},
			TagSpecifications:           tagged(s, types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeFleet)})
		return err
	},
	"DescribeCluster eks:DescribeCluster": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(s.Cluster)})
		return err
	},
	"ReadInstanceProfiles iam:GetInstanceProfile": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(none)})
		return err
	},
	"ListInstanceProfiles iam:ListInstanceProfiles": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.IAM.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{MaxItems: aws.Int32(1)})
		return err
	},
	"ReadImageParameters ssm:GetParameter": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/" + none)})
		return err
	},
	"ReadPrices pricing:GetProducts": func(ctx context.Context, a *Auditor, _ Subject) error {
		if a.clients.Pricing == nil {
			return nil // the region has no price list to ask
		}
		_, err := a.clients.Pricing.GetProducts(ctx, &pricing.GetProductsInput{ServiceCode: aws.String("AmazonEC2"), MaxResults: aws.Int32(1)})
		return err
	},
	"ReadQuotas servicequotas:ListServiceQuotas": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.Quotas.ListServiceQuotas(ctx, &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2"), MaxResults: aws.Int32(1)})
		return err
	},
	"ReadZonalShifts arc-zonal-shift:GetManagedResource": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.ARC.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(s.ClusterARN)})
		return err
	},
	"ReadReservedInstances ec2:DescribeReservedInstances": func(ctx context.Context, a *Auditor, _ Subject) error {
		_, err := a.clients.EC2.DescribeReservedInstances(ctx,
			&ec2.DescribeReservedInstancesInput{DryRun: aws.Bool(true)})
		return err
	},
	"ReadSavingsPlans savingsplans:DescribeSavingsPlans": func(ctx context.Context, a *Auditor, _ Subject) error {
		if a.clients.Plans == nil {
			return nil // of this Region's partition they are not asked for
		}
		in := &savingsplans.DescribeSavingsPlansInput{MaxResults: aws.Int32(1)}
		_, err := a.clients.Plans.DescribeSavingsPlans(ctx, in)
		return err
	},
	"ReadInterruptionQueue sqs:GetQueueUrl": func(ctx context.Context, a *Auditor, s Subject) error {
		_, err := a.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.Queue)})
		return err
	},
	"ReadQueueTags sqs:ListQueueTags": func(ctx context.Context, a *Auditor, s Subject) error {
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

// exampleOf is an instance that the controller has launched for the cluster; nil where none is
// there, or can be seen.
func (a *Auditor) exampleOf(ctx context.Context, cluster string) *types.Instance {
	out, err := a.clients.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("tag:kubernetes.io/cluster/" + cluster), Values: []string{"owned"}},
		{Name: aws.String("tag-key"), Values: []string{"karpenter.sh/nodepool"}},
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	if err != nil || len(out.Reservations) == 0 || len(out.Reservations[0].Instances) == 0 {
		return nil // ReadEC2 says what is missing
	}
	return &out.Reservations[0].Instances[0]
}

// run rehearses the launch of an instance like the example.
func run(ctx context.Context, a *Auditor, s Subject) error {
	if s.example == nil {
		return errNoExample
	}
	in := &ec2.RunInstancesInput{DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), ImageId: s.example.ImageId, InstanceType: s.example.InstanceType,
		NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), SubnetId: s.example.SubnetId}},
		TagSpecifications: tagged(s, types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface)}
	for _, g := range s.example.SecurityGroups {
		in.NetworkInterfaces[0].Groups = append(in.NetworkInterfaces[0].Groups, aws.ToString(g.GroupId))
	}
	if p := s.example.IamInstanceProfile; p != nil {
		in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Arn: p.Arn}
	}
	_, err := a.clients.EC2.RunInstances(ctx, in)
	return err
}
