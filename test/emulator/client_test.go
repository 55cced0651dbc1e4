package emulator_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
)

// account is an emulator with the real SDK in front of it.
type account struct {
	testing.TB
	*clock.Virtual
	server *emulator.Server
	config aws.Config
	ec2    *ec2.Client
}

// noLags lets every change be seen at once.
func noLags(o *world.Options) {
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{}
	o.Lags, o.Figures = &world.Lags{}, figures
}

func open(t testing.TB, settings ...func(*world.Options)) *account {
	t.Helper()
	a := &account{TB: t, Virtual: clock.NewVirtual(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	o := world.Options{Seed: 7, TimeScale: 1, Now: a.Now, Account: world.Account{Tags: map[string]string{"team": "blue"}}}
	for _, set := range settings {
		set(&o)
	}
	a.server = emulator.New(o)
	web := httptest.NewServer(a.server)
	t.Cleanup(web.Close)
	t.Cleanup(a.server.Close)
	a.config = client.At(web.URL, "us-east-1", client.Key{ID: "key", Secret: "secret"})
	a.config.RetryMaxAttempts = 1
	a.ec2 = ec2.NewFromConfig(a.config)
	return a
}

// code is the AWS code of an error, "" for none.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (a *account) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// image is the newest AL2023 image for x86_64, by its public alias.
func (a *account) image(arch string) string {
	a.Helper()
	out, err := ssm.NewFromConfig(a.config).GetParameter(context.Background(), &ssm.GetParameterInput{
		Name: aws.String("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/" + arch + "/standard/recommended/image_id"),
	})
	a.must(err)
	return *out.Parameter.Value
}

// subnets are the private subnets by zone.
func (a *account) subnets() map[string]types.Subnet {
	a.Helper()
	out, err := a.ec2.DescribeSubnets(context.Background(), &ec2.DescribeSubnetsInput{Filters: filters("tag-key", "kubernetes.io/role/internal-elb")})
	a.must(err)
	byZone := map[string]types.Subnet{}
	for _, s := range out.Subnets {
		byZone[*s.AvailabilityZone] = s
	}
	return byZone
}

// template makes a launch template as an autoscaler does and returns its name.
func (a *account) template(name string, change ...func(*types.RequestLaunchTemplateData)) string {
	a.Helper()
	groups, err := a.ec2.DescribeSecurityGroups(context.Background(), &ec2.DescribeSecurityGroupsInput{Filters: filters("tag:karpenter.sh/discovery", "lab")})
	a.must(err)
	data := &types.RequestLaunchTemplateData{
		ImageId: aws.String(a.image("x86_64")), UserData: aws.String("aGVsbG8="),
		IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("KarpenterNodeInstanceProfile-lab")},
		NetworkInterfaces: []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{
			DeviceIndex: aws.Int32(0), Groups: []string{*groups.SecurityGroups[0].GroupId},
		}},
		BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{{
			DeviceName: aws.String("/dev/xvda"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: aws.Int32(40), VolumeType: types.VolumeTypeGp3, Encrypted: aws.Bool(true)},
		}},
		MetadataOptions:   &types.LaunchTemplateInstanceMetadataOptionsRequest{HttpTokens: types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(1)},
		TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeNetworkInterface, Tags: tagList("net", "yes")}},
	}
	for _, c := range change {
		c(data)
	}
	_, err = a.ec2.CreateLaunchTemplate(context.Background(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(name), LaunchTemplateData: data,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: tagList("owner", "test")}},
	})
	a.must(err)
	return name
}

// fleet asks for n instances of the overrides from one template.
func (a *account) fleet(template string, n int32, overrides []types.FleetLaunchTemplateOverridesRequest, change ...func(*ec2.CreateFleetInput)) (*ec2.CreateFleetOutput, error) {
	in := &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant,
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: aws.String(template), Version: aws.String("$Latest")},
			Overrides:                   overrides,
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: aws.Int32(n), DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand},
		OnDemandOptions:             &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyLowestPrice},
		TagSpecifications:           []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: tagList("claim", "one")}},
	}
	for _, c := range change {
		c(in)
	}
	return a.ec2.CreateFleet(context.Background(), in)
}

func spot(in *ec2.CreateFleetInput) {
	in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeSpot
	in.OnDemandOptions = nil
	in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyPriceCapacityOptimized}
}

func (a *account) override(kind, zone string) types.FleetLaunchTemplateOverridesRequest {
	s := a.subnets()[zone]
	return types.FleetLaunchTemplateOverridesRequest{InstanceType: types.InstanceType(kind), SubnetId: s.SubnetId, AvailabilityZone: aws.String(zone)}
}

func overrides(o ...types.FleetLaunchTemplateOverridesRequest) []types.FleetLaunchTemplateOverridesRequest {
	return o
}

func filters(pairs ...string) []types.Filter {
	var all []types.Filter
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, types.Filter{Name: aws.String(pairs[i]), Values: strings.Split(pairs[i+1], "|")})
	}
	return all
}

func tagList(pairs ...string) []types.Tag {
	var all []types.Tag
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, types.Tag{Key: aws.String(pairs[i]), Value: aws.String(pairs[i+1])})
	}
	return all
}
