package aws

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/market"
)

func TestVerify(t *testing.T) {
	t.Run("a class that machines can be launched from passes, and nothing is made", func(t *testing.T) {
		a := openAccount(t)
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("Verify = %v", err)
		}
		if n := len(a.server.Instances()); n != 0 {
			t.Errorf("the dry runs launched %d instances", n)
		}
		calls := a.server.Calls()
		for _, action := range rehearsedActions {
			if calls[action] != 1 {
				t.Errorf("%s was called %d times, want once", action, calls[action])
			}
		}
		if err := a.provider.RefreshTemplates(t.Context()); err != nil || a.server.Calls()["DeleteLaunchTemplate"] != 0 {
			t.Errorf("the dry run left launch templates behind (%v)", err)
		}
	})
	t.Run("SC-481 each right that is missing is named with its call", func(t *testing.T) {
		for _, action := range rehearsedActions {
			a := openAccount(t)
			a.server.Deny(action)
			refused := refusal(t, a.provider.Verify(t.Context(), a.class))
			if refused.Reason != action+"AuthCheckFailed" || !strings.Contains(refused.Cause, "lacks the right ec2:"+action+" on arn:aws:ec2:") {
				t.Errorf("without %s: %v", action, refused)
			}
		}
	})
	t.Run("all rights that are missing are named at once, always in the same words", func(t *testing.T) {
		a := openAccount(t)
		a.server.Deny(rehearsedActions...)
		first := refusal(t, a.provider.Verify(t.Context(), a.class))
		for _, action := range rehearsedActions {
			if !strings.Contains(first.Cause, "lacks the right ec2:"+action) {
				t.Errorf("%s is not named: %s", action, first.Cause)
			}
		}
		if first.Reason != "CreateLaunchTemplateAuthCheckFailed" {
			t.Errorf("the reason is %s, want that of the first call", first.Reason)
		}
		if again := refusal(t, a.provider.Verify(t.Context(), a.class)); again.Cause != first.Cause {
			t.Errorf("the same fault reads\n%s\nand then\n%s", first.Cause, again.Cause)
		}
		a.server.Allow(rehearsedActions...)
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("with all rights again: %v", err)
		}
	})
	t.Run("the right to launch into capacity reservations is asked for where the class selects any", func(t *testing.T) {
		a := openAccount(t)
		a.server.Deny(faults.OnReservations)
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("a class without reservations needs a right on them: %v", err)
		}
		block := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Block: true, EndsAt: a.Now().Add(24 * time.Hour)})
		refused := refusal(t, a.provider.Verify(t.Context(), a.class))
		if refused.Reason != "RunInstancesAuthCheckFailed" || !strings.Contains(refused.Cause, "lacks the right ec2:RunInstances on arn:aws:ec2:us-east-1:123456789012:capacity-reservation/"+block) {
			t.Errorf("Verify = %v, want the right on %s", refused, block)
		}
		if got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", block, 1)); len(got) > 0 || isShort(err) || !strings.Contains(refusal(t, err).Cause, block) {
			t.Errorf("Launch without the right = %+v, %v", got, err)
		}
		a.server.Allow(faults.OnReservations)
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("with the right: %v", err)
		}
	})
	t.Run("the right on each reservation is asked for, by one call more for each after the first of its sort", func(t *testing.T) {
		a := openAccount(t)
		var ids []string
		for _, r := range []reservation.CapacityReservation{{}, {Targeted: true}, {Owner: "210987654321"}, {Dedicated: true}} {
			r.Type, r.Zone, r.Count = "m5.large", reservedZone, 1
			ids = append(ids, a.reserve(t, r))
		}
		before := a.server.Calls()
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("Verify = %v", err)
		}
		after := a.server.Calls()
		for action, want := range map[string]int{"CreateLaunchTemplate": 3, "CreateFleet": 3, "RunInstances": 5} {
			if got := after[action] - before[action]; got != want {
				t.Errorf("%s was called %d times, want %d: on demand, into reservations of either tenancy, and RunInstances into each", action, got, want)
			}
		}
		for _, id := range ids {
			a.server.Deny(faults.OnReservation(id))
			refused := refusal(t, a.provider.Verify(t.Context(), a.class))
			if !strings.Contains(refused.Cause, ":capacity-reservation/"+id) || strings.Count(refused.Cause, "lacks the right") != 1 {
				t.Errorf("without the right on %s: %v", id, refused)
			}
			a.server.Allow(faults.OnReservation(id))
		}
	})
	t.Run("a reservation that is full, or was cancelled a moment ago, is no refusal, and what both launches lack is said once", func(t *testing.T) {
		a := openAccount(t)
		id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 1, Targeted: true})
		if _, err := a.provider.Launch(t.Context(), a.fromReservation(t, "t1", id, 1)); err != nil {
			t.Fatal(err)
		}
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("with a full reservation: %v", err)
		}
		a.server.Deny("RunInstances")
		if refused := refusal(t, a.provider.Verify(t.Context(), a.class)); strings.Count(refused.Cause, "lacks the right") != 1 {
			t.Errorf("without RunInstances: %v", refused)
		}
		a.server.Allow("RunInstances")
		a.Advance(time.Minute)
		if _, err := a.admin.EC2.CancelCapacityReservation(t.Context(), &ec2.CancelCapacityReservationInput{CapacityReservationId: sdk.String(id)}); err != nil {
			t.Fatal(err)
		}
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("with a reservation that is over: %v", err)
		}
	})
	t.Run("throttling is no refusal", func(t *testing.T) {
		for _, action := range rehearsedActions {
			a := openAccount(t)
			a.server.AddFault(faults.Fault{Action: action, Code: "RequestLimitExceeded", Nth: 1, Times: 100})
			err := a.provider.Verify(t.Context(), a.class)
			if throttled, ok := errors.AsType[*cloud.ThrottledError](err); !ok || !strings.Contains(throttled.Call, action) {
				t.Errorf("Verify with %s throttled = %v, want a *cloud.ThrottledError that names it", action, err)
			}
		}
	})
	t.Run("a refusal counts though another call was throttled", func(t *testing.T) {
		a := openAccount(t)
		a.server.Market().SetRate("CreateLaunchTemplate", market.Rate{})
		a.server.Deny("CreateFleet")
		if refused := refusal(t, a.provider.Verify(t.Context(), a.class)); refused.Reason != "CreateFleetAuthCheckFailed" {
			t.Errorf("Verify = %v", refused)
		}
	})
	t.Run("a profile that was just made is waited for", func(t *testing.T) {
		a := openAccount(t)
		class := a.class
		class.Resolved.Profile = "made-a-moment-ago"
		err := a.provider.Verify(t.Context(), class)
		if notYet, ok := errors.AsType[*nodeclass.NotYetError](err); !ok || !strings.Contains(notYet.Text, "no such profile") {
			t.Errorf("Verify = %v, want a *nodeclass.NotYetError", err)
		}
	})
	t.Run("a profile that the user named wrongly is refused", func(t *testing.T) {
		a := openAccount(t)
		class := a.class
		class.Spec.Role, class.Spec.InstanceProfile, class.Resolved.Profile = "", "typo", "typo"
		if refused := refusal(t, a.provider.Verify(t.Context(), class)); refused.Reason != "InstanceProfileNotFound" || !strings.Contains(refused.Cause, `no such profile: EC2 knows no instance profile "typo"`) {
			t.Errorf("Verify = %v", refused)
		}
	})
	t.Run("a profile of the user's that has no role is told as that", func(t *testing.T) {
		a := openAccount(t)
		if _, err := a.admin.IAM.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: sdk.String("bare")}); err != nil {
			t.Fatal(err)
		}
		a.Advance(time.Minute)
		class := a.class
		class.Spec.Role, class.Spec.InstanceProfile, class.Resolved.Profile = "", "bare", "bare"
		if refused := refusal(t, a.provider.Verify(t.Context(), class)); refused.Reason != "InstanceProfileNotFound" || !strings.HasPrefix(refused.Cause, `instance profile "bare", which spec.instanceProfile names, has no role: add`) {
			t.Errorf("Verify = %v", refused)
		}
	})
	t.Run("that all types are short for now says nothing against the class", func(t *testing.T) {
		a := openAccount(t)
		a.provider.types = slices.DeleteFunc(a.provider.types, func(of catalog.Type) bool { return !strings.HasPrefix(of.Name, "m5.") })
		a.provider.typesSeq++
		var all []cloud.OfferingChoice
		for _, k := range a.kinds(t).InstanceTypes {
			for _, o := range k.Offerings {
				all = append(all, cloud.OfferingChoice{Kind: k.Name, Zone: o.Zone, Option: o.Option, Dedicated: o.Unless != (constraint.Label{})})
			}
		}
		a.provider.Short(all...)
		for _, k := range a.kinds(t).InstanceTypes {
			if slices.ContainsFunc(k.Offerings, func(o cluster.Offering) bool { return o.Available }) {
				t.Fatalf("%s can still be had", k.Name)
			}
		}
		if err := a.provider.Verify(t.Context(), a.class); err != nil {
			t.Errorf("Verify = %v", err)
		}
		if n, err := a.provider.UserDataBytes(t.Context(), a.class); err != nil || n == 0 {
			t.Errorf("UserDataBytes = %d, %v", n, err)
		}
	})
	t.Run("no image for any type that is offered is refused", func(t *testing.T) {
		a := openAccount(t)
		class := a.class
		class.Resolved.Images = nil
		if refused := refusal(t, a.provider.Verify(t.Context(), class)); refused.Reason != "DependenciesNotReady" || !strings.Contains(refused.Cause, "select other images in spec.amiSelectorTerms") {
			t.Errorf("Verify = %v", refused)
		}
	})
	t.Run("the service network is asked for until EKS tells it", func(t *testing.T) {
		a := openAccount(t)
		network := a.provider.clusterFacts().CIDR
		a.provider.cluster.CIDR = "" // as after a start without the right
		a.server.Deny("DescribeCluster")
		_, err := a.provider.UserDataBytes(t.Context(), a.class)
		if refused := refusal(t, err); refused.Reason != "ClusterCIDRResolutionFailed" || !strings.Contains(refused.Cause, "allow eks:DescribeCluster") {
			t.Errorf("without the right: %v", refused)
		}
		a.server.Allow("DescribeCluster")
		for range 2 {
			if _, err := a.provider.UserDataBytes(t.Context(), a.class); err != nil || network == "" || a.provider.clusterFacts().CIDR != network {
				t.Errorf("with the right: %v, and the network is %q; want %q", err, a.provider.clusterFacts().CIDR, network)
			}
		}
		if n := a.server.Calls()["DescribeCluster"]; n > 3 {
			t.Errorf("EKS was asked %d times, want once at the start, once without the right, and once with it", n)
		}
	})
	t.Run("user data that is too long is refused before any call", func(t *testing.T) {
		a := openAccount(t)
		class := a.class
		class.Spec.Images = []nodeclass.ImageTerm{{Alias: "al2023@latest"}}
		class.Spec.UserData = "#!/bin/sh\n" + strings.Repeat("# nothing\n", 4000)
		if refused := refusal(t, a.provider.Verify(t.Context(), class)); refused.Reason != "UserDataSizeLimitExceeded" {
			t.Errorf("Verify = %v", refused)
		}
		long, err := a.provider.UserDataBytes(t.Context(), class)
		if refused := refusal(t, err); refused.Reason != "UserDataSizeLimitExceeded" || long < 40000 {
			t.Errorf("UserDataBytes = %d, %v", long, err)
		}
		class.Spec.UserData = ""
		if got, err := a.provider.UserDataBytes(t.Context(), class); err != nil || got <= 0 || got > long-40000 {
			t.Errorf("UserDataBytes = %d, %v without what the user wrote; want ours alone", got, err)
		}
	})
}

