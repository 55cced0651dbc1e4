package request

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/snapshot/requests"
	"github.com/daemok/daemok/observe"
)

// setStatus says what a request comes to, and returns the event of that; none where there is no news that users
// wait for. It is pure.
func setStatus(o *v1.ProvisioningRequest, s *requests.State, about progress, now time.Time) (said observe.Event) {
	if provisioningrequest.Over(o) != "" {
		return said
	}
	ends := func(kind, reason, message string) observe.Event {
		condition.Set(o, kind, metav1.ConditionTrue, reason, message, now)
		return observe.Event{Reason: kind, Message: message, Warning: kind != v1.RequestBookingExpired}
	}
	condition.Set(o, v1.RequestAccepted, metav1.ConditionTrue, v1.ReasonAccepted,
		"Daemok seeks capacity for all its pods", now)
	if why := provisioningrequest.Invalid(o); why != "" {
		return ends(v1.RequestFailed, v1.ReasonInvalid, why)
	}
	if !s.ProvisionedAt.IsZero() {
		return booked(s, about, now, ends)
	}
	why := sought(o, s, about, now)
	if condition.IsTrue(o, v1.RequestProvisioned) {
		return observe.Event{Reason: v1.RequestProvisioned, Message: condition.Get(o, v1.RequestProvisioned).Message}
	}
	if until, _ := provisioningrequest.ValidUntil(o); !now.Before(until) {
		return ends(v1.RequestFailed, v1.ReasonExpired,
			fmt.Sprintf("there was no capacity for all its pods until %s: %s", until.UTC().Format(time.RFC3339), why))
	}
	return said
}

// sought says whether there is capacity for all pods, and if not, why.
func sought(o *v1.ProvisioningRequest, s *requests.State, about progress, now time.Time) (why string) {
	p, not := &about.planned, func(reason, why string) string {
		condition.SetFalse(o, v1.RequestProvisioned, reason, why, now)
		return why
	}
	switch {
	case s.NotReady.Message != "":
		return not(s.NotReady.Reason, s.NotReady.Message)
	case p.Name == "":
		return "no plan has sought it yet"
	case p.Missing > 0:
		return not(v1.ReasonCapacityIsNotFound,
			fmt.Sprintf("there is no capacity for %d of %d pods: %s", p.Missing, p.Want, p.Why()))
	case p.Starting > 0:
		return not(v1.ReasonCapacityIsLaunched,
			fmt.Sprintf("instances for %d of %d pods are being launched", p.Starting, p.Want))
	case p.Found():
		reason, message := v1.ReasonCapacityIsFound, fmt.Sprintf("there is capacity for all %d pods", p.Want)
		if o.Spec.ProvisioningClassName == v1.ClassBestEffortAtomic {
			reason = v1.ReasonCapacityIsProvisioned
		}
		until := now.Add(provisioningrequest.BookedFor).UTC().Format(time.RFC3339)
		condition.Set(o, v1.RequestProvisioned, metav1.ConditionTrue, reason,
			message+"; it is kept for them until "+until, now)
	}
	return ""
}

// booked says of capacity that is kept whether it is lost, or kept no longer.
func booked(
	s *requests.State, about progress, now time.Time, ends func(kind, reason, message string) observe.Event,
) (said observe.Event) {
	switch p := &about.planned; {
	case !now.Before(s.ProvisionedAt.Add(provisioningrequest.BookedFor)):
		return ends(v1.RequestBookingExpired, v1.ReasonReservationExpired,
			fmt.Sprintf("capacity was kept for %s, and is any pod's now", provisioningrequest.BookedFor))
	case s.Object.Spec.ProvisioningClassName == v1.ClassCheckCapacity && !about.lostSince.IsZero() &&
		!now.Before(about.lostSince.Add(lostFor)):
		return ends(v1.RequestCapacityRevoked, v1.ReasonCapacityIsLost,
			fmt.Sprintf("capacity for %d of %d pods that have not come is lost: nodes went, or other pods are there",
				p.Missing, p.Want))
	}
	return said
}
