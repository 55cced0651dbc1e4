package emulator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// odcr reserves m5.large in us-east-1a for as long as it is wanted.
func (a *account) odcr(count int32) *string {
	a.Helper()
	out, err := a.ec2.CreateCapacityReservation(context.Background(), &ec2.CreateCapacityReservationInput{
		InstanceType: aws.String("m5.large"), AvailabilityZone: aws.String("us-east-1a"), InstanceCount: aws.Int32(count),
		InstancePlatform: types.CapacityReservationInstancePlatformLinuxUnix, InstanceMatchCriteria: types.InstanceMatchCriteriaTargeted,
	})
	a.must(err)
	return out.CapacityReservation.CapacityReservationId
}

func (a *account) reservation(id *string) types.CapacityReservation {
	a.Helper()
	out, err := a.ec2.DescribeCapacityReservations(context.Background(), &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{*id}})
	a.must(err)
	return out.CapacityReservations[0]
}

// allocate makes an interruptible reservation out of another.
func (a *account) allocate(source *string, count int32, zero types.ZeroSizePreference) (made types.CapacityReservation) {
	a.Helper()
	_, err := a.ec2.CreateInterruptibleCapacityReservationAllocation(context.Background(), &ec2.CreateInterruptibleCapacityReservationAllocationInput{
		CapacityReservationId: source, InstanceCount: aws.Int32(count), ZeroSizePreference: zero,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeCapacityReservation, Tags: tagList("team", "batch")}},
	})
	a.must(err)
	return a.reservation(a.reservation(source).InterruptibleCapacityAllocation.InterruptibleCapacityReservationId)
}

func (a *account) target(source *string, count int32) (*ec2.UpdateInterruptibleCapacityReservationAllocationOutput, error) {
	return a.ec2.UpdateInterruptibleCapacityReservationAllocation(context.Background(), &ec2.UpdateInterruptibleCapacityReservationAllocationInput{
		CapacityReservationId: source, TargetInstanceCount: aws.Int32(count)})
}

// stands is how a source stands: what it has free, and of its allocation what is held, what is wanted and the status.
func (a *account) stands(source *string) string {
	a.Helper()
	r := a.reservation(source)
	text := fmt.Sprintf("%d of %d free", *r.AvailableInstanceCount, *r.TotalInstanceCount)
	if x := r.InterruptibleCapacityAllocation; x != nil {
		text += fmt.Sprintf(", %d allocated of %d, %s", *x.InstanceCount, *x.TargetInstanceCount, x.Status)
	}
	return text
}

// "You can only allocate available instances (also called unused capacity). Enter a higher number to add more capacity to
// share, or a lower number to reclaim capacity to your source Capacity Reservation."
func TestAReservationAllocatesAvailableInstances(t *testing.T) {
	a := open(t, noLags)
	source := a.odcr(4)
	stand := func(what, want string) {
		t.Helper()
		if got := a.stands(source); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	stand("at first", "4 of 4 free")
	made := a.allocate(source, 2, "")
	stand("two are allocated", "2 of 4 free, 2 allocated of 2, active")
	if !*made.Interruptible || made.InterruptionInfo.InterruptionType != types.InterruptionTypeAdhoc || *made.InterruptionInfo.SourceCapacityReservationId != *source ||
		*made.TotalInstanceCount != 2 || made.InstanceMatchCriteria != types.InstanceMatchCriteriaTargeted || *made.Tags[0].Value != "batch" {
		t.Errorf("the interruptible reservation is %+v", made)
	}
	id := *made.CapacityReservationId
	out, err := a.fleet(a.template("batch", reserving(id, types.MarketTypeInterruptibleCapacityReservation)), 2, overrides(a.override("m5.large", "us-east-1a")), ofReserved)
	a.must(err)
	if len(out.Instances) != 1 || len(out.Instances[0].InstanceIds) != 2 {
		t.Fatalf("bought %+v of the interruptible reservation, want two", out.Instances)
	}
	stand("both run", "2 of 4 free, 2 allocated of 2, active")
	_, err = a.target(source, 5)
	if code(err) != "InvalidParameterValue" {
		t.Errorf("more than the source has: %v, want InvalidParameterValue", err)
	}
	_, err = a.target(source, 3)
	a.must(err)
	stand("a third is allocated", "1 of 4 free, 3 allocated of 3, active")

	lowered, err := a.target(source, 1)
	a.must(err)
	if *lowered.InstanceCount != 2 || *lowered.TargetInstanceCount != 1 || lowered.Status != types.InterruptibleCapacityReservationAllocationStatusUpdating || *lowered.InterruptibleCapacityReservationId != id {
		t.Errorf("the update says %+v, want updating from 2 to 1: the free one is back at once", lowered)
	}
	if said := a.warnings(); len(said) != 1 {
		t.Fatalf("%d warnings, want that of the one instance that has no room", len(said))
	}
	stand("one is warned", "2 of 4 free, 2 allocated of 1, updating")
	a.Advance(2 * time.Minute)
	stand("it has ended", "3 of 4 free, 1 allocated of 1, active")
	if out, err := a.fleet(a.template("own", reserving(*source, "")), 4, overrides(a.override("m5.large", "us-east-1a"))); err != nil || len(out.Instances) != 1 || len(out.Instances[0].InstanceIds) != 3 {
		t.Errorf("of the source itself four are asked for, and got %+v (%v), want the three that are not allocated", out, err)
	}
}

// "Specify retain to keep the interruptible Capacity Reservation active at zero capacity so that you can allocate instances
// to it again later. Specify default to cancel the interruptible Capacity Reservation and return the capacity."
func TestAnAllocationOfZeroIsRetainedOrCancelled(t *testing.T) {
	tests := map[string]struct {
		zero      types.ZeroSizePreference
		state     types.CapacityReservationState
		meanwhile string
		after     string
	}{
		"cancelled": {"", types.CapacityReservationStateCancelled, "0 of 1 free, 1 allocated of 0, canceling", "1 of 1 free"},
		"retained":  {types.ZeroSizePreferenceRetain, types.CapacityReservationStateActive, "0 of 1 free, 1 allocated of 0, updating", "1 of 1 free, 0 allocated of 0, active"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, noLags)
			source := a.odcr(1)
			made := a.allocate(source, 1, tt.zero)
			out, err := a.fleet(a.template("batch", reserving(*made.CapacityReservationId, types.MarketTypeInterruptibleCapacityReservation)), 1, overrides(a.override("m5.large", "us-east-1a")), ofReserved)
			a.must(err)
			_, err = a.target(source, 0)
			a.must(err)
			if got := a.stands(source); got != tt.meanwhile {
				t.Errorf("while the instance ends: %s, want %s", got, tt.meanwhile)
			}
			a.Advance(2 * time.Minute)
			if got := a.stateOf(out.Instances[0].InstanceIds[0]); got == types.InstanceStateNameRunning {
				t.Error("two minutes after the warning the instance runs on")
			}
			if got := a.stands(source); got != tt.after {
				t.Errorf("afterwards: %s, want %s", got, tt.after)
			}
			if got := a.reservation(made.CapacityReservationId).State; got != tt.state {
				t.Errorf("the interruptible reservation is %s, want %s", got, tt.state)
			}
			if again := a.reservation(source); tt.zero == "" {
				a.allocate(source, 1, "")
			} else if _, err := a.target(source, 1); err != nil || again.InterruptibleCapacityAllocation == nil {
				t.Errorf("the retained reservation takes no instance again: %v", err)
			}
			if got := a.stands(source); got != "0 of 1 free, 1 allocated of 1, active" {
				t.Errorf("allocated again: %s", got)
			}
		})
	}
}

