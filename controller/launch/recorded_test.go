package launch

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// recorded is a record, a line for each thing that is said.
type recorded []string

func (r *recorded) Unlaunched(claim, reason, why string, more ...string) {
	*r = append(*r, claim+" "+reason+": "+why+" | "+strings.Join(more, " | "))
}

func (r *recorded) Became(claim, said, why string) { *r = append(*r, claim+" "+said+": "+why) }

func (r *recorded) GaveUp(claim, why string) { *r = append(*r, claim+" is given up: "+why) }

func (r *recorded) Has(claim, instance, what string) {
	*r = append(*r, claim+" has "+instance+": "+what)
}

// Users who ask about a NodeClaim without an instance hear what the cloud answered, what is tried next and what to do.
func TestWhatKeepsAClaimFromItsInstanceIsRecorded(t *testing.T) {
	const again = "next: the launch is repeated, after a minute at most; without an instance by 04:05:00 UTC the NodeClaim is deleted, once no answer of EC2 is outstanding, and its pods are planned again"
	for name, tt := range map[string]struct {
		why  error
		want string
	}{
		"a right is missing": {
			&cloud.RefusedError{Reason: "Unauthorized", Cause: "grant the right (CreateFleet: UnauthorizedOperation: no. Encoded authorization failure message: 8xY_-w=)"},
			"a Unauthorized: grant the right (CreateFleet: UnauthorizedOperation: no.) | " + again + " | to do: daemok iam check names every right that is missing",
		},
		"EC2 throttles": {
			&cloud.ThrottledError{Call: "CreateFleet"},
			"a RequestLimitExceeded: CreateFleet is throttled by the cloud: have other programs of this account call it less often | " + again,
		},
		"a launch template is wrong": {
			&cloud.RefusedError{Reason: "LaunchTemplateNotFound", Cause: "see that nothing else deletes launch templates (lt-1 is gone)"},
			"a LaunchTemplateNotFound: see that nothing else deletes launch templates (lt-1 is gone) | " + again,
		},
		"the class is not ready": {
			&translate.NotReadyError{ClassID: "EC2NodeClass/default", Why: "no subnets"},
			"a NodeClassNotReady: EC2NodeClass/default is not ready: no subnets | " + again + " | to do: daemok explain EC2NodeClass/default says why the class is not ready",
		},
		"AWS cannot be reached": {errors.New("call CreateFleet: no route"), "a LaunchFailed: call CreateFleet: no route | " + again},
	} {
		t.Run(name, func(t *testing.T) {
			o, c, _, _ := outcomesFor(t)
			reported := &recorded{}
			o.Record, c.CreationTimestamp = reported, metav1.NewTime(time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC))
			c.Spec.NodeClassRef = karpv1.NodeClassReference{Kind: "EC2NodeClass", Name: "default"}
			if err := o.Failed(t.Context(), c, tt.why); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*reported, []string{tt.want}) {
				t.Errorf("the record says\n%q, want\n%q", *reported, tt.want)
			}
		})
	}
}

// What is short is recorded of every NodeClaim of the request, and so is that one is given up.
func TestAShortageIsRecordedOfEveryClaim(t *testing.T) {
	o, c, _, _ := outcomesFor(t)
	reported := &recorded{}
	o.Record, c.CreationTimestamp = reported, metav1.NewTime(time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC))
	short := &cloud.NoCapacityError{Offerings: []cloud.OfferingChoice{{Kind: "m5.large", Zone: "a", Option: cluster.Spot}}, Cause: "InsufficientInstanceCapacity: none left"}
	other := c.DeepCopy()
	other.Name = "b"
	o.Short([]*karpv1.NodeClaim{c, other}, short)
	if err := o.NotToBeHad(t.Context(), c, &cloud.NoCapacityError{Cause: "nothing is left"}); err != nil {
		t.Fatal(err)
	}
	const next = " InsufficientCapacityError: no capacity for spot m5.large in a: InsufficientInstanceCapacity: none left | " +
		"next: other offerings that the NodeClaim allows are tried; those without capacity are left out for some minutes; without an instance by 04:05:00 UTC the NodeClaim is deleted, once no answer of EC2 is outstanding, and its pods are planned again | " +
		"to do: if it lasts, allow more instance types, zones or capacity types in NodePool/default"
	for i, want := range []string{"a" + next, "b" + next, "a is given up: no capacity: nothing is left"} {
		if i >= len(*reported) || !strings.HasPrefix((*reported)[i], want) {
			t.Fatalf("the record says\n%q\nwant line %d to begin with\n%s", *reported, i, want)
		}
	}
}
