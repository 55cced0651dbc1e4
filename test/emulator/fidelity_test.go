package emulator_test

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// "price-capacity-optimized: the pools with the highest capacity availability are identified, then Spot Instances are
// requested from the lowest priced of these pools." "capacity-optimized-prioritized: optimizes for capacity first, but honors
// priorities on a best-effort basis."
func TestSpotFleetWeighsPriceAndCapacity(t *testing.T) {
	thin, deep := market.Pool{Kind: "m5.large", Zone: "us-east-1a", Option: market.Spot}, market.Pool{Kind: "m5.large", Zone: "us-east-1b", Option: market.Spot}
	tests := map[string]struct {
		strategy types.SpotAllocationStrategy
		left     int // that the cheaper pool has
		want     string
	}{
		"the cheapest, however thin":             {types.SpotAllocationStrategyLowestPrice, 1, "us-east-1a"},
		"a bit more expensive and deep":          {types.SpotAllocationStrategyPriceCapacityOptimized, 1, "us-east-1b"},
		"the cheaper of two that are deep":       {types.SpotAllocationStrategyPriceCapacityOptimized, 500, "us-east-1a"},
		"deep, against the caller's order":       {types.SpotAllocationStrategyCapacityOptimizedPrioritized, 1, "us-east-1b"},
		"the caller's order where both are deep": {types.SpotAllocationStrategyCapacityOptimizedPrioritized, 500, "us-east-1a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, noLags)
			a.server.Market().SetPrice(thin, 0.040)
			a.server.Market().SetPrice(deep, 0.044)
			a.server.Market().SetCapacity(thin, tt.left, 0)
			first, second := a.override("m5.large", "us-east-1a"), a.override("m5.large", "us-east-1b")
			first.Priority, second.Priority = aws.Float64(1), aws.Float64(2)
			out, err := a.fleet(a.template("web"), 1, overrides(second, first), spot, func(in *ec2.CreateFleetInput) {
				in.SpotOptions.AllocationStrategy = tt.strategy
			})
			a.must(err)
			if got := *out.Instances[0].LaunchTemplateAndOverrides.Overrides.AvailabilityZone; got != tt.want {
				t.Errorf("bought in %s, want %s", got, tt.want)
			}
		})
	}
}

// What a launch may be refused for besides a shortage, each under EC2's own code: for one override in errorSet,
// for the whole request as an error.
func TestLaunchesAreRefusedUnderEC2sCodes(t *testing.T) {
	lacking := ""
	for _, k := range ec2data.Load().OfferedIn("us-east-1") {
		if zones := k.OfferedZones("us-east-1"); slices.Contains(k.Architectures, "x86_64") && !slices.Contains(zones, "us-east-1a") {
			lacking = k.Name
			break
		}
	}
	tests := map[string]struct {
		kind    string
		n       int32
		prepare func(*account)
		data    []func(*types.RequestLaunchTemplateData)
		change  []func(*ec2.CreateFleetInput)
		want    string
	}{
		"the zone does not offer the type": {kind: lacking, want: "Unsupported"},
		"the market does not sell it so":   {kind: "m5.large", want: "UnfulfillableCapacity", prepare: refuse("UnfulfillableCapacity")},
		"too many fleets":                  {kind: "m5.large", want: "MaxFleetCountExceeded", prepare: refuse("MaxFleetCountExceeded")},
		"a bid below the price": {kind: "m5.large", want: "SpotMaxPriceTooLow", change: []func(*ec2.CreateFleetInput){spot, func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].Overrides[0].MaxPrice = aws.String("0.0001")
		}}},
		"no role for spot, and no right to make it": {kind: "m5.large", want: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", change: []func(*ec2.CreateFleetInput){spot},
			prepare: func(a *account) {
				_, err := iam.NewFromConfig(a.config).DeleteServiceLinkedRole(context.Background(), &iam.DeleteServiceLinkedRoleInput{RoleName: aws.String("AWSServiceRoleForEC2Spot")})
				a.must(err)
				a.server.Deny("CreateServiceLinkedRole")
			}},
		"no right to": {kind: "m5.large", want: "UnauthorizedOperation", prepare: func(a *account) { a.server.Deny("CreateFleet") }},
		"a template that is not there": {kind: "m5.large", want: "InvalidLaunchTemplateName.NotFoundException", change: []func(*ec2.CreateFleetInput){func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName = aws.String("other")
		}}},
		// "You cannot specify more than one network interface in the request." (AssociatePublicIpAddress, API reference)
		"a public address beside a second interface": {kind: "m5.large", want: "InvalidParameterCombination", data: []func(*types.RequestLaunchTemplateData){func(d *types.RequestLaunchTemplateData) {
			d.NetworkInterfaces[0].AssociatePublicIpAddress = aws.Bool(false)
			d.NetworkInterfaces = append(d.NetworkInterfaces, types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{DeviceIndex: aws.Int32(1)})
		}}},
		"more than a thousand at once": {kind: "m5.large", n: 1001, want: "InvalidTargetCapacitySpecification"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, noLags)
			a.template("web", tt.data...)
			if tt.prepare != nil {
				tt.prepare(a)
			}
			out, err := a.fleet("web", max(tt.n, 1), overrides(a.override(tt.kind, "us-east-1a")), tt.change...)
			got := code(err)
			if err == nil && len(out.Errors) > 0 {
				got = *out.Errors[0].ErrorCode
			}
			if got != tt.want || len(a.server.Instances()) > 0 {
				t.Errorf("got %q and %d instances, want %s and none", got, len(a.server.Instances()), tt.want)
			}
		})
	}
}