func TestAllocationsAreRefused(t *testing.T) {
	a, ctx := open(t, noLags), context.Background()
	source := a.odcr(2)
	block := a.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 1, Block: true, EndsAt: a.Now().Add(time.Hour)})
	ending := a.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 1, EndsAt: a.Now().Add(time.Hour)})
	create := func(id *string, count int32) error {
		_, err := a.ec2.CreateInterruptibleCapacityReservationAllocation(ctx, &ec2.CreateInterruptibleCapacityReservationAllocationInput{CapacityReservationId: id, InstanceCount: aws.Int32(count)})
		return err
	}
	refused := func(what string, err error, want string) {
		t.Helper()
		if got := code(err); got != want {
			t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
		}
	}
	refused("more than there is", create(source, 3), "InvalidParameterValue")
	refused("nothing", create(source, 0), "InvalidParameterValue")
	refused("of a capacity block", create(&block, 1), "UnsupportedOperation")
	refused("of one that ends", create(&ending, 1), "InvalidCapacityReservationState")
	refused("of one that there is not", create(aws.String("cr-0"), 1), "InvalidCapacityReservationId.NotFound")
	_, err := a.target(source, 1)
	refused("a target without an allocation", err, "InvalidCapacityReservationState")

	made := a.allocate(source, 1, "").CapacityReservationId
	refused("twice", create(source, 1), "InvalidCapacityReservationState")
	refused("an interruptible one", create(made, 1), "UnsupportedOperation")
	_, err = a.ec2.ModifyCapacityReservation(ctx, &ec2.ModifyCapacityReservationInput{CapacityReservationId: made, InstanceCount: aws.Int32(2)})
	refused("resize an interruptible one", err, "UnsupportedOperation")
	_, err = a.ec2.CancelCapacityReservation(ctx, &ec2.CancelCapacityReservationInput{CapacityReservationId: made})
	refused("cancel an interruptible one", err, "UnsupportedOperation")
	_, err = a.ec2.CancelCapacityReservation(ctx, &ec2.CancelCapacityReservationInput{CapacityReservationId: source})
	refused("cancel a source", err, "InvalidCapacityReservationState")
	_, err = a.ec2.ModifyCapacityReservation(ctx, &ec2.ModifyCapacityReservationInput{CapacityReservationId: source, InstanceCount: aws.Int32(1)})
	a.must(err) // the allocation stays
	_, err = a.server.Reclaim(*made, 0)
	a.must(err)
	if got := a.stands(source); got != "1 of 1 free" {
		t.Errorf("after the lab's order to reclaim: %s, want 1 of 1 free", got)
	}
}
