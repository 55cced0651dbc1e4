package aws

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/cloud/aws/fault"
)

// siteTag marks what is made, so that what an earlier run left is found and used.
var siteTag = map[string]string{"daemok.sh/conformance": "owned"}

const siteName = "daemok-conformance"

func siteTags(kind types.ResourceType) []types.TagSpecification {
	var tags []types.Tag
	for key, value := range siteTag {
		tags = append(tags, types.Tag{Key: sdk.String(key), Value: sdk.String(value)})
	}
	return []types.TagSpecification{{ResourceType: kind, Tags: tags}}
}

func siteFilters(more ...types.Filter) []types.Filter {
	for key, value := range siteTag {
		more = append(more, types.Filter{Name: sdk.String("tag:" + key), Values: []string{value}})
	}
	return more
}

// build finds or makes a VPC with two subnets and a group, a role with its profile, and
// a queue, and removes them when the test ends.
func (s *site) build(t *testing.T) {
	t.Helper()
	s.buildNetwork(t)
	s.buildProfile(t)
	s.buildQueue(t)
	if err := s.pause(t.Context(), time.Minute); err != nil && *endpoint == "" { // EC2 takes a while to accept a new profile
		t.Fatal(err)
	}
}

func (s *site) buildNetwork(t *testing.T) {
	t.Helper()
	ctx, api := t.Context(), s.clients.EC2
	vpcs, err := api.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: siteFilters()})
	fatal(t, err)
	if len(vpcs.Vpcs) > 0 {
		s.vpc = sdk.ToString(vpcs.Vpcs[0].VpcId)
	} else {
		made, err := api.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: sdk.String("10.77.0.0/16"), TagSpecifications: siteTags(types.ResourceTypeVpc)})
		fatal(t, err)
		s.vpc = sdk.ToString(made.Vpc.VpcId)
	}
	s.removed(t, "the VPC", func(ctx context.Context) error {
		_, err := api.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &s.vpc})
		return err
	})
	within := types.Filter{Name: sdk.String("vpc-id"), Values: []string{s.vpc}}
	subnets, err := api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: siteFilters(within)})
	fatal(t, err)
	for _, sub := range subnets.Subnets {
		s.subnets = append(s.subnets, sdk.ToString(sub.SubnetId))
	}
	if len(s.subnets) == 0 {
		zones, err := api.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{Filters: []types.Filter{
			{Name: sdk.String("state"), Values: []string{"available"}}}})
		fatal(t, err)
		for i, zone := range zones.AvailabilityZones[:min(2, len(zones.AvailabilityZones))] {
			made, err := api.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: &s.vpc, AvailabilityZone: zone.ZoneName,
				CidrBlock: sdk.String(fmt.Sprintf("10.77.%d.0/20", 16*i)), TagSpecifications: siteTags(types.ResourceTypeSubnet)})
			fatal(t, err)
			s.subnets = append(s.subnets, sdk.ToString(made.Subnet.SubnetId))
		}
	}
	for _, id := range s.subnets {
		s.removed(t, "subnet "+id, func(ctx context.Context) error {
			_, err := api.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &id})
			return err
		})
	}
	groups, err := api.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: siteFilters(within)})
	fatal(t, err)
	if len(groups.SecurityGroups) > 0 {
		s.group = sdk.ToString(groups.SecurityGroups[0].GroupId)
	} else {
		made, err := api.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: &s.vpc, GroupName: sdk.String(siteName), Description: sdk.String("conformance tests"),
			TagSpecifications: siteTags(types.ResourceTypeSecurityGroup)})
		fatal(t, err)
		s.group = sdk.ToString(made.GroupId)
	}
	s.removed(t, "the security group", func(ctx context.Context) error {
		_, err := api.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &s.group})
		return err
	})
}

// trust lets instances take the role.
const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

func (s *site) buildProfile(t *testing.T) {
	t.Helper()
	ctx, api := t.Context(), s.clients.IAM
	s.role, s.profile = siteName, siteName
	_, err := api.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &s.role, AssumeRolePolicyDocument: sdk.String(trust)})
	there(t, err)
	s.removed(t, "the role", func(ctx context.Context) error {
		_, err := api.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &s.role})
		return err
	})
	_, err = api.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: &s.profile})
	there(t, err)
	s.removed(t, "the instance profile", func(ctx context.Context) error {
		_, err := api.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &s.profile})
		return err
	})
	_, err = api.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &s.profile, RoleName: &s.role})
	there(t, err)
	s.removed(t, "the profile's role", func(ctx context.Context) error {
		_, err := api.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &s.profile, RoleName: &s.role})
		return err
	})
}

// buildQueue makes a queue; without one, what needs it is left out.
func (s *site) buildQueue(t *testing.T) {
	t.Helper()
	api := s.clients.SQS
	made, err := api.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: sdk.String(siteName)})
	if err != nil {
		s.noQueue = err
		return
	}
	s.queue, s.queueURL = siteName, sdk.ToString(made.QueueUrl)
	s.removed(t, "the queue", func(ctx context.Context) error {
		_, err := api.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &s.queueURL})
		return err
	})
}

// removed deletes what was made when the test ends. What instances still use is tried again
// until they have ended.
func (s *site) removed(t *testing.T, what string, remove func(context.Context) error) {
	t.Cleanup(func() {
		ctx := context.Background()
		err := remove(ctx)
		for try := 0; fault.Code(err) == "DependencyViolation" && try < 20; try++ {
			_ = s.pause(ctx, s.end/10)
			err = remove(ctx)
		}
		if err != nil {
			t.Errorf("%s is left: %v", what, err)
		}
	})
}

// there ends the test unless something was made or was there before.
func there(t *testing.T, err error) {
	t.Helper()
	if code := fault.Code(err); code != "EntityAlreadyExists" && code != "LimitExceeded" {
		fatal(t, err)
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("what the tests need cannot be made: %v", err)
	}
}
