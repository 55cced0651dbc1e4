package emulator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// "lowest-price: instances come from the lowest priced pool that has capacity",
// and the answer names pool, subnet and template.
func TestFleetTakesTheCheapestPool(t *testing.T) {
	a := open(t, noLags)
	out, err := a.fleet(a.template("web"), 2, overrides(a.override("m5.xlarge", "us-east-1a"), a.override("m5.large", "us-east-1b")))
	a.must(err)
	if len(out.Instances) != 1 || len(out.Instances[0].InstanceIds) != 2 || len(out.Errors) != 0 {
		t.Fatalf("got %d items, %d errors; want one item with 2 instances", len(out.Instances), len(out.Errors))
	}
	got := out.Instances[0]
	if got.InstanceType != "m5.large" || *got.LaunchTemplateAndOverrides.Overrides.SubnetId != *a.subnets()["us-east-1b"].SubnetId ||
		got.Lifecycle != types.InstanceLifecycleOnDemand {
		t.Errorf("got %s in %s as %s", got.InstanceType, *got.LaunchTemplateAndOverrides.Overrides.SubnetId, got.Lifecycle)
	}
}

// "prioritized: the order of the overrides' priority decides; lower is first".
func TestFleetFollowsPriorities(t *testing.T) {
	a := open(t, noLags)
	expensive, cheap := a.override("m5.4xlarge", "us-east-1a"), a.override("m5.large", "us-east-1a")
	expensive.Priority, cheap.Priority = aws.Float64(1), aws.Float64(2)
	out, err := a.fleet(a.template("web"), 1, overrides(cheap, expensive), func(in *ec2.CreateFleetInput) {
		in.OnDemandOptions.AllocationStrategy = types.FleetOnDemandAllocationStrategyPrioritized
	})
	a.must(err)
	if got := out.Instances[0].InstanceType; got != "m5.4xlarge" {
		t.Errorf("got %s, want m5.4xlarge, which has priority 1", got)
	}
}

