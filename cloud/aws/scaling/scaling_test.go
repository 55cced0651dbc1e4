package scaling

import (
	"encoding/base64"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	scalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/daemok/daemok/cloud/nodegroup"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
)

// place is an account, and what reads its groups.
type place struct {
	t *testing.T
	*Reader
	subnets []string
	group   string // a security group
	image   string
}

func open(t *testing.T) *place {
	t.Helper()
	server := emulator.New(world.Options{Account: world.Account{ClusterName: "prod"}, Seed: 1, Now: time.Now})
	web := httptest.NewServer(server)
	t.Cleanup(func() { server.Close(); web.Close() })
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": web.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	r, err := Open(t.Context(), "", "test")
	p := &place{t: t, Reader: r}
	p.must(err)
	subnets, err := r.clients.EC2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	p.must(err)
	for _, s := range subnets.Subnets[:2] {
		p.subnets = append(p.subnets, aws.ToString(s.SubnetId))
	}
	slices.Sort(p.subnets)
	groups, err := r.clients.EC2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{})
	p.must(err)
	p.group = aws.ToString(groups.SecurityGroups[0].GroupId)
	images, err := r.clients.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Filters: []types.Filter{{Name: aws.String("name"), Values: []string{"amazon-eks-node-al2023-x86_64-standard-1.36-*"}}}})
	p.must(err)
	p.image = aws.ToString(images.Images[0].ImageId)
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) groups() []nodegroup.Group {
	p.t.Helper()
	found, err := p.Groups(p.t.Context(), func(_ string, tags map[string]string) bool { return tags["skip"] == "" })
	p.must(err)
	return found
}

// template makes a launch template, and names it.
func (p *place) template(name string, data *types.RequestLaunchTemplateData) {
	p.t.Helper()
	_, err := p.clients.EC2.CreateLaunchTemplate(p.t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data})
	p.must(err)
}

func (p *place) own(name string, in autoscaling.CreateAutoScalingGroupInput) {
	p.t.Helper()
	in.AutoScalingGroupName, in.MinSize, in.MaxSize = &name, aws.Int32(1), aws.Int32(5)
	if in.VPCZoneIdentifier == nil {
		in.VPCZoneIdentifier = aws.String(strings.Join(p.subnets, ","))
	}
	_, err := p.clients.Scaling.CreateAutoScalingGroup(p.t.Context(), &in)
	p.must(err)
}

// What a group's launch template says is what instances would be launched as, with the
// types and capacity types of its mixed instances policy.
func TestAGroupOfTheUsersOwn(t *testing.T) {
	p := open(t)
	p.template("web", &types.RequestLaunchTemplateData{
		ImageId: &p.image, InstanceType: "m5.large", KeyName: aws.String("ops"), UserData: aws.String(base64.StdEncoding.EncodeToString([]byte("#!/bin/bash\necho hi\n"))),
		IamInstanceProfile:  &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("nodes")},
		NetworkInterfaces:   []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: aws.Int32(0), Groups: []string{p.group}, AssociatePublicIpAddress: aws.Bool(false)}},
		MetadataOptions:     &types.LaunchTemplateInstanceMetadataOptionsRequest{HttpTokens: "required", HttpPutResponseHopLimit: aws.Int32(2)},
		BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{{DeviceName: aws.String("/dev/xvda"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(50), VolumeType: "gp3"}}},
	})
	p.own("mine", autoscaling.CreateAutoScalingGroupInput{
		MixedInstancesPolicy: &scalingtypes.MixedInstancesPolicy{
			InstancesDistribution: &scalingtypes.InstancesDistribution{OnDemandBaseCapacity: aws.Int32(1), OnDemandPercentageAboveBaseCapacity: aws.Int32(50)},
			LaunchTemplate: &scalingtypes.LaunchTemplate{
				LaunchTemplateSpecification: &scalingtypes.LaunchTemplateSpecification{LaunchTemplateName: aws.String("web"), Version: aws.String("$Latest")},
				Overrides:                   []scalingtypes.LaunchTemplateOverrides{{InstanceType: aws.String("m5.large")}, {InstanceType: aws.String("m6i.large")}},
			},
		},
		Tags: []scalingtypes.Tag{{Key: aws.String("team"), Value: aws.String("web"), PropagateAtLaunch: aws.Bool(true)}, {Key: aws.String("note"), Value: aws.String("x"), PropagateAtLaunch: aws.Bool(false)}},
	})
	p.own("other", autoscaling.CreateAutoScalingGroupInput{LaunchConfigurationName: aws.String("old"), Tags: []scalingtypes.Tag{{Key: aws.String("skip"), Value: aws.String("1")}}})
	found := p.groups()
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	name := found[0].ImageName
	if !strings.HasPrefix(name, "amazon-eks-node-al2023-") {
		t.Errorf("the image is called %q", name)
	}
	want := nodegroup.Group{
		Name: "mine", Min: 1, Max: 5, Desired: 1, Types: []string{"m5.large", "m6i.large"}, Spot: true, OnDemand: true, Share: "1 on demand, and 50% of what is beyond",
		Tags: map[string]string{"team": "web", "note": "x"}, Launched: map[string]string{"team": "web"}, Subnets: p.subnets, SecurityGroups: []string{p.group},
		Image: p.image, ImageName: name, UserData: "#!/bin/bash\necho hi\n", Profile: "nodes", KeyName: "ops", PublicIP: aws.Bool(false), Template: "web, version 1",
		Devices: []nodegroup.Device{{Name: "/dev/xvda", SizeGiB: 50, Type: "gp3"}}, Metadata: nodegroup.Metadata{Tokens: "required", Hops: 2},
	}
	if !reflect.DeepEqual(found[0], want) {
		t.Errorf("got\n%+v\nwant\n%+v", found[0], want)
	}
}