// "User data must be base64-encoded", and "is limited to 16 KB, in raw form, before it is base64-encoded"; "if you specify a network
// interface, you must specify any security groups as part of it".
func TestTemplatesAreChecked(t *testing.T) {
	tests := map[string]struct {
		data types.RequestLaunchTemplateData
		want string
	}{
		"user data as large as may be":  {types.RequestLaunchTemplateData{UserData: encoded(16 << 10)}, ""},
		"user data that is larger":      {types.RequestLaunchTemplateData{UserData: encoded(16<<10 + 1)}, "InvalidParameterValue"},
		"user data that is not encoded": {types.RequestLaunchTemplateData{UserData: aws.String("#!/bin/sh")}, "InvalidUserData.Malformed"},
		"groups beside interfaces": {types.RequestLaunchTemplateData{SecurityGroupIds: []string{"sg-1"},
			NetworkInterfaces: []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: aws.Int32(0)}}}, "InvalidParameterCombination"},
		"a volume nobody sells": {types.RequestLaunchTemplateData{BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{{
			DeviceName: aws.String("/dev/xvda"), Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeType: "gp9"}}}}, "InvalidParameterValue"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, noLags).ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("web"), LaunchTemplateData: &tt.data})
			if got := code(err); got != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func encoded(bytes int) *string {
	return aws.String(base64.StdEncoding.EncodeToString(make([]byte, bytes)))
}

func refuse(code string) func(*account) {
	return func(a *account) {
		a.server.RefusePool(market.Pool{Kind: "m5.large", Zone: "us-east-1a", Option: market.OnDemand}, code, "")
	}
}

// "The first four IP addresses and the last IP address in each subnet CIDR block are not available": a /28 has eleven.
func TestASubnetRunsOutOfAddresses(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	vpc, err := a.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.9.0.0/16")})
	a.must(err)
	made, err := a.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: aws.String("10.9.1.0/28"), AvailabilityZone: aws.String("us-east-1a")})
	a.must(err)
	out, err := a.fleet(a.template("web", func(d *types.RequestLaunchTemplateData) { d.NetworkInterfaces = nil }), 12, overrides(types.FleetLaunchTemplateOverridesRequest{InstanceType: "m5.large", SubnetId: made.Subnet.SubnetId}))
	a.must(err)
	if n := len(out.Instances[0].InstanceIds); n != 11 || *out.Errors[0].ErrorCode != "InsufficientFreeAddressesInSubnet" {
		t.Errorf("%d of 12 bought, %v; want 11, InsufficientFreeAddressesInSubnet", n, out.Errors)
	}
}

