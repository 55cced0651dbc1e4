package emulator_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Tools filter by whatever the API reference lists for a call: what an answer shows, and what this account has not,
// which finds nothing and is no error.
func TestFiltersOfTheAPIReference(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	_, err := a.fleet(a.template("web"), 1, overrides(a.override("m5d.large", "us-east-1a")), spot)
	a.must(err)
	_, err = a.ec2.CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: aws.String("near"), Strategy: "cluster"})
	a.must(err)
	_, err = a.ec2.CreateCapacityReservation(ctx, &ec2.CreateCapacityReservationInput{
		InstanceType: aws.String("m5.large"), InstancePlatform: "Linux/UNIX", InstanceCount: aws.Int32(1), AvailabilityZone: aws.String("us-east-1a"), EndDate: aws.Time(a.Now().Add(time.Hour)),
	})
	a.must(err)
	a.Advance(time.Minute)
	id := a.server.Instances()[0].ID
	calls := map[string]func([]types.Filter) (int, error){
		"instances": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeInstancesOutput) int { return len(o.Reservations) })
		},
		"interfaces": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeNetworkInterfacesOutput) int { return len(o.NetworkInterfaces) })
		},
		"volumes": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeVolumesOutput) int { return len(o.Volumes) })
		},
		"images": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: append(f, filters("image-id", a.image("x86_64"))...)})
			return held(out, err, func(o *ec2.DescribeImagesOutput) int { return len(o.Images) })
		},
		"groups": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeSecurityGroupsOutput) int { return len(o.SecurityGroups) })
		},
		"subnets": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeSubnetsOutput) int { return len(o.Subnets) })
		},
		"networks": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: f, MaxResults: aws.Int32(5)})
			return held(out, err, func(o *ec2.DescribeVpcsOutput) int { return len(o.Vpcs) })
		},
		"types": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{Filters: append(f, filters("instance-type", "m5d.large")...)})
			return held(out, err, func(o *ec2.DescribeInstanceTypesOutput) int { return len(o.InstanceTypes) })
		},
		"templates": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: aws.String("web"), Filters: f})
			return held(out, err, func(o *ec2.DescribeLaunchTemplateVersionsOutput) int { return len(o.LaunchTemplateVersions) })
		},
		"spot requests": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeSpotInstanceRequestsOutput) int { return len(o.SpotInstanceRequests) })
		},
		"placement groups": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{Filters: f})
			return held(out, err, func(o *ec2.DescribePlacementGroupsOutput) int { return len(o.PlacementGroups) })
		},
		"reservations": func(f []types.Filter) (int, error) {
			out, err := a.ec2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{Filters: f})
			return held(out, err, func(o *ec2.DescribeCapacityReservationsOutput) int { return len(o.CapacityReservations) })
		},
	}
	for _, tt := range []struct {
		call    string
		filters []types.Filter
		want    int
	}{
		{"instances", filters("metadata-options.http-tokens", "required", "metadata-options.http-put-response-hop-limit", "1"), 1},
		{"instances", filters("metadata-options.http-tokens", "optional"), 0},
		{"instances", filters("block-device-mapping.device-name", "/dev/xvda", "block-device-mapping.delete-on-termination", "true"), 1},
		{"instances", filters("network-interface.status", "in-use", "network-interface.attachment.instance-id", id), 1},
		{"instances", filters("instance.group-name", "eks-cluster-sg-*", "monitoring-state", "disabled", "virtualization-type", "hvm"), 1},
		{"instances", filters("platform", "windows"), 0},
		{"instances", filters("ip-address", "*"), 0},
		{"instances", filters("host-id", "*"), 0},
		{"interfaces", filters("attachment.device-index", "0", "group-name", "eks-cluster-sg-*", "mac-address", "0a:*"), 1},
		{"interfaces", filters("addresses.private-ip-address", "10.0.*", "attachment.instance-owner-id", "123456789012"), 1},
		{"interfaces", filters("association.public-ip", "*"), 0},
		{"volumes", filters("size", "40", "attachment.status", "attached", "multi-attach-enabled", "false"), 1},
		{"images", filters("block-device-mapping.volume-size", "20", "block-device-mapping.volume-type", "gp3"), 1},
		{"images", filters("product-code", "*"), 0},
		{"images", filters("platform", "*"), 0},
		{"groups", filters("ip-permission.protocol", "-1", "egress.ip-permission.cidr", "0.0.0.0/0", "group-name", "default"), 1},
		{"groups", filters("ip-permission.from-port", "443"), 0},
		{"subnets", filters("ipv6-native", "false", "private-dns-name-options-on-launch.hostname-type", "ip-name"), 8},
		{"networks", filters("cidr-block-association.cidr-block", "10.0.0.0/16"), 1},
		{"types", filters("instance-storage-info.disk.type", "ssd", "instance-storage-info.total-size-in-gb", "75", "vcpu-info.default-threads-per-core", "2"), 1},
		{"types", filters("ebs-info.ebs-optimized-info.baseline-iops", "3600", "ebs-info.encryption-support", "supported"), 1},
		{"types", filters("network-info.efa-info.maximum-efa-interfaces", "*"), 0},
		{"templates", filters("http-tokens", "required", "network-card-index", "0"), 1},
		{"templates", filters("http-tokens", "optional"), 0},
		{"spot requests", filters("launch.instance-type", "m5d.*", "product-description", "Linux/UNIX", "launched-availability-zone-id", "use1-az1"), 1},
		{"spot requests", filters("fault-code", "*"), 0},
		{"placement groups", filters("group-arn", "arn:aws:ec2:us-east-1:123456789012:placement-group/near"), 1},
		{"reservations", filters("end-date", "2026-11-21T13:00:00.000Z", "start-date", "2026-11-21T12:00:00.000Z"), 1},
		{"reservations", filters("placement-group-arn", "*"), 0},
	} {
		got, err := calls[tt.call](tt.filters)
		if err != nil || got != tt.want {
			t.Errorf("%s by %s=%q …: %d, %v; want %d", tt.call, *tt.filters[0].Name, tt.filters[0].Values, got, err, tt.want)
		}
	}
	_, err = a.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupNames: []string{"nobodys"}})
	if code(err) != "InvalidGroup.NotFound" {
		t.Errorf("a group that is not there by its name: %q, want InvalidGroup.NotFound", code(err))
	}
}

// held is how many an answer holds.
func held[T any](out *T, err error, of func(*T) int) (int, error) {
	if err != nil {
		return 0, err
	}
	return of(out), nil
}
