package class

import (
	"reflect"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

func TestReservationsAreInTheStatusAndReadBack(t *testing.T) {
	found := []nodeclass.Reservation{
		{ID: "cr-1", Kind: "m5.large", Zone: "us-east-1a", Owner: "123456789012", Criteria: "open"},
		{ID: "cr-2", Kind: "p5.48xlarge", Zone: "us-east-1b", Owner: "123456789012", Criteria: "targeted", Block: true, Expiring: true, EndsAt: start.Add(time.Hour)},
		{ID: "cr-3", Kind: "m5.large", Zone: "us-east-1a", Owner: "210987654321", Criteria: "targeted", Interruptible: true},
		{ID: "cr-4", Kind: "m5.large", Zone: "us-east-1a", Owner: "123456789012", Criteria: "open", Dedicated: true},
		{ID: "cr-5", Kind: "c5.large", Zone: "us-east-1a", Owner: "123456789012", Criteria: "open", Dedicated: true},
	}
	r := reconciler(&account{reserved: found}, class())
	r.ReservedCapacity = true
	got, _ := look(t, r)
	if !condition.IsTrue(got, awsv1.ClassCapacityReservationsReady) || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("conditions = %+v, want ready", got.Status.Conditions)
	}
	if s := got.Status.CapacityReservations; len(s) != 5 || s[1].ReservationType != "capacity-block" || s[1].State != "expiring" || s[0].State != "active" || !s[2].Interruptible {
		t.Errorf("status = %+v", s)
	}
	settings, err := Settings(subject(got))
	if err != nil || !reflect.DeepEqual(settings.Resolved.Reservations, found) {
		t.Errorf("the status read back gives %+v, %v; want %+v", settings.Resolved.Reservations, err, found)
	}
	r.ReservedCapacity = false
	if got, _ = look(t, r); got.Annotations[api.AnnotationDedicatedReservations] != "" {
		t.Errorf("annotations = %v without the feature gate", got.Annotations)
	}
}

func TestWithoutReservationsAClassIsReady(t *testing.T) {
	r := reconciler(&account{}, class())
	r.ReservedCapacity = true
	if got, _ := look(t, r); !condition.IsTrue(got, awsv1.ClassCapacityReservationsReady) || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("conditions = %+v, want ready", got.Status.Conditions)
	}
}

func TestARightThatReservationsNeedIsAskedForByTheCondition(t *testing.T) {
	r := reconciler(&account{reservations: &cloud.RefusedError{Reason: "Unauthorized", Cause: "ec2:DescribeCapacityReservations"}}, class())
	r.ReservedCapacity = true
	got, _ := look(t, r)
	if c := condition.Get(got, awsv1.ClassCapacityReservationsReady); c == nil || c.Reason != "Unauthorized" || condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("conditions = %+v, want the right that is missing", got.Status.Conditions)
	}
}

func TestWithoutTheGateNothingIsSaidOfReservations(t *testing.T) {
	before := class()
	before.Status.CapacityReservations = []awsv1.CapacityReservation{{ID: "cr-1"}}
	condition.SetTrue(before, awsv1.ClassCapacityReservationsReady, start)
	got, _ := look(t, reconciler(&account{}, before))
	if !condition.IsTrue(got, awsv1.ClassCapacityReservationsReady) || len(got.Status.CapacityReservations) > 0 || !condition.IsTrue(got, awsv1.ClassReady) {
		t.Errorf("status = %+v", got.Status)
	}
}
