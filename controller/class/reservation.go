package class

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
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

// reservationOf reads it back, but for its tenancy.
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

// reservations is what a check of those of a class found, or why it found nothing.
type reservations struct {
	found []nodeclass.Reservation
	err   error
}

// findReservations looks up the capacity reservations that the class selects, and writes on
// the class which are of dedicated tenancy: as an annotation of ours, since its status has
// no field for it. Without an answer what was written stays; without the feature gate the
// cloud is not asked.
func (r *Reconciler) findReservations(ctx context.Context, c *Subject) (out reservations, err error) {
	if r.ReservedCapacity {
		settings, _ := Settings(c) // good for looking up
		if out.found, out.err = r.Finder.Reservations(ctx, settings); !answered(out.err) {
			return out, nil
		}
	}
	if c.GetAnnotations()[api.AnnotationDedicatedReservations] == dedicatedOf(out.found) {
		return out, nil
	}
	before := c.copy()
	annotate(c, api.AnnotationDedicatedReservations, dedicatedOf(out.found))
	if err := r.Store.Patch(ctx, c.Object, client.MergeFromWithOptions(before.Object, client.MergeFromWithOptimisticLock{})); err != nil {
		return out, fmt.Errorf("write capacity reservations of dedicated tenancy of %s: %w", c.ID(), err)
	}
	return out, nil
}

// dedicatedOf names those of dedicated tenancy, with commas between.
func dedicatedOf(all []nodeclass.Reservation) string {
	var ids []string
	for _, r := range all {
		if r.Dedicated {
			ids = append(ids, r.ID)
		}
	}
	return strings.Join(ids, ",")
}

// reservations writes them into the status. They come and go, and that there are none is
// in order. Without the feature gate none is asked for.
func (r *Reconciler) reservations(c *Subject, look reservations) error {
	if !r.ReservedCapacity {
		c.Status.CapacityReservations = nil
		r.unasked(c, awsv1.ClassCapacityReservationsReady)
		return nil
	}
	if answered(look.err) {
		c.Status.CapacityReservations = nil
		for _, f := range look.found {
			c.Status.CapacityReservations = append(c.Status.CapacityReservations, reservationStatus(f))
		}
		r.reportIdle(c, look.found)
	}
	return r.conclude(c, awsv1.ClassCapacityReservationsReady, look.err)
}

// reservationsOf reads them back, of the status and the annotation.
func reservationsOf(c *Subject) []nodeclass.Reservation {
	dedicated := strings.Split(c.GetAnnotations()[api.AnnotationDedicatedReservations], ",")
	var out []nodeclass.Reservation
	for i := range c.Status.CapacityReservations {
		found := reservationOf(&c.Status.CapacityReservations[i])
		found.Dedicated = slices.Contains(dedicated, found.ID)
		out = append(out, found)
	}
	return out
}