// "If a request with the same client token and parameters is retried, it succeeds without performing any further
// actions. With other parameters: IdempotentParameterMismatch." For launches and templates as for fleets.
func TestTokensAreIdempotent(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	a.template("web")
	calls := map[string]func(other bool) (string, error){
		"RunInstances": func(other bool) (string, error) {
			in := &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ClientToken: aws.String("t"),
				LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: aws.String("web")}}
			if other {
				in.InstanceType = "m5.xlarge"
			}
			out, err := a.ec2.RunInstances(ctx, in)
			if err != nil {
				return "", err
			}
			return *out.Instances[0].InstanceId, nil
		},
		"CreateLaunchTemplate": func(other bool) (string, error) {
			data := &types.RequestLaunchTemplateData{ImageId: aws.String(a.image("x86_64"))}
			if other {
				data.KeyName = aws.String("key")
			}
			out, err := a.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("twice"), LaunchTemplateData: data, ClientToken: aws.String("t")})
			if err != nil {
				return "", err
			}
			return *out.LaunchTemplate.LaunchTemplateId, nil
		},
	}
	for name, do := range calls {
		t.Run(name, func(t *testing.T) {
			first, err := do(false)
			a.must(err)
			if again, err := do(false); err != nil || again != first {
				t.Errorf("the same again gives %q, %v; want %q", again, err, first)
			}
			if _, err := do(true); code(err) != "IdempotentParameterMismatch" {
				t.Errorf("other parameters: %q, want IdempotentParameterMismatch", code(err))
			}
		})
	}
	a.Advance(26 * time.Hour)
	if _, err := calls["RunInstances"](true); err != nil { // tokens are forgotten after a day
		t.Errorf("other parameters a day later: %v, want them taken", err)
	}
}

// "You can tag resources on creation": instances, their volumes and interfaces, and spot requests, by the template and by
// the request; tags of both are merged.
func TestTagsAreThereFromTheLaunchOn(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	out, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")), spot, func(in *ec2.CreateFleetInput) {
		in.TagSpecifications = nil
		for _, kind := range []types.ResourceType{"instance", "volume", "network-interface", "fleet", "spot-instances-request"} {
			in.TagSpecifications = append(in.TagSpecifications, types.TagSpecification{ResourceType: kind, Tags: tagList("of", string(kind))})
		}
	})
	a.must(err)
	shown, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: out.Instances[0].InstanceIds})
	a.must(err)
	i := shown.Reservations[0].Instances[0]
	volumes, err := a.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: filters("attachment.instance-id", *i.InstanceId)})
	a.must(err)
	interfaces, err := a.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: filters("attachment.instance-id", *i.InstanceId)})
	a.must(err)
	requests, err := a.ec2.DescribeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{SpotInstanceRequestIds: []string{*i.SpotInstanceRequestId}})
	a.must(err)
	for kind, have := range map[string][]types.Tag{
		"instance": i.Tags, "volume": volumes.Volumes[0].Tags, "network-interface": interfaces.NetworkInterfaces[0].TagSet,
		"spot-instances-request": requests.SpotInstanceRequests[0].Tags,
	} {
		if !slices.ContainsFunc(have, func(tag types.Tag) bool { return *tag.Key == "of" && *tag.Value == kind }) {
			t.Errorf("%s has tags %v, want of=%s", kind, have, kind)
		}
	}
	if have := interfaces.NetworkInterfaces[0].TagSet; !slices.ContainsFunc(have, func(tag types.Tag) bool { return *tag.Key == "net" }) {
		t.Errorf("interface has tags %v, want the template's too", have)
	}
}

