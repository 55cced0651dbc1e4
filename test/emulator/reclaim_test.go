package emulator_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// reserving has a template launch from a reservation, on its market.
func reserving(id string, market types.MarketType) func(*types.RequestLaunchTemplateData) {
	return func(d *types.RequestLaunchTemplateData) {
		d.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: types.CapacityReservationPreferenceCapacityReservationsOnly,
			CapacityReservationTarget:     &types.CapacityReservationTarget{CapacityReservationId: aws.String(id)},
		}
		d.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: market}
	}
}

func ofReserved(in *ec2.CreateFleetInput) {
	in.OnDemandOptions = nil
	in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeReservedCapacity
	in.ReservedCapacityOptions = &types.ReservedCapacityOptionsRequest{
		ReservationTypes: []types.FleetReservationType{types.FleetReservationTypeInterruptibleCapacityReservation},
	}
}

func ofBlocks(in *ec2.CreateFleetInput) {
	in.OnDemandOptions = nil
	in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeCapacityBlock
}

// warnings are the bodies in the queue that warn instances of reservations, each once.
func (a *account) warnings() (all []map[string]any) {
	a.Helper()
	a.server.Advance()
	a.Advance(10 * time.Second) // events come late
	a.server.Advance()
	queue, reported := sqs.NewFromConfig(a.config), map[any]bool{}
	for {
		out, err := queue.ReceiveMessage(context.Background(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(a.server.QueueURL()), MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
		a.must(err)
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			var body map[string]any
			a.must(json.Unmarshal([]byte(*m.Body), &body))
			if body["detail-type"] == "EC2 Capacity Reservation Instance Interruption Warning" && !reported[body["id"]] {
				reported[body["id"]] = true
				all = append(all, body)
			}
		}
	}
}

func (a *account) stateOf(id string) types.InstanceStateName {
	a.Helper()
	out, err := a.ec2.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	a.must(err)
	return out.Reservations[0].Instances[0].State.Name
}

// "EC2 Fleet can fulfill reserved capacity using On-Demand Capacity Reservations, Capacity Blocks for ML, and interruptible
// Capacity Reservations. When you specify ReservedCapacityOptions, you must also set DefaultTargetCapacityType to
// reserved-capacity." Whose market a launch template names must be the reservation's.
func TestInterruptibleReservationsAreLaunchedAsReservedCapacity(t *testing.T) {
	tests := map[string]struct {
		market types.MarketType
		change func(*ec2.CreateFleetInput)
		want   string // code of the refusal; empty: an instance
	}{
		"as reserved capacity": {types.MarketTypeInterruptibleCapacityReservation, ofReserved, ""},
		"on demand":            {types.MarketTypeInterruptibleCapacityReservation, func(*ec2.CreateFleetInput) {}, "InvalidFleetConfiguration"},
		"as another kind of reserved capacity": {types.MarketTypeInterruptibleCapacityReservation, func(in *ec2.CreateFleetInput) {
			ofReserved(in)
			in.ReservedCapacityOptions.ReservationTypes = []types.FleetReservationType{types.FleetReservationTypeCapacityBlock}
		}, "InvalidFleetConfiguration"},
		"on the market of capacity blocks": {types.MarketTypeCapacityBlock, ofBlocks, "InvalidParameterCombination"},
		"its options without its target type": {types.MarketTypeInterruptibleCapacityReservation, func(in *ec2.CreateFleetInput) {
			ofReserved(in)
			in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeOnDemand
		}, "InvalidParameterCombination"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, noLags)
			id := a.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 1, Interruptible: true})
			out, err := a.fleet(a.template("web", reserving(id, tt.market)), 1, overrides(a.override("m5.large", "us-east-1a")), tt.change)
			got := code(err)
			if err == nil && len(out.Errors) > 0 {
				got = *out.Errors[0].ErrorCode
			}
			if got != tt.want {
				t.Errorf("refused with %q, want %q", got, tt.want)
			}
			if tt.want == "" && (len(out.Instances) != 1 || out.Instances[0].Lifecycle != types.InstanceLifecycleInterruptibleCapacityReservation) {
				t.Errorf("bought %+v, want one of the reservation", out.Instances)
			}
		})
	}
}

