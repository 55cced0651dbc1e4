package emulator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/test/emulator/world"
)

// resourceNames has a subnet name what is launched into it by ID.
func (a *account) resourceNames(subnet *string) {
	a.Helper()
	_, err := a.ec2.ModifySubnetAttribute(context.Background(), &ec2.ModifySubnetAttributeInput{SubnetId: subnet, PrivateDnsHostnameTypeOnLaunch: types.HostnameTypeResourceName})
	a.must(err)
}

// "Resource name: i-0123456789abcdef.ec2.internal in us-east-1, i-0123456789abcdef.us-west-2.compute.internal elsewhere", and
// "the settings of the launch go before those of the subnet": names are settled at launch, and stay as they are.
func TestInstancesAreNamedAsTheirLaunchAndTheirSubnetSay(t *testing.T) {
	resource := &types.LaunchTemplatePrivateDnsNameOptionsRequest{HostnameType: types.HostnameTypeResourceName}
	ip := &types.LaunchTemplatePrivateDnsNameOptionsRequest{HostnameType: types.HostnameTypeIpName}
	tests := map[string]struct {
		subnet   bool // names by ID
		launch   *types.LaunchTemplatePrivateDnsNameOptionsRequest
		resource bool
	}{
		"by address where nobody says more":         {},
		"by ID where the subnet says so":            {subnet: true, resource: true},
		"by ID where the launch says so":            {launch: resource, resource: true},
		"by address where the launch has it so":     {subnet: true, launch: ip},
		"as the subnet says where the launch opens": {subnet: true, launch: &types.LaunchTemplatePrivateDnsNameOptionsRequest{EnableResourceNameDnsARecord: aws.Bool(true)}, resource: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, ctx := open(t, noLags), context.Background()
			subnet := a.subnets()["us-east-1a"].SubnetId
			if tt.subnet {
				a.resourceNames(subnet)
			}
			template := a.template("named", func(d *types.RequestLaunchTemplateData) { d.PrivateDnsNameOptions = tt.launch })
			out, err := a.fleet(template, 1, overrides(a.override("m5.large", "us-east-1a")))
			a.must(err)
			id := out.Instances[0].InstanceIds[0]
			_, err = a.ec2.ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: subnet, PrivateDnsHostnameTypeOnLaunch: types.HostnameTypeIpName})
			a.must(err)

			shown := a.instance(id)
			want, kind := "ip-"+strings.ReplaceAll(*shown.PrivateIpAddress, ".", "-")+".ec2.internal", types.HostnameTypeIpName
			if tt.resource {
				want, kind = id+".ec2.internal", types.HostnameTypeResourceName
			}
			if got := *shown.PrivateDnsName; got != want || shown.PrivateDnsNameOptions.HostnameType != kind {
				t.Errorf("named %s (%s), want %s (%s)", got, shown.PrivateDnsNameOptions.HostnameType, want, kind)
			}
			if got := *shown.NetworkInterfaces[0].PrivateDnsName; got != want {
				t.Errorf("its interface is named %s, want %s", got, want)
			}
			if got, wantA := *shown.PrivateDnsNameOptions.EnableResourceNameDnsARecord, tt.launch != nil && tt.launch.EnableResourceNameDnsARecord != nil; got != wantA {
				t.Errorf("queries for the name by ID are answered: %t, want %t", got, wantA)
			}
			if boots := a.server.Instances(); boots[0].PrivateDNS != want {
				t.Errorf("the machine boots as %s, want %s", boots[0].PrivateDNS, want)
			}
			found, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: filters("private-dns-name", want, "private-dns-name-options.hostname-type", string(kind))})
			a.must(err)
			if len(found.Reservations) != 1 {
				t.Errorf("%d launches are found by the name, want 1", len(found.Reservations))
			}
		})
	}
}

func (a *account) instance(id string) types.Instance {
	a.Helper()
	out, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	a.must(err)
	return out.Reservations[0].Instances[0]
}

