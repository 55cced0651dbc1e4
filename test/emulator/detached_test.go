package emulator_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "DeleteOnTermination … false … the volume persists after the instance is terminated",
// available to be attached elsewhere. "The volume must be in the available state (not
// attached to an instance)" to be deleted.
func TestAVolumeMayOutliveItsInstance(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	image, subnets := a.image("x86_64"), a.subnets()
	made, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ImageId: &image, SubnetId: subnets["us-east-1a"].SubnetId,
		BlockDeviceMappings: []types.BlockDeviceMapping{{DeviceName: aws.String("/dev/xvdb"), Ebs: &types.EbsBlockDevice{VolumeSize: aws.Int32(7), DeleteOnTermination: aws.Bool(false)}}}})
	a.must(err)
	id := made.Instances[0].InstanceId
	held, err := a.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: filters("attachment.instance-id", *id, "attachment.device", "/dev/xvdb")})
	a.must(err)
	if len(held.Volumes) != 1 || held.Volumes[0].State != types.VolumeStateInUse {
		t.Fatalf("volumes %+v, want one in use", held.Volumes)
	}
	volume := held.Volumes[0].VolumeId
	if _, err = a.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: volume}); code(err) != "VolumeInUse" {
		t.Errorf("deleting a volume that is attached: %v, want VolumeInUse", err)
	}
	_, err = a.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{*id}})
	a.must(err)
	a.Advance(10 * time.Minute)
	a.server.Advance()
	free, err := a.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: filters("status", "available")})
	a.must(err)
	if len(free.Volumes) != 1 || *free.Volumes[0].VolumeId != *volume || len(free.Volumes[0].Attachments) != 0 {
		t.Fatalf("available are %+v, want the volume that outlived its instance, and not the root volume", free.Volumes)
	}
	_, err = a.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: volume})
	a.must(err)
	if _, err = a.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: volume}); code(err) != "InvalidVolume.NotFound" {
		t.Errorf("deleting it again: %v, want InvalidVolume.NotFound", err)
	}
}

// "You must detach the network interface before you can delete it." One that is attached
// to nothing is available, and takes an address of its subnet.
func TestAnInterfaceMayBeAttachedToNothing(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	image, subnet := a.image("x86_64"), a.subnets()["us-east-1a"]
	made, err := a.ec2.CreateNetworkInterface(ctx, &ec2.CreateNetworkInterfaceInput{SubnetId: subnet.SubnetId, Description: aws.String("aws-K8S-i-1"),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeNetworkInterface, Tags: tagList("team", "blue")}}})
	a.must(err)
	id := made.NetworkInterface.NetworkInterfaceId
	free, err := a.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: filters("status", "available", "tag:team", "blue")})
	a.must(err)
	if len(free.NetworkInterfaces) != 1 || *free.NetworkInterfaces[0].NetworkInterfaceId != *id || free.NetworkInterfaces[0].Attachment != nil || *free.NetworkInterfaces[0].Description != "aws-K8S-i-1" {
		t.Errorf("available are %+v, want the interface that was made", free.NetworkInterfaces)
	}
	if now := a.subnets()["us-east-1a"]; *now.AvailableIpAddressCount != *subnet.AvailableIpAddressCount-1 {
		t.Errorf("%d addresses are free, want one less than %d", *now.AvailableIpAddressCount, *subnet.AvailableIpAddressCount)
	}
	run, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ImageId: &image, SubnetId: subnet.SubnetId})
	a.must(err)
	attached := run.Instances[0].NetworkInterfaces[0].NetworkInterfaceId
	if _, err = a.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: attached}); code(err) != "InvalidNetworkInterface.InUse" {
		t.Errorf("deleting an interface that is attached: %v, want InvalidNetworkInterface.InUse", err)
	}
	_, err = a.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: id})
	a.must(err)
	if _, err = a.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: id}); code(err) != "InvalidNetworkInterfaceID.NotFound" {
		t.Errorf("deleting it again: %v, want InvalidNetworkInterfaceID.NotFound", err)
	}
	if now := a.subnets()["us-east-1a"]; *now.AvailableIpAddressCount != *subnet.AvailableIpAddressCount-1 {
		t.Errorf("%d addresses are free, want that of the interface back, and one less for the instance", *now.AvailableIpAddressCount)
	}
}