// "Instance terminates immediately: you've exceeded your Amazon EBS volume limits": it goes from pending to terminated
// and says why.
func TestABootMayFail(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	a.server.Market().FailBoots(1, "Client.VolumeLimitExceeded")
	var reported []string
	a.server.Watch(func(e emulator.Event) { reported = append(reported, e.Instance.State) })
	out, err := a.fleet(a.template("web"), 2, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	ids := out.Instances[0].InstanceIds
	a.server.Advance()
	a.Advance(2 * time.Minute)
	a.server.Advance()
	states := map[types.InstanceStateName]string{}
	shown, err := a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
	a.must(err)
	for _, i := range shown.Reservations[0].Instances {
		reason := ""
		if i.StateReason != nil {
			reason = *i.StateReason.Code
		}
		states[i.State.Name] = reason
	}
	slices.Sort(reported)
	if states["terminated"] != "Client.VolumeLimitExceeded" || len(states) != 2 || strings.Join(reported, " ") != "pending pending running terminated" {
		t.Errorf("states are %v, told %v; want one that ended before it ran, for the reason, and one that runs", states, reported)
	}
}

// "On rare occasions … you might get that message copy again"; "best-effort ordering": events come more than once, and not
// in the order in which they happened.
func TestEventsComeTwiceAndOutOfOrder(t *testing.T) {
	a := open(t, noLags, func(o *world.Options) {
		o.TimeScale, o.Lags = 0.05, &world.Lags{EventMost: 2 * time.Second, EventTwice: 0.3}
	})
	_, err := a.fleet(a.template("web"), 60, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	var bodies []string
	for range 60 {
		a.server.Advance()
		bodies = append(bodies, a.drain("lab")...)
		a.Advance(100 * time.Millisecond)
	}
	seen, turned := map[string]int{}, 0
	for _, b := range bodies {
		_, id, _ := strings.Cut(b, `"instance-id":"`)
		id = id[:19]
		if strings.Contains(b, `"pending"`) && seen[id+" running"] > 0 && seen[id+" pending"] == 0 {
			turned++
		}
		seen[id+map[bool]string{true: " pending", false: " running"}[strings.Contains(b, `"pending"`)]]++
	}
	if len(seen) != 120 || len(bodies) < 130 || turned == 0 {
		t.Errorf("%d events came as %d messages, %d of them turned round; want 120 events, copies, and disorder", len(seen), len(bodies), turned)
	}
}

// A queue keeps what anybody sends: "messages can contain any text", and the guides' keeps it for five minutes.
func TestAnyTextLiesInTheQueue(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	client, url := sqs.NewFromConfig(a.config), a.server.QueueURL()
	for _, body := range []string{"{", `{"version":"9","source":"shop","detail-type":"Sold"}`} {
		_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
		a.must(err)
	}
	if got := a.drain("lab"); !slices.Equal(got, []string{"{", `{"version":"9","source":"shop","detail-type":"Sold"}`}) {
		t.Errorf("received %q, want both as they were sent", got)
	}
	_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("late")})
	a.must(err)
	a.Advance(301 * time.Second)
	if got := a.drain("lab"); len(got) != 0 {
		t.Errorf("after five minutes there is %q", got)
	}
}

// Image aliases lead to the newest release: as time goes on, to newer ones. Releases that have a name of their own stay.
func TestImagesComeOutAsTimeGoesOn(t *testing.T) {
	a, ctx := open(t), context.Background()
	before := a.image("x86_64")
	a.must(a.server.Forward(30 * 24 * time.Hour))
	after := a.image("x86_64")
	shown, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{before, after}})
	a.must(err)
	created := map[string]string{}
	for _, i := range shown.Images {
		created[*i.ImageId] = *i.CreationDate
	}
	if before == after || created[after] <= created[before] {
		t.Errorf("the alias led to %s of %s, and leads to %s of %s; want a newer one", before, created[before], after, created[after])
	}
	out, err := ssm.NewFromConfig(a.config).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/aws/service/bottlerocket/aws-k8s-1.36/x86_64/1.51.0/image_id")})
	if err != nil || *out.Parameter.Value == "" {
		t.Errorf("the new release has no name of its own: %v", err)
	}
}