// Shortage is HTTP 200: what there is is offered, the next pool fills up, and
// errorSet says what was short.
func TestFleetIsFulfilledInParts(t *testing.T) {
	a := open(t, noLags)
	large := market.Pool{Kind: "m5.large", Zone: "us-east-1a", Option: market.OnDemand}
	xlarge := market.Pool{Kind: "m5.xlarge", Zone: "us-east-1a", Option: market.OnDemand}
	tests := map[string]struct {
		large, xlarge int
		want          string
	}{
		"one pool is enough":           {9, 9, "m5.large:3 "},
		"the next pool fills up":       {1, 9, "m5.large:1 m5.xlarge:2 short:m5.large "},
		"both are short":               {1, 1, "m5.large:1 m5.xlarge:1 short:m5.large short:m5.xlarge "},
		"zero instances are an answer": {0, 0, "short:m5.large short:m5.xlarge "},
	}
	a.template("web")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a.server.Market().SetCapacity(large, tt.large, 0)
			a.server.Market().SetCapacity(xlarge, tt.xlarge, 0)
			out, err := a.fleet("web", 3, overrides(a.override("m5.large", "us-east-1a"), a.override("m5.xlarge", "us-east-1a")))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, i := range out.Instances {
				got += fmt.Sprintf("%s:%d ", i.InstanceType, len(i.InstanceIds))
			}
			for _, e := range out.Errors {
				if *e.ErrorCode != "InsufficientInstanceCapacity" {
					t.Errorf("error code %s, want InsufficientInstanceCapacity", *e.ErrorCode)
				}
				got += fmt.Sprintf("short:%s ", e.LaunchTemplateAndOverrides.Overrides.InstanceType)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What EC2 refuses for one override lies in errorSet under its own code.
func TestFleetRefusesOverrides(t *testing.T) {
	tests := map[string]struct {
		kind, zone string
		image      string
		prepare    func(*account)
		data       func(*types.RequestLaunchTemplateData)
		want       string
	}{
		"a type that the zone lacks":      {kind: "m5.large", zone: "us-east-1e", want: "InvalidSubnetID.NotFound"},
		"an image of the other processor": {kind: "m6g.large", zone: "us-east-1a", want: "InvalidParameterValue"},
		"an unknown profile": {kind: "m5.large", zone: "us-east-1a", want: "InvalidParameterValue", data: func(d *types.RequestLaunchTemplateData) {
			d.IamInstanceProfile.Name = aws.String("nobody")
		}},
		"an unknown image": {kind: "m5.large", zone: "us-east-1a", want: "InvalidAMIID.NotFound", data: func(d *types.RequestLaunchTemplateData) {
			d.ImageId = aws.String("ami-00000000000000000")
		}},
		"an unknown group": {kind: "m5.large", zone: "us-east-1a", want: "InvalidGroup.NotFound", data: func(d *types.RequestLaunchTemplateData) {
			d.NetworkInterfaces[0].Groups = []string{"sg-0"}
		}},
		"a quota": {kind: "m5.large", zone: "us-east-1a", want: "VcpuLimitExceeded", prepare: func(a *account) {
			a.server.RefusePool(market.Pool{Kind: "m5.large", Zone: "us-east-1a", Option: market.OnDemand}, "VcpuLimitExceeded", "")
		}},
		"more than fifty tags, template and request together": {kind: "m5.large", zone: "us-east-1a", want: "TagLimitExceeded", data: func(d *types.RequestLaunchTemplateData) {
			fifty := types.LaunchTemplateTagSpecificationRequest{ResourceType: types.ResourceTypeInstance}
			for n := range 50 {
				fifty.Tags = append(fifty.Tags, tagList(fmt.Sprint("t", n), "")...)
			}
			d.TagSpecifications = []types.LaunchTemplateTagSpecificationRequest{fifty}
		}},
		"spot tags without spot": {kind: "m5.large", zone: "us-east-1a", want: "InvalidParameterValue", data: func(d *types.RequestLaunchTemplateData) {
			d.TagSpecifications = []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeSpotInstancesRequest, Tags: tagList("a", "b")}}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, noLags)
			if tt.prepare != nil {
				tt.prepare(a)
			}
			var change []func(*types.RequestLaunchTemplateData)
			if tt.data != nil {
				change = append(change, tt.data)
			}
			o := a.override(tt.kind, tt.zone)
			if o.SubnetId == nil {
				o.SubnetId = aws.String("subnet-0")
			}
			out, err := a.fleet(a.template("web", change...), 1, overrides(o))
			a.must(err)
			if len(out.Instances) != 0 || len(out.Errors) != 1 || *out.Errors[0].ErrorCode != tt.want {
				t.Fatalf("got %d instances, errors %+v; want %s", len(out.Instances), out.Errors, tt.want)
			}
			if got := out.Errors[0].LaunchTemplateAndOverrides.Overrides.InstanceType; string(got) != tt.kind {
				t.Errorf("the error is about %s, want %s", got, tt.kind)
			}
		})
	}
}

// What EC2 would go by and the emulator does not is refused, rather than launched otherwise than it was asked for.
func TestFleetsSayWhatTheyDoNotGoBy(t *testing.T) {
	a := open(t, noLags)
	a.template("web")
	for what, change := range map[string]func(*ec2.CreateFleetInput){
		"SpotTargetCapacity":                 func(in *ec2.CreateFleetInput) { in.TargetCapacitySpecification.SpotTargetCapacity = aws.Int32(1) },
		"TargetCapacityUnitType vcpu":        func(in *ec2.CreateFleetInput) { in.TargetCapacitySpecification.TargetCapacityUnitType = "vcpu" },
		"OnDemandOptions.SingleInstanceType": func(in *ec2.CreateFleetInput) { in.OnDemandOptions.SingleInstanceType = aws.Bool(true) },
		"OnDemandOptions.MaxTotalPrice":      func(in *ec2.CreateFleetInput) { in.OnDemandOptions.MaxTotalPrice = aws.String("1") },
		"SpotOptions.SingleAvailabilityZone": func(in *ec2.CreateFleetInput) { spot(in); in.SpotOptions.SingleAvailabilityZone = aws.Bool(true) },
		"OnDemandTargetCapacity": func(in *ec2.CreateFleetInput) {
			spot(in)
			in.TargetCapacitySpecification.OnDemandTargetCapacity = aws.Int32(1)
		},
		"WeightedCapacity 2": func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].Overrides[0].WeightedCapacity = aws.Float64(2)
		},
		"InstanceRequirements: name instance types": func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].Overrides[0].InstanceRequirements = &types.InstanceRequirementsRequest{
				VCpuCount: &types.VCpuCountRangeRequest{Min: aws.Int32(1)}, MemoryMiB: &types.MemoryMiBRequest{Min: aws.Int32(1)},
			}
		},
	} {
		_, err := a.fleet("web", 2, overrides(a.override("m5.large", "us-east-1a")), change)
		if code(err) != "UnsupportedOperation" || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v, want UnsupportedOperation that names it", what, err)
		}
	}
	_, err := a.fleet("web", 2, overrides(a.override("m5.large", "us-east-1a")), func(in *ec2.CreateFleetInput) {
		in.TargetCapacitySpecification.OnDemandTargetCapacity, in.OnDemandOptions.SingleInstanceType = aws.Int32(2), aws.Bool(false)
		in.LaunchTemplateConfigs[0].Overrides[0].WeightedCapacity = aws.Float64(1)
	})
	if err != nil || len(a.server.Instances()) != 2 {
		t.Errorf("a fleet that says no more than it may: %v, %d instances, want two", err, len(a.server.Instances()))
	}
}

