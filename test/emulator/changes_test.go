package emulator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "Maximum 100 explicitly specified instance IDs" (DescribeInstanceStatus), "Up to 1000 instance IDs"
// (TerminateInstances).
func TestCallsNameSoManyInstances(t *testing.T) {
	a, ctx := open(t), context.Background()
	var ids []string
	for n := range 1001 {
		ids = append(ids, fmt.Sprintf("i-%017x", n))
	}
	calls := map[string]struct {
		most int
		call func([]string) error
	}{
		"DescribeInstances": {1000, func(ids []string) error {
			return second(a.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids}))
		}},
		"DescribeInstanceStatus": {100, func(ids []string) error {
			return second(a.ec2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{InstanceIds: ids}))
		}},
		"TerminateInstances": {1000, func(ids []string) error {
			return second(a.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids}))
		}},
	}
	for name, tt := range calls {
		t.Run(name, func(t *testing.T) {
			if got := code(tt.call(ids[:tt.most])); got != "InvalidInstanceID.NotFound" {
				t.Errorf("%d IDs: %q, want them looked for and not found", tt.most, got)
			}
			if got := code(tt.call(ids[:tt.most+1])); got != "InvalidParameterValue" {
				t.Errorf("%d IDs: %q, want InvalidParameterValue", tt.most+1, got)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// "You can stop a Spot Instance only if it was launched from a persistent Spot Instance request", which those of
// fleets are not; and one that may not be stopped keeps all others running.
func TestSpotInstancesOfFleetsDoNotStop(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	web := a.template("web")
	onDemand, err := a.fleet(web, 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	onSpot, err := a.fleet(web, 1, overrides(a.override("m5.large", "us-east-1a")), spot)
	a.must(err)
	a.Advance(time.Minute)
	ids := append(onDemand.Instances[0].InstanceIds, onSpot.Instances[0].InstanceIds...)
	_, err = a.ec2.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids})
	if code(err) != "UnsupportedOperation" {
		t.Errorf("stop both: %q, want UnsupportedOperation", code(err))
	}
	for _, i := range a.server.Instances() {
		if i.State != "running" {
			t.Errorf("%s is %s after that, want running", i.ID, i.State)
		}
	}
	_, err = a.ec2.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids[:1]})
	a.must(err)
}

// Status checks tell of the instance, of its system and of its volumes.
func TestStatusChecksReportVolumes(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	_, err := a.fleet(a.template("web"), 1, overrides(a.override("m5.large", "us-east-1a")))
	a.must(err)
	for _, want := range []string{"not-applicable", "ok"} {
		out, err := a.ec2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{
			IncludeAllInstances: aws.Bool(true), Filters: filters("attached-ebs-status.status", want, "availability-zone-id", "use1-*"),
		})
		a.must(err)
		if len(out.InstanceStatuses) != 1 || string(out.InstanceStatuses[0].AttachedEbsStatus.Status) != want {
			t.Errorf("%d instances whose volumes are %s, want one", len(out.InstanceStatuses), want)
		}
		a.Advance(time.Minute)
	}
}

// "MaxPrice: the maximum hourly price that you're willing to pay for a Spot Instance", which a launch by RunInstances says
// among its market options.
func TestAnInstanceIsBidFor(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	web := a.template("web")
	for bid, want := range map[string]string{"0.0001": "SpotMaxPriceTooLow", "10": ""} {
		out, err := a.ec2.RunInstances(ctx, &ec2.RunInstancesInput{
			MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: &web},
			InstanceMarketOptions: &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot, SpotOptions: &types.SpotMarketOptions{MaxPrice: &bid}},
		})
		if code(err) != want {
			t.Errorf("a bid of %s: %q, want %q", bid, code(err), want)
		}
		if err == nil && out.Instances[0].InstanceLifecycle != types.InstanceLifecycleTypeSpot {
			t.Errorf("a bid of %s bought %s, want spot", bid, out.Instances[0].InstanceLifecycle)
		}
	}
}
