package aws

import (
	"context"
	"slices"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// wirePromises are what the adapter relies on beside the port's promises, by the
// documentation of each service.
var wirePromises = []struct {
	name string
	test func(t *testing.T, s *site)
}{
	{"a dry run of what is allowed says so", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{DryRun: sdk.Bool(true)})
		refusedWith(t, "DescribeSubnets", err, "DryRunOperation")
	}},
	{"an unknown filter is an error", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{{Name: sdk.String("colour"), Values: []string{"blue"}}}})
		refusedWith(t, "DescribeSubnets", err, "InvalidParameterValue")
	}},
	{"an unknown subnet is an error", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-0ffffffffffffffff"}})
		refusedWith(t, "DescribeSubnets", err, "InvalidSubnetID.NotFound")
	}},
	{"subnets are found by tag, and tell their zone and free addresses", func(t *testing.T, s *site) {
		out, err := s.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: siteFilters()})
		must(t, err)
		var got []string
		for _, sub := range out.Subnets {
			got = append(got, sdk.ToString(sub.SubnetId))
			if sdk.ToString(sub.AvailabilityZone) == "" || sdk.ToString(sub.AvailabilityZoneId) == "" || sdk.ToInt32(sub.AvailableIpAddressCount) < 100 || sdk.ToString(sub.VpcId) != s.vpc {
				t.Errorf("subnet %s is in %s (%s) of %s with %d free addresses", sdk.ToString(sub.SubnetId), sdk.ToString(sub.AvailabilityZone),
					sdk.ToString(sub.AvailabilityZoneId), sdk.ToString(sub.VpcId), sdk.ToInt32(sub.AvailableIpAddressCount))
			}
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(s.subnets)); !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	}},
	{"tag values may hold wildcards", func(t *testing.T, s *site) {
		for value, want := range map[string]int{"own*": len(s.subnets), "?wned": len(s.subnets), "own?": 0} {
			out, err := s.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{
				{Name: sdk.String("tag:daemok.sh/conformance"), Values: []string{value}}}})
			must(t, err)
			if len(out.Subnets) != want {
				t.Errorf("%q finds %d subnets, want %d", value, len(out.Subnets), want)
			}
		}
	}},
	{"an unknown security group is an error", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{GroupIds: []string{"sg-0ffffffffffffffff"}})
		refusedWith(t, "DescribeSecurityGroups", err, "InvalidGroup.NotFound")
	}},
	{"the name of a security group is taken once in a VPC", func(t *testing.T, s *site) {
		groups, err := s.clients.EC2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{GroupIds: []string{s.group}})
		must(t, err)
		_, err = s.clients.EC2.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{VpcId: &s.vpc, GroupName: groups.SecurityGroups[0].GroupName, Description: sdk.String("again")})
		refusedWith(t, "CreateSecurityGroup", err, "InvalidGroup.Duplicate")
	}},
	{"a VPC that is in use cannot be deleted", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: &s.vpc})
		refusedWith(t, "DeleteVpc", err, "DependencyViolation")
	}},
	{"subnets of a VPC do not overlap", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: &s.vpc, CidrBlock: sdk.String("10.77.0.0/24")})
		refusedWith(t, "CreateSubnet", err, "InvalidSubnet.Conflict")
	}},
	{"an unknown image is an error", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{ImageIds: []string{"ami-0ffffffffffffffff"}})
		refusedWith(t, "DescribeImages", err, "InvalidAMIID.NotFound")
	}},
	{"an unknown machine is an error, and so is what is no ID", func(t *testing.T, s *site) {
		for id, want := range map[string]string{"i-0ffffffffffffffff": "InvalidInstanceID.NotFound", "machine-1": "InvalidInstanceID.Malformed"} {
			_, err := s.clients.EC2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
			refusedWith(t, "DescribeInstances of "+id, err, want)
		}
	}},
	{"what does not exist cannot be tagged", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{"i-0ffffffffffffffff"}, Tags: []types.Tag{{Key: sdk.String("a"), Value: sdk.String("b")}}})
		refusedWith(t, "CreateTags", err, "InvalidInstanceID.NotFound")
	}},
	{"an unknown type is an error", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"m5.tiny"}})
		refusedWith(t, "DescribeInstanceTypes", err, "InvalidInstanceType")
	}},
	{"types come in pages, each type once", func(t *testing.T, s *site) {
		seen, in := map[types.InstanceType]bool{}, ec2.DescribeInstanceTypesInput{MaxResults: sdk.Int32(5)}
		for range 3 {
			out, err := s.clients.EC2.DescribeInstanceTypes(t.Context(), &in)
			must(t, err)
			if len(out.InstanceTypes) > 5 || out.NextToken == nil {
				t.Fatalf("a page of %d types, the next one is %v; want at most 5, and more to come", len(out.InstanceTypes), out.NextToken)
			}
			for _, x := range out.InstanceTypes {
				if seen[x.InstanceType] {
					t.Errorf("%s comes twice", x.InstanceType)
				}
				seen[x.InstanceType] = true
			}
			in.NextToken = out.NextToken
		}
	}},
	{"types are offered by zone", func(t *testing.T, s *site) {
		out, err := s.clients.EC2.DescribeInstanceTypeOfferings(t.Context(), &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: types.LocationTypeAvailabilityZone, Filters: []types.Filter{{Name: sdk.String("instance-type"), Values: []string{"m5.large"}}}})
		must(t, err)
		for _, o := range out.InstanceTypeOfferings {
			if o.InstanceType != "m5.large" || o.LocationType != types.LocationTypeAvailabilityZone || sdk.ToString(o.Location) == "" {
				t.Errorf("offering %s in %s %s", o.InstanceType, o.LocationType, sdk.ToString(o.Location))
			}
		}
		if len(out.InstanceTypeOfferings) == 0 {
			t.Error("m5.large is offered nowhere")
		}
	}},
	{"spot prices are told by type and zone", func(t *testing.T, s *site) {
		now := s.now()
		out, err := s.clients.EC2.DescribeSpotPriceHistory(t.Context(), &ec2.DescribeSpotPriceHistoryInput{InstanceTypes: []types.InstanceType{"m5.large"},
			ProductDescriptions: []string{"Linux/UNIX"}, StartTime: &now})
		must(t, err)
		for _, p := range out.SpotPriceHistory {
			if p.InstanceType != "m5.large" || sdk.ToString(p.AvailabilityZone) == "" || sdk.ToString(p.SpotPrice) == "" || p.Timestamp == nil {
				t.Errorf("price %+v", p)
			}
		}
		if len(out.SpotPriceHistory) == 0 {
			t.Error("m5.large has no spot price")
		}
	}},
	{"the name of a launch template is taken once", func(t *testing.T, s *site) {
		name := sdk.String(siteName + "-twice")
		in := ec2.CreateLaunchTemplateInput{LaunchTemplateName: name, LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: "m5.large"}}
		again := in // under another client token
		_, err := s.clients.EC2.CreateLaunchTemplate(t.Context(), &in)
		must(t, err)
		t.Cleanup(func() {
			if _, err := s.clients.EC2.DeleteLaunchTemplate(context.Background(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: name}); err != nil {
				t.Error(err)
			}
		})
		_, err = s.clients.EC2.CreateLaunchTemplate(t.Context(), &again)
		refusedWith(t, "CreateLaunchTemplate", err, "InvalidLaunchTemplateName.AlreadyExistsException")
	}},
	{"an unknown launch template is an error", func(t *testing.T, s *site) {
		_, err := s.clients.EC2.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{siteName + "-nowhere"}})
		refusedWith(t, "DescribeLaunchTemplates", err, "InvalidLaunchTemplateName.NotFoundException")
	}},
	{"the name of an instance profile is taken once", func(t *testing.T, s *site) {
		_, err := s.clients.IAM.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: &s.profile})
		refusedWith(t, "CreateInstanceProfile", err, "EntityAlreadyExists")
	}},
	{"an instance profile has one role", func(t *testing.T, s *site) {
		_, err := s.clients.IAM.AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &s.profile, RoleName: &s.role})
		refusedWith(t, "AddRoleToInstanceProfile", err, "LimitExceeded")
	}},
	{"an unknown instance profile is an error", func(t *testing.T, s *site) {
		_, err := s.clients.IAM.GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: sdk.String(siteName + "-nowhere")})
		refusedWith(t, "GetInstanceProfile", err, "NoSuchEntity")
	}},
	{"instance profiles are listed by path", func(t *testing.T, s *site) {
		for path, want := range map[string]bool{"/": true, "/" + siteName + "-nowhere/": false} {
			out, err := s.clients.IAM.ListInstanceProfiles(t.Context(), &iam.ListInstanceProfilesInput{PathPrefix: &path})
			must(t, err)
			if got := slices.ContainsFunc(out.InstanceProfiles, func(p iamtypes.InstanceProfile) bool { return sdk.ToString(p.InstanceProfileName) == s.profile }); got != want && !out.IsTruncated {
				t.Errorf("below %s profile %s is listed: %v, want %v", path, s.profile, got, want)
			}
		}
	}},
	{"an unknown parameter is an error", func(t *testing.T, s *site) {
		_, err := s.clients.SSM.GetParameter(t.Context(), &ssm.GetParameterInput{Name: sdk.String("/daemok/conformance/nowhere")})
		refusedWith(t, "GetParameter", err, "ParameterNotFound")
	}},
	{"an unknown queue is an error", func(t *testing.T, s *site) {
		_, err := s.clients.SQS.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: sdk.String(siteName + "-nowhere")})
		refusedWith(t, "GetQueueUrl", err, "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist")
	}},
	{"a message comes again until it is deleted", func(t *testing.T, s *site) {
		if s.queueURL == "" {
			t.Skip(s.noQueue)
		}
		_, err := s.clients.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &s.queueURL, MessageBody: sdk.String("hello")})
		must(t, err)
		first := s.receive(t, "hello", 5*time.Second)
		if first == "" {
			t.Fatal("the message did not come")
		}
		_ = s.pause(t.Context(), 6*time.Second)
		again := s.receive(t, "hello", 5*time.Second)
		if again == "" {
			t.Fatal("the message did not come again after it was hidden for 5 s")
		}
		_, err = s.clients.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &s.queueURL, ReceiptHandle: &again})
		must(t, err)
		_ = s.pause(t.Context(), 6*time.Second)
		if s.receive(t, "hello", time.Second) != "" {
			t.Error("the message came after it was deleted")
		}
	}},
}

// receive reads what is in the queue, hides it for so long, and returns the receipt of
// a message; empty if it is not there.
func (s *site) receive(t *testing.T, body string, hidden time.Duration) (receipt string) {
	t.Helper()
	for range 5 {
		out, err := s.clients.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &s.queueURL, MaxNumberOfMessages: 10, VisibilityTimeout: int32(hidden.Seconds())})
		must(t, err)
		for _, m := range out.Messages {
			if sdk.ToString(m.Body) == body {
				receipt = sdk.ToString(m.ReceiptHandle)
			}
		}
		if receipt != "" {
			return receipt
		}
	}
	return ""
}