// "Same token, same parameters: the same answer; other parameters:
// IdempotentParameterMismatch."
func TestFleetTokenIsIdempotent(t *testing.T) {
	a := open(t, noLags)
	a.template("web")
	token := func(in *ec2.CreateFleetInput) { in.ClientToken = aws.String("token-1") }
	o := overrides(a.override("m5.large", "us-east-1a"))
	first, err := a.fleet("web", 1, o, token)
	a.must(err)
	again, err := a.fleet("web", 1, o, token)
	a.must(err)
	if *first.FleetId != *again.FleetId || first.Instances[0].InstanceIds[0] != again.Instances[0].InstanceIds[0] {
		t.Errorf("the repeat gave fleet %s, want %s", *again.FleetId, *first.FleetId)
	}
	if _, err := a.fleet("web", 2, o, token); code(err) != "IdempotentParameterMismatch" {
		t.Errorf("other parameters: got %q, want IdempotentParameterMismatch", code(err))
	}
	if n := len(a.server.Instances()); n != 1 {
		t.Errorf("%d instances were bought, want 1", n)
	}
}

// A new template is not found by a launch for a moment; afterwards it is.
func TestFleetWaitsForItsTemplate(t *testing.T) {
	a := open(t, func(o *world.Options) { o.Lags = &world.Lags{TemplateMost: 500 * time.Millisecond} })
	a.template("web")
	o := overrides(a.override("m5.large", "us-east-1a"))
	if _, err := a.fleet("web", 1, o); code(err) != "InvalidLaunchTemplateName.NotFoundException" {
		t.Errorf("at once: got %q, want InvalidLaunchTemplateName.NotFoundException", code(err))
	}
	a.Advance(time.Second)
	if _, err := a.fleet("web", 1, o); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// Most launch templates are found by a launch that follows at once, as at EC2.
func TestFewTemplatesAreNotSeenAtOnce(t *testing.T) {
	a := open(t)
	unseen := 0
	o := overrides(a.override("t3.nano", "us-east-1a"))
	for i := range 200 {
		_, err := a.fleet(a.template(fmt.Sprint("web-", i)), 1, o)
		switch code(err) {
		case "":
		case "InvalidLaunchTemplateName.NotFoundException":
			unseen++
		default:
			t.Fatal(err)
		}
		a.Advance(5 * time.Second) // for the token buckets
	}
	if unseen == 0 || unseen > 12 {
		t.Errorf("%d of 200 templates were not seen at once; want about 4", unseen)
	}
}

// The record of an instance carries what its template and its override say.
func TestInstanceRecord(t *testing.T) {
	a := open(t, noLags)
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")), spot)
	a.must(err)
	id := out.Instances[0].InstanceIds[0]
	shown, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	a.must(err)
	i := shown.Reservations[0].Instances[0]
	tags := map[string]string{}
	for _, tag := range i.Tags {
		tags[*tag.Key] = *tag.Value
	}
	for what, ok := range map[string]bool{
		"lifecycle":      i.InstanceLifecycle == types.InstanceLifecycleTypeSpot && i.SpotInstanceRequestId != nil,
		"profile":        *i.IamInstanceProfile.Arn == "arn:aws:iam::123456789012:instance-profile/KarpenterNodeInstanceProfile-lab",
		"zone":           *i.Placement.AvailabilityZone == "us-east-1a" && *i.Placement.AvailabilityZoneId == "use1-az1",
		"metadata":       i.MetadataOptions.HttpTokens == types.HttpTokensStateRequired && *i.MetadataOptions.HttpPutResponseHopLimit == 1,
		"private DNS":    *i.PrivateDnsName == "ip-10-0-128-5.ec2.internal" && *i.PrivateIpAddress == "10.0.128.5",
		"state":          i.State.Name == types.InstanceStateNamePending,
		"own tag":        tags["claim"] == "one",
		"fleet tag":      tags["aws:ec2:fleet-id"] == *out.FleetId,
		"template tag":   tags["aws:ec2launchtemplate:version"] == "1",
		"groups":         len(i.SecurityGroups) == 1 && len(i.NetworkInterfaces) == 1,
		"volume":         len(i.BlockDeviceMappings) == 1,
		"architecture":   i.Architecture == types.ArchitectureValuesX8664,
		"private subnet": i.PublicIpAddress == nil,
	} {
		if !ok {
			t.Errorf("%s is wrong in %+v", what, i)
		}
	}
	data, err := a.ec2.DescribeInstanceAttribute(context.Background(), &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: types.InstanceAttributeNameUserData})
	a.must(err)
	if *data.UserData.Value != "aGVsbG8=" || a.server.Instances()[0].UserData != "hello" {
		t.Errorf("user data %q and %q", *data.UserData.Value, a.server.Instances()[0].UserData)
	}
	volumes, err := a.ec2.DescribeVolumes(context.Background(), &ec2.DescribeVolumesInput{Filters: filters("attachment.instance-id", id)})
	a.must(err)
	if v := volumes.Volumes[0]; *v.Size != 40 || !*v.Encrypted || *v.Iops != 3000 {
		t.Errorf("volume %+v, want 40 GiB, encrypted, 3000 IOPS", v)
	}
}