// "After you deregister an AMI, you can't use it to launch new instances"; templates that name it stay. "No deprecated AMIs are
// included in the response. If you are the AMI owner, all deprecated AMIs appear in the response regardless". Only its owner may do either.
func TestAnImageOfOnesOwn(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	made, err := a.ec2.CopyImage(ctx, &ec2.CopyImageInput{Name: aws.String("ours"), SourceImageId: aws.String(a.image("x86_64")), SourceRegion: aws.String("us-east-1")})
	a.must(err)
	web := a.template("web", func(d *types.RequestLaunchTemplateData) { d.ImageId = made.ImageId })
	_, err = a.fleet(web, 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	listed := func() int {
		out, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}})
		a.must(err)
		return len(out.Images)
	}
	if n := listed(); n != 1 {
		t.Errorf("%d images of our own, want the copy", n)
	}
	_, err = a.ec2.EnableImageDeprecation(ctx, &ec2.EnableImageDeprecationInput{ImageId: made.ImageId, DeprecateAt: aws.Time(a.Now().Add(time.Hour))})
	a.must(err)
	a.Advance(2 * time.Hour)
	until := func() string {
		out, err := a.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: filters("is-public", "false")})
		a.must(err)
		if len(out.Images) != 1 || *out.Images[0].ImageId != *made.ImageId || *out.Images[0].Public {
			t.Fatalf("images that are not public: %d, want the copy", len(out.Images))
		}
		return aws.ToString(out.Images[0].DeprecationTime)
	}
	if got := until(); got != "2026-11-21T13:00:00.000Z" || listed() != 1 {
		t.Errorf("deprecated at %q, %d images of our own are listed after it; want it listed to its owner", got, listed())
	}
	_, err = a.ec2.DisableImageDeprecation(ctx, &ec2.DisableImageDeprecationInput{ImageId: made.ImageId})
	a.must(err)
	if got := until(); got != "" {
		t.Errorf("deprecated at %q after that was taken back", got)
	}
	_, err = a.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: aws.String(a.image("x86_64"))})
	if code(err) != "AuthFailure" {
		t.Errorf("deregister AWS's own: %q, want AuthFailure", code(err))
	}
	_, err = a.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: made.ImageId})
	a.must(err)
	out, err := a.fleet(web, 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	if len(out.Errors) != 1 || *out.Errors[0].ErrorCode != "InvalidAMIID.NotFound" {
		t.Errorf("a launch by the template that names it: %v, want InvalidAMIID.NotFound", out.Errors)
	}
}

// "active: fulfilled", "marked-for-termination" from the warning on, "closed: instance-terminated-no-capacity" where EC2 took it
// back and "instance-terminated-by-user" where its owner ended it.
func TestSpotRequestsReportHowTheyStand(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	out, err := a.fleet(a.template("web"), 2, overrides(a.override("m5.large", "us-east-1a")), spot)
	a.must(err)
	a.Advance(time.Minute)
	taken, ended := out.Instances[0].InstanceIds[0], out.Instances[0].InstanceIds[1]
	stands := func(instance string) string {
		out, err := a.ec2.DescribeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{Filters: filters("instance-id", instance)})
		a.must(err)
		r := out.SpotInstanceRequests[0]
		return string(r.State) + " " + *r.Status.Code
	}
	story := []string{stands(taken)}
	a.server.Market().Interrupt(taken)
	story = append(story, stands(taken))
	a.Advance(4 * time.Minute)
	a.server.Market().Terminate(ended, "Client.UserInitiatedShutdown")
	story = append(story, stands(taken), stands(ended))
	want := []string{"active fulfilled", "active marked-for-termination", "closed instance-terminated-no-capacity", "closed instance-terminated-by-user"}
	if !slices.Equal(story, want) {
		t.Errorf("requests stand %q, want %q", story, want)
	}
}

// A subnet whose instances get public addresses may be told otherwise, and an instance that was stopped starts again.
func TestSubnetsAndInstancesAreChanged(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	o := a.override("m5.large", "us-east-1a")
	_, err := a.ec2.ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: o.SubnetId, MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: aws.Bool(true)}})
	a.must(err)
	out, err := a.fleet(a.template("web"), 1, overrides(o))
	a.must(err)
	ids := out.Instances[0].InstanceIds
	a.Advance(time.Minute)
	if i := a.server.Instances()[0]; i.PublicIP == "" {
		t.Errorf("%s has no public address", i.ID)
	}
	_, err = a.ec2.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids})
	a.must(err)
	_, err = a.ec2.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: ids})
	if code(err) != "IncorrectInstanceState" {
		t.Errorf("start one that is stopping: %q, want IncorrectInstanceState", code(err))
	}
	a.Advance(2 * time.Minute)
	_, err = a.ec2.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: ids})
	a.must(err)
	a.Advance(time.Minute)
	if i := a.server.Instances()[0]; i.State != "running" {
		t.Errorf("%s is %s after its start, want running", i.ID, i.State)
	}
}