func TestNamesByIDEndWithTheRegion(t *testing.T) {
	a := open(t, noLags, func(o *world.Options) { o.Account.Region = "us-east-2" })
	a.config.Region = "us-east-2"
	a.ec2 = ec2.NewFromConfig(a.config)
	subnet := a.subnets()["us-east-2a"].SubnetId
	a.resourceNames(subnet)
	run := func(names *types.PrivateDnsNameOptionsRequest) (*ec2.RunInstancesOutput, error) {
		return a.ec2.RunInstances(context.Background(), &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large",
			ImageId: aws.String(a.image("x86_64")), SubnetId: subnet, PrivateDnsNameOptions: names})
	}
	out, err := run(nil)
	a.must(err)
	if got, want := *out.Instances[0].PrivateDnsName, *out.Instances[0].InstanceId+".us-east-2.compute.internal"; got != want {
		t.Errorf("named %s, want %s", got, want)
	}
	_, err = run(&types.PrivateDnsNameOptionsRequest{HostnameType: "nickname"})
	if got := code(err); got != "InvalidParameterValue" || !strings.Contains(err.Error(), "nickname") {
		t.Errorf("a kind of names that there is not: got %v, want InvalidParameterValue that names it", err)
	}
}

// "You can only modify one attribute at a time."
func TestAttributesOfASubnetChangeOneAtATime(t *testing.T) {
	a, ctx := open(t), context.Background()
	subnet := a.subnets()["us-east-1a"].SubnetId
	on := &types.AttributeBooleanValue{Value: aws.Bool(true)}
	refusals := map[string]struct {
		in   ec2.ModifySubnetAttributeInput
		want string
	}{
		"nothing to change":                {ec2.ModifySubnetAttributeInput{}, "InvalidParameterCombination"},
		"two at once":                      {ec2.ModifySubnetAttributeInput{MapPublicIpOnLaunch: on, EnableResourceNameDnsARecordOnLaunch: on}, "InvalidParameterCombination"},
		"a kind of names that is none":     {ec2.ModifySubnetAttributeInput{PrivateDnsHostnameTypeOnLaunch: "nickname"}, "InvalidParameterValue"},
		"addresses that the subnet lacks":  {ec2.ModifySubnetAttributeInput{AssignIpv6AddressOnCreation: on}, "InvalidParameterValue"},
		"names that need such addresses":   {ec2.ModifySubnetAttributeInput{EnableDns64: on}, "InvalidParameterValue"},
		"a subnet that is not the account": {ec2.ModifySubnetAttributeInput{SubnetId: aws.String("subnet-0"), MapPublicIpOnLaunch: on}, "InvalidSubnetID.NotFound"},
	}
	for name, tt := range refusals {
		if tt.in.SubnetId == nil {
			tt.in.SubnetId = subnet
		}
		if _, err := a.ec2.ModifySubnetAttribute(ctx, &tt.in); code(err) != tt.want {
			t.Errorf("%s: got %q (%v), want %q", name, code(err), err, tt.want)
		}
	}
	for _, in := range []ec2.ModifySubnetAttributeInput{
		{PrivateDnsHostnameTypeOnLaunch: types.HostnameTypeResourceName}, {EnableResourceNameDnsARecordOnLaunch: on}, {EnableResourceNameDnsAAAARecordOnLaunch: on},
		{MapPublicIpOnLaunch: on}, {AssignIpv6AddressOnCreation: &types.AttributeBooleanValue{Value: aws.Bool(false)}},
	} {
		in.SubnetId = subnet
		_, err := a.ec2.ModifySubnetAttribute(ctx, &in)
		a.must(err)
	}
	const options = "private-dns-name-options-on-launch."
	out, err := a.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: filters(
		options+"hostname-type", "resource-name", options+"enable-resource-name-dns-a-record", "true", options+"enable-resource-name-dns-aaaa-record", "true")})
	a.must(err)
	if len(out.Subnets) != 1 || *out.Subnets[0].SubnetId != *subnet {
		t.Fatalf("the filters find %d subnets, want the one that was changed", len(out.Subnets))
	}
	got := out.Subnets[0]
	if names := got.PrivateDnsNameOptionsOnLaunch; !*got.MapPublicIpOnLaunch || names.HostnameType != types.HostnameTypeResourceName ||
		!*names.EnableResourceNameDnsARecord || !*names.EnableResourceNameDnsAAAARecord {
		t.Errorf("the subnet shows %+v, public %t", names, *got.MapPublicIpOnLaunch)
	}
}
