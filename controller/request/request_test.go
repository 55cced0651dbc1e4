package request

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/plan"
	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/snapshot/requests"
	"github.com/daemok/daemok/kube/virtual"
)

var now = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

// retries records until when no plan seeks the capacity.
type retries struct{ at []time.Time }

func (*retries) States() []requests.State                        { return nil }
func (*retries) Resolved(provisioningrequest.Resolved)           {}
func (*retries) Provisioned(types.NamespacedName, time.Time)     {}
func (r *retries) Retry(_ types.NamespacedName, until time.Time) { r.at = append(r.at, until) }

// SC-619: Each plan in a row that finds no capacity doubles the back-off, up to ten minutes; one that finds it ends
// that.
func TestTheBackOffGrowsToTenMinutes(t *testing.T) {
	seen := &retries{}
	s := New(Parts{Known: seen, Now: func() time.Time { return now }})
	made := func(missing int64, waits string) {
		r := plan.Requested{Namespace: "d", Name: "train", Want: 3, Missing: missing, Waits: waits}
		s.Newest(plan.Plan{Requested: []plan.Requested{r}})
	}
	for range 6 {
		made(2, "")
		made(0, "its capacity is sought again later") // says nothing new
	}
	made(0, "")
	made(1, "")
	want := []time.Duration{1, 2, 4, 8, 10, 10, 1}
	if len(seen.at) != len(want) {
		t.Fatalf("retries at %v, want after %v minutes", seen.at, want)
	}
	for i, at := range seen.at {
		if got := at.Sub(now); got != want[i]*time.Minute {
			t.Errorf("retry %d comes after %s, want %d minutes", i, got, want[i])
		}
	}
}

// The back-off goes on where another process sought the capacity before.
func TestTheBackOffOutlivesARestart(t *testing.T) {
	tests := map[string]struct {
		since  time.Duration
		reason string
		want   time.Duration // of the back-off after one more failure
	}{
		"sought for the first time": {0, "", time.Minute},
		"not found a moment ago":    {time.Second, v1.ReasonCapacityIsNotFound, time.Minute},
		"not found for 3 minutes":   {3 * time.Minute, v1.ReasonCapacityIsNotFound, 4 * time.Minute},
		"not found for a day":       {24 * time.Hour, v1.ReasonCapacityIsNotFound, 10 * time.Minute},
		"not ready for a day":       {24 * time.Hour, v1.ReasonInvalid, time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "train", UID: "1"}}
			if tt.reason != "" {
				condition.SetFalse(r, v1.RequestProvisioned, tt.reason, "", now.Add(-tt.since))
			}
			seen := &retries{}
			s := New(Parts{Known: seen, Now: func() time.Time { return now }})
			s.isOf(types.NamespacedName{Namespace: "d", Name: "train"}, r)
			s.Newest(plan.Plan{Requested: []plan.Requested{{Namespace: "d", Name: "train", Want: 3, Missing: 2}}})
			if len(seen.at) != 1 || seen.at[0].Sub(now) != tt.want {
				t.Errorf("it is sought again at %v, want after %v", seen.at, tt.want)
			}
		})
	}
}

// A plan that found the capacity before the status was read has ended the back-off.
func TestTheBackOffEndsThoughTheStatusIsOld(t *testing.T) {
	r := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "train", UID: "1"}}
	condition.SetFalse(r, v1.RequestProvisioned, v1.ReasonCapacityIsNotFound, "", now.Add(-24*time.Hour))
	seen := &retries{}
	s := New(Parts{Known: seen, Now: func() time.Time { return now }})
	made := func(missing int64) {
		s.Newest(plan.Plan{Requested: []plan.Requested{{Namespace: "d", Name: "train", Want: 3, Missing: missing}}})
	}
	made(0)
	s.isOf(types.NamespacedName{Namespace: "d", Name: "train"}, r)
	made(2)
	if len(seen.at) != 1 || seen.at[0].Sub(now) != time.Minute {
		t.Errorf("it is sought again at %v, want after a minute", seen.at)
	}
}