var rehearsedActions = []string{"CreateLaunchTemplate", "CreateFleet", "RunInstances"}

func refusal(t *testing.T, err error) *cloud.RefusedError {
	t.Helper()
	refused, ok := errors.AsType[*cloud.RefusedError](err)
	if !ok {
		t.Fatalf("Verify = %v, want a refusal", err)
	}
	return refused
}

// The right that is missing may be another than the call's own.
func TestMissingRight(t *testing.T) {
	tests := map[string]struct{ message, want string }{
		"a right on a role": {
			"You are not authorized to perform this operation. User: arn:aws:sts::1:assumed-role/c/s is not authorized to perform: iam:PassRole on resource: arn:aws:iam::1:role/nodes because no identity-based policy allows the iam:PassRole action. Encoded authorization failure message: AAAA",
			"lacks the right iam:PassRole on arn:aws:iam::1:role/nodes, which calls of ec2:RunInstances need",
		},
		"no resource told": {"You are not authorized to perform this operation.", "lacks the right ec2:RunInstances, which"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := missingRight("RunInstances", tt.message)
			if !strings.Contains(got, tt.want) || strings.Contains(got, "AAAA") {
				t.Errorf("missingRight = %s\nwant it to say %q and nothing encoded", got, tt.want)
			}
		})
	}
}