// Two minutes after the warning the instances end that have no room in what is left. The warning's resources are one
// text, and its detail says when.
func TestAnInterruptibleReservationIsReclaimed(t *testing.T) {
	a := open(t, noLags)
	id := a.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 3, Interruptible: true})
	out, err := a.fleet(a.template("web", reserving(id, types.MarketTypeInterruptibleCapacityReservation)), 2, overrides(a.override("m5.large", "us-east-1a")), ofReserved)
	a.must(err)
	first, second := out.Instances[0].InstanceIds[0], out.Instances[0].InstanceIds[1]
	a.Advance(time.Minute)
	began := a.Now()
	warned, err := a.server.Reclaim(id, 1)
	a.must(err)
	if len(warned) != 1 || warned[0].ID != first {
		t.Fatalf("warned %+v, want %s alone: of three places one was free, and one stays", warned, first)
	}
	said := a.warnings()
	if len(said) != 1 {
		t.Fatalf("%d warnings, want one: %v", len(said), said)
	}
	detail, _ := said[0]["detail"].(map[string]any)
	if arn := said[0]["resources"]; arn != "arn:aws:ec2:us-east-1:123456789012:instance/"+first {
		t.Errorf("resources are %v, want the instance's ARN as one text", arn)
	}
	if detail["instance-id"] != first || detail["azId"] != "use1-az1" || detail["instance-action"] != "terminate" ||
		detail["instance-termination-time"] != began.Add(2*time.Minute).Format(time.RFC3339) {
		t.Errorf("the detail is %v", detail)
	}
	if got := a.stateOf(first); got != types.InstanceStateNameRunning {
		t.Errorf("the instance is %s at the warning", got)
	}
	if out, err := a.fleet("web", 1, overrides(a.override("m5.large", "us-east-1a")), ofReserved); err != nil || len(out.Instances) > 0 {
		t.Errorf("a launch into what is being reclaimed = %+v, %v", out.Instances, err)
	}
	a.Advance(2 * time.Minute)
	if one, other := a.stateOf(first), a.stateOf(second); one == types.InstanceStateNameRunning || other != types.InstanceStateNameRunning {
		t.Errorf("two minutes later the instances are %s and %s, want the one that was warned to have ended alone", one, other)
	}
}

// Instances of a capacity block end half an hour before it, and are warned ten minutes before that.
func TestInstancesOfACapacityBlockAreWarned(t *testing.T) {
	a := open(t, noLags)
	ends := a.Now().Add(2 * time.Hour)
	id := a.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 1, Block: true, EndsAt: ends})
	out, err := a.fleet(a.template("web", reserving(id, types.MarketTypeCapacityBlock)), 1, overrides(a.override("m5.large", "us-east-1a")), ofBlocks)
	a.must(err)
	it := out.Instances[0].InstanceIds[0]
	a.Advance(79 * time.Minute)
	if said := a.warnings(); len(said) > 0 {
		t.Errorf("warned 41 minutes before the end: %v", said)
	}
	a.Advance(time.Minute)
	said := a.warnings()
	if len(said) != 1 {
		t.Fatalf("%d warnings 39 minutes before the end, want one", len(said))
	}
	detail, _ := said[0]["detail"].(map[string]any)
	if detail["instance-id"] != it || detail["instance-lifecycle"] != "capacity-block" || detail["availability-zone-id"] != "use1-az1" ||
		detail["instance-termination-time"] != ends.Add(-30*time.Minute).Format(time.RFC3339) {
		t.Errorf("the detail is %v", detail)
	}
	a.Advance(5 * time.Minute)
	if got := a.stateOf(it); got != types.InstanceStateNameRunning {
		t.Errorf("the instance is %s before its time", got)
	}
	a.Advance(5 * time.Minute)
	if got := a.stateOf(it); got == types.InstanceStateNameRunning {
		t.Error("the instance runs on half an hour before the block's end")
	}
	if said := a.warnings(); len(said) > 0 {
		t.Errorf("it is warned again: %v", said)
	}
}
