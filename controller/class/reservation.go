package class

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// The words of the status for reservations.
const (
	typeDefault   = "default"
	typeBlock     = "capacity-block"
	stateActive   = "active"
	stateExpiring = "expiring"
)

// reservationStatus writes a reservation for the status.
func reservationStatus(r nodeclass.Reservation) awsv1.CapacityReservation {
	out := awsv1.CapacityReservation{
		AvailabilityZone: r.Zone, ID: r.ID, InstanceMatchCriteria: r.Criteria, InstanceType: r.Kind, OwnerID: r.Owner,
		ReservationType: typeDefault, Interruptible: r.Interruptible, State: stateActive,
	}
	if !r.EndsAt.IsZero() {
		out.EndTime = &metav1.Time{Time: r.EndsAt}
	}
	if r.Block {
		out.ReservationType = typeBlock
	}
	if r.Expiring {
		out.State = stateExpiring
	}
	return out
}

// reservationOf reads it back.
func reservationOf(r *awsv1.CapacityReservation) nodeclass.Reservation {
	out := nodeclass.Reservation{
		ID: r.ID, Kind: r.InstanceType, Zone: r.AvailabilityZone, Owner: r.OwnerID, Criteria: r.InstanceMatchCriteria,
		Block: r.ReservationType == typeBlock, Interruptible: r.Interruptible, Expiring: r.State == stateExpiring,
	}
	if r.EndTime != nil {
		out.EndsAt = r.EndTime.UTC()
	}
	return out
}
