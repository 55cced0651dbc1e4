package emulator_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "Ipv4PrefixCount: the number of IPv4 prefixes to be automatically assigned to the network interface"; "IPv4 prefix
// sizes are always /28", of addresses of the subnet that none else has, and that come back with the instance. How
// long connections are tracked, and how fast volumes are initialized, shows where it was asked for.
func TestInterfacesAndVolumesAreAsTheTemplateSays(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	web := a.template("web", func(d *types.RequestLaunchTemplateData) {
		n := &d.NetworkInterfaces[0]
		n.Ipv4PrefixCount, n.SecondaryPrivateIpAddressCount, n.Description = aws.Int32(2), aws.Int32(1), aws.String("first")
		n.ConnectionTrackingSpecification = &types.ConnectionTrackingSpecificationRequest{TcpEstablishedTimeout: aws.Int32(600), UdpTimeout: aws.Int32(30)}
		d.BlockDeviceMappings[0].Ebs.VolumeInitializationRate = aws.Int32(200)
	})
	o := a.override("m5.large", "us-east-1a")
	before := *a.subnets()["us-east-1a"].AvailableIpAddressCount
	_, err := a.fleet(web, 2, overrides(o))
	a.must(err)
	if took := before - *a.subnets()["us-east-1a"].AvailableIpAddressCount; took != 2*(2+2*16) {
		t.Errorf("two instances took %d addresses, want 68", took)
	}
	out, err := a.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: filters("description", "first")})
	a.must(err)
	within, seen := netip.MustParsePrefix(*a.subnets()["us-east-1a"].CidrBlock), map[netip.Prefix]bool{}
	for _, n := range out.NetworkInterfaces {
		if len(n.PrivateIpAddresses) != 2 || *n.PrivateIpAddresses[1].Primary || len(n.Ipv4Prefixes) != 2 {
			t.Fatalf("%d addresses and %d prefixes, want two of each", len(n.PrivateIpAddresses), len(n.Ipv4Prefixes))
		}
		for _, p := range n.Ipv4Prefixes {
			block := netip.MustParsePrefix(*p.Ipv4Prefix)
			if block.Bits() != 28 || block != block.Masked() || !within.Contains(block.Addr()) || seen[block] {
				t.Errorf("prefix %s of %s: want a /28 of its own", block, within)
			}
			for _, address := range n.PrivateIpAddresses {
				if block.Contains(netip.MustParseAddr(*address.PrivateIpAddress)) {
					t.Errorf("prefix %s holds the address %s", block, *address.PrivateIpAddress)
				}
			}
			seen[block] = true
		}
		if c := n.ConnectionTrackingConfiguration; c == nil || *c.TcpEstablishedTimeout != 600 || *c.UdpTimeout != 30 || c.UdpStreamTimeout != nil {
			t.Errorf("connections are tracked for %+v, want 600 s, and 30 s of UDP", c)
		}
	}
	volumes, err := a.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{})
	a.must(err)
	if n := aws.ToInt32(volumes.Volumes[0].VolumeInitializationRate); n != 200 {
		t.Errorf("the volume is initialized at %d MiB/s, want 200", n)
	}
	versions, err := a.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: &web})
	a.must(err)
	if c := versions.LaunchTemplateVersions[0].LaunchTemplateData.NetworkInterfaces[0].ConnectionTrackingSpecification; c == nil || *c.TcpEstablishedTimeout != 600 {
		t.Errorf("the template tracks connections for %+v, want 600 s", c)
	}
}
