package aws

import (
	"context"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// reservations are the capacity reservations that one test makes at the endpoint, which
// its class selects by ID.
type reservations struct {
	*site
	provider *Provider
	class    *nodeclass.Class
}

// add reserves n instances, until the test ends; where the account may not, the test is
// left out.
func (r *reservations) add(t *testing.T, kind, zone string, n int) (id string) {
	t.Helper()
	made, err := r.clients.EC2.CreateCapacityReservation(t.Context(), &ec2.CreateCapacityReservationInput{
		InstanceType: sdk.String(kind), InstancePlatform: types.CapacityReservationInstancePlatformLinuxUnix, AvailabilityZone: sdk.String(zone),
		InstanceCount: sdk.Int32(int32(n)), InstanceMatchCriteria: types.InstanceMatchCriteriaTargeted, EndDateType: types.EndDateTypeUnlimited,
		TagSpecifications: siteTags(types.ResourceTypeCapacityReservation),
	})
	if err != nil {
		t.Skipf("no capacity can be reserved: %v", err)
	}
	id = sdk.ToString(made.CapacityReservation.CapacityReservationId)
	t.Cleanup(func() {
		if r.selects(id) {
			r.cancelNow(context.Background(), t, id)
		}
	})
	r.class.Spec.Reservations = append(r.class.Spec.Reservations, nodeclass.ReservationTerm{ID: id})
	_ = r.pause(t.Context(), r.lag)
	r.look(t)
	return id
}

// cancel ends a reservation before the test does.
func (r *reservations) cancel(t *testing.T, id string) {
	t.Helper()
	r.cancelNow(t.Context(), t, id)
	var left []nodeclass.ReservationTerm
	for _, term := range r.class.Spec.Reservations {
		if term.ID != id {
			left = append(left, term)
		}
	}
	r.class.Spec.Reservations = left
}

func (r *reservations) cancelNow(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	if _, err := r.clients.EC2.CancelCapacityReservation(ctx, &ec2.CancelCapacityReservationInput{CapacityReservationId: sdk.String(id)}); err != nil {
		t.Errorf("capacity reservation %s is left: %v", id, err)
	}
}

func (r *reservations) selects(id string) bool {
	for _, term := range r.class.Spec.Reservations {
		if term.ID == id {
			return true
		}
	}
	return false
}

// look is what the class's controller does every minute.
func (r *reservations) look(t *testing.T) {
	t.Helper()
	if len(r.class.Resolved.Reservations) == 0 && len(r.class.Spec.Reservations) == 0 {
		return
	}
	found, err := r.provider.Reservations(t.Context(), *r.class)
	if err != nil {
		t.Fatalf("look at capacity reservations: %v", err)
	}
	r.class.Resolved.Reservations = found
}
