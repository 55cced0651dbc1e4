package emulator_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/test/emulator/world"
)

// "When you create a VPC, we automatically create a default security group." "The
// default VPC subnets … must not overlap." "You must detach or delete all gateways and
// resources that are associated with the VPC before you can delete it."
func TestANetworkIsBuiltAndTakenDown(t *testing.T) {
	a, ctx := open(t, func(o *world.Options) { noLags(o) }), context.Background()
	refused := func(what string, err error, want string) {
		t.Helper()
		if got := code(err); got != want {
			t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
		}
	}
	_, err := a.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.9.0.0/12")})
	refused("a block that is too large", err, "InvalidVpc.Range")
	_, err = a.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("many")})
	refused("what is no block", err, "InvalidParameterValue")
	made, err := a.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.9.0.0/16"),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeVpc, Tags: tagList("team", "blue")}}})
	a.must(err)
	vpc := made.Vpc.VpcId

	subnet := func(block, zone string) (*types.Subnet, error) {
		out, err := a.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: &block, AvailabilityZone: aws.String(zone)})
		if err != nil {
			return nil, err
		}
		return out.Subnet, nil
	}
	_, err = subnet("10.8.0.0/24", "us-east-1a")
	refused("a subnet beside its VPC", err, "InvalidSubnet.Range")
	_, err = subnet("10.9.0.0/24", "us-east-1x")
	refused("a subnet in no zone", err, "InvalidParameterValue")
	one, err := subnet("10.9.0.0/24", "us-east-1a")
	a.must(err)
	if *one.VpcId != *vpc || *one.AvailabilityZone != "us-east-1a" || *one.AvailableIpAddressCount != 251 {
		t.Errorf("subnet %+v, want one of %s in us-east-1a with 251 addresses", one, *vpc)
	}
	_, err = subnet("10.9.0.128/25", "us-east-1a")
	refused("a subnet over another", err, "InvalidSubnet.Conflict")

	group, err := a.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: vpc, GroupName: aws.String("web"), Description: aws.String("web")})
	a.must(err)
	_, err = a.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: vpc, GroupName: aws.String("web"), Description: aws.String("web")})
	refused("a group of the same name", err, "InvalidGroup.Duplicate")
	groups, err := a.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filters("vpc-id", *vpc)})
	a.must(err)
	if len(groups.SecurityGroups) != 2 {
		t.Errorf("the VPC has %d groups, want the default one and the one that was made", len(groups.SecurityGroups))
	}

	image := a.image("x86_64")
	run := func(groups ...string) (string, error) {
		out, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ImageId: &image,
			SubnetId: one.SubnetId, SecurityGroupIds: groups})
		if err != nil {
			return "", err
		}
		if got := out.Instances[0]; *got.VpcId != *vpc || len(got.SecurityGroups) != 1 {
			t.Errorf("the instance is in %s behind %v", *got.VpcId, got.SecurityGroups)
		}
		return *out.Instances[0].InstanceId, nil
	}
	elsewhere, err := a.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filters("tag:karpenter.sh/discovery", "lab")})
	a.must(err)
	_, err = run(*elsewhere.SecurityGroups[0].GroupId)
	refused("a group of another VPC", err, "InvalidParameter")
	id, err := run(*group.GroupId)
	a.must(err)
	_, err = a.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: group.GroupId})
	refused("a group that a machine is behind", err, "DependencyViolation")
	_, err = a.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: one.SubnetId})
	refused("a subnet with a machine", err, "DependencyViolation")
	_, err = a.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	a.must(err)
	a.Advance(10 * time.Minute)
	a.server.Advance()

	_, err = a.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: vpc})
	refused("a VPC with a subnet", err, "DependencyViolation")
	_, err = a.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: one.SubnetId})
	a.must(err)
	_, err = a.ec2.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: group.GroupId})
	a.must(err)
	_, err = a.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: vpc})
	a.must(err)
	_, err = a.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{*vpc}})
	refused("a VPC that is gone", err, "InvalidVpcID.NotFound")
}