// DescribeSubnets counts free addresses; launches take them, ends terminate.
func TestAddressesAreCounted(t *testing.T) {
	a := open(t, noLags)
	a.template("web")
	before := *a.subnets()["us-east-1c"].AvailableIpAddressCount
	out, err := a.fleet("web", 7, overrides(a.override("m5.large", "us-east-1c")))
	a.must(err)
	if got := *a.subnets()["us-east-1c"].AvailableIpAddressCount; got != before-7 {
		t.Errorf("free addresses went from %d to %d, want 7 fewer", before, got)
	}
	_, err = a.ec2.TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: out.Instances[0].InstanceIds})
	a.must(err)
	a.Advance(10 * time.Minute)
	a.server.Advance()
	if got := *a.subnets()["us-east-1c"].AvailableIpAddressCount; got != before {
		t.Errorf("after the end %d are free, want %d again", got, before)
	}
}

// EC2 answers with the state after the call, however fast its clock runs.
func TestAnInstanceThatIsTerminatedIsShuttingDown(t *testing.T) {
	var a *account
	a = open(t, noLags, func(o *world.Options) {
		still := o.Now
		o.Now = func() time.Time {
			if a != nil {
				a.Advance(time.Microsecond)
			}
			return still()
		}
	})
	a.template("web")
	launched, err := a.fleet("web", 1, overrides(a.override("m5.large", "us-east-1c")))
	a.must(err)
	a.Advance(5 * time.Minute)
	out, err := a.ec2.TerminateInstances(context.Background(), &ec2.TerminateInstancesInput{InstanceIds: launched.Instances[0].InstanceIds})
	a.must(err)
	got := out.TerminatingInstances[0]
	if got.PreviousState.Name != types.InstanceStateNameRunning || got.CurrentState.Name != types.InstanceStateNameShuttingDown {
		t.Errorf("TerminateInstances answers %s after %s, want shutting-down after running", got.CurrentState.Name, got.PreviousState.Name)
	}
}