// What a request comes to is said by one condition, with its reason.
func TestStatus(t *testing.T) {
	found := plan.Requested{Name: "train", Want: 3}
	missing, starting := found, found
	missing.Missing, missing.Reasons = 2, []plan.Reason{{Text: "cpu limit reached"}}
	starting.Starting = 1
	lost := found
	lost.Booked, lost.Missing = true, 1
	tests := map[string]struct {
		class  string
		state  requests.State
		about  progress
		after  time.Duration // since it was created
		kind   string
		status metav1.ConditionStatus
		says   string // reason, and the message
	}{
		"found where nothing is launched": {
			class: v1.ClassCheckCapacity, about: progress{planned: found}, kind: v1.RequestProvisioned, status: "True",
			says: "CapacityIsFound there is capacity for all 3 pods; it is kept for them until 2026-11-21T04:10:00Z",
		},
		"found where instances may be": {
			about: progress{planned: found}, kind: v1.RequestProvisioned, status: "True",
			says: "CapacityIsProvisioned there is capacity for all 3 pods; " +
				"it is kept for them until 2026-11-21T04:10:00Z",
		},
		"being launched": {
			about: progress{planned: starting}, kind: v1.RequestProvisioned, status: "False",
			says: "CapacityIsLaunched instances for 1 of 3 pods are being launched",
		},
		"not found": {
			about: progress{planned: missing}, kind: v1.RequestProvisioned, status: "False",
			says: "CapacityIsNotFound there is no capacity for 2 of 3 pods: cpu limit reached",
		},
		"without its template": {
			state: requests.State{Resolved: provisioningrequest.Resolved{
				NotReady: virtual.Refusal{Reason: v1.ReasonPodTemplateNotFound, Message: "PodTemplate d/web is not there"},
			}},
			kind: v1.RequestProvisioned, status: "False", says: "PodTemplateNotFound PodTemplate d/web is not there",
		},
		"not found in time": {
			about: progress{planned: missing}, after: time.Hour, kind: v1.RequestFailed, status: "True",
			says: "Expired there was no capacity for all its pods until 2026-11-21T04:00:00Z: " +
				"there is no capacity for 2 of 3 pods: cpu limit reached",
		},
		"kept for long enough": {
			state: requests.State{ProvisionedAt: now.Add(-10 * time.Minute)},
			kind:  v1.RequestBookingExpired, status: "True",
			says: "CapacityReservationTimeExpired capacity was kept for 10m0s, and is any pod's now",
		},
		"lost for a minute": {
			class: v1.ClassCheckCapacity, state: requests.State{ProvisionedAt: now.Add(-5 * time.Minute)},
			about: progress{planned: lost, lostSince: now.Add(-time.Minute)},
			kind:  v1.RequestCapacityRevoked, status: "True",
			says: "CapacityIsLost capacity for 1 of 3 pods that have not come is lost: " +
				"nodes went, or other pods are there",
		},
		"lost a moment ago": {
			class: v1.ClassCheckCapacity, state: requests.State{ProvisionedAt: now.Add(-5 * time.Minute)},
			about: progress{planned: lost, lostSince: now.Add(-time.Second)}, kind: v1.RequestCapacityRevoked,
		},
		"lost, and launched again": {
			state: requests.State{ProvisionedAt: now.Add(-5 * time.Minute)},
			about: progress{planned: lost, lostSince: now.Add(-time.Minute)}, kind: v1.RequestCapacityRevoked,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "train"}}
			o.CreationTimestamp.Time = now.Add(-tt.after)
			o.Spec.ProvisioningClassName = v1.ClassBestEffortAtomic
			if tt.class != "" {
				o.Spec.ProvisioningClassName = tt.class
			}
			o.Spec.Parameters = map[string]v1.Parameter{v1.ParameterValidUntilSeconds: "3600"}
			tt.state.Object = o
			setStatus(o, &tt.state, tt.about, now)
			if !condition.IsTrue(o, v1.RequestAccepted) {
				t.Error("it is not accepted")
			}
			c := condition.Get(o, tt.kind)
			switch {
			case tt.status == "" && c != nil:
				t.Errorf("it has condition %+v, want none", c)
			case tt.status == "":
			case c == nil:
				t.Errorf("it has no condition %s, want %s %s", tt.kind, tt.status, tt.says)
			case c.Status != tt.status || c.Reason+" "+c.Message != tt.says:
				t.Errorf("it has condition %s %s %s,\nwant %s %s", c.Status, c.Reason, c.Message, tt.status, tt.says)
			}
		})
	}
}