// Of a group that EKS manages the node group says what its instances are; without a launch
// template they have the cluster's security group.
func TestAManagedGroup(t *testing.T) {
	p := open(t)
	_, err := p.clients.EKS.CreateNodegroup(t.Context(), &eks.CreateNodegroupInput{
		ClusterName: aws.String("prod"), NodegroupName: aws.String("web"), NodeRole: aws.String("arn:aws:iam::123456789012:role/path/nodes"), Subnets: p.subnets,
		InstanceTypes: []string{"m5.large"}, CapacityType: ekstypes.CapacityTypesSpot, AmiType: ekstypes.AMITypesBottlerocketArm64, DiskSize: aws.Int32(30),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(9), DesiredSize: aws.Int32(3)},
		Labels:        map[string]string{"team": "web"}, Taints: []ekstypes.Taint{{Key: aws.String("web"), Value: aws.String("yes"), Effect: ekstypes.TaintEffectNoExecute}},
	})
	p.must(err)
	cluster, err := p.clients.EKS.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("prod")})
	p.must(err)
	found := p.groups()
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	g := found[0]
	if g.Managed != "web" || g.Cluster != "prod" || g.Min != 1 || g.Max != 9 || g.Desired != 3 || !slices.Equal(g.Types, []string{"m5.large"}) || !g.Spot || g.OnDemand ||
		g.Images != "BOTTLEROCKET_ARM_64" || g.DiskGiB != 30 || g.Role != "nodes" || g.Labels["team"] != "web" || !reflect.DeepEqual(g.Taints, []nodegroup.Taint{{Key: "web", Value: "yes", Effect: "NoExecute"}}) ||
		!slices.Equal(g.Subnets, p.subnets) || !slices.Equal(g.SecurityGroups, []string{*cluster.Cluster.ResourcesVpcConfig.ClusterSecurityGroupId}) || len(g.Missing) > 0 || g.Tags["k8s.io/cluster-autoscaler/enabled"] != "true" {
		t.Errorf("got %+v", g)
	}
}

// What EC2 does not have is named, and so is what cannot be read as types or a template.
func TestWhatAGroupLacks(t *testing.T) {
	p := open(t)
	p.template("gone", &types.RequestLaunchTemplateData{ImageId: aws.String("ami-0123456789abcdef0"), InstanceType: "m5.large", SecurityGroupIds: []string{"sg-0123456789abcdef0"}})
	template := &scalingtypes.LaunchTemplateSpecification{LaunchTemplateName: aws.String("gone")}
	p.own("a", autoscaling.CreateAutoScalingGroupInput{LaunchTemplate: template, VPCZoneIdentifier: aws.String("subnet-0123456789abcdef0")})
	p.own("b", autoscaling.CreateAutoScalingGroupInput{LaunchConfigurationName: aws.String("old")})
	p.own("c", autoscaling.CreateAutoScalingGroupInput{MixedInstancesPolicy: &scalingtypes.MixedInstancesPolicy{LaunchTemplate: &scalingtypes.LaunchTemplate{
		LaunchTemplateSpecification: template, Overrides: []scalingtypes.LaunchTemplateOverrides{{InstanceRequirements: &scalingtypes.InstanceRequirements{
			VCpuCount: &scalingtypes.VCpuCountRequest{Min: aws.Int32(2)}, MemoryMiB: &scalingtypes.MemoryMiBRequest{Min: aws.Int32(4096)}}}}}}})
	found := p.groups()
	if len(found) != 3 {
		t.Fatalf("found %+v", found)
	}
	if got, want := found[0].Missing, []string{"ami-0123456789abcdef0", "subnet-0123456789abcdef0", "sg-0123456789abcdef0"}; !slices.Equal(got, want) {
		t.Errorf("missing %v, want %v", got, want)
	}
	for i, words := range map[int]string{1: "launch configuration old", 2: "InstanceRequirements"} {
		if !strings.Contains(strings.Join(found[i].Unmanaged, "\n"), words) {
			t.Errorf("of %s it says %q, want a word on %s", found[i].Name, found[i].Unmanaged, words)
		}
	}
}
