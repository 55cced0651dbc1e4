package aws

import (
	"testing"
	"time"

	"github.com/daemok/daemok/cloud/aws/profile"
	"github.com/daemok/daemok/core/cluster"
)

// A class gets another role: its new profile is another one, and the earlier one goes an
// hour after the last instance that has it.
func TestTheProfileOfAnEarlierRoleGoesAfterItsInstances(t *testing.T) {
	a := openAccount(t)
	got, err := a.provider.Launch(t.Context(), a.request(t, "t1", cluster.OnDemand, "m5.large"))
	if err != nil {
		t.Fatal(err)
	}
	before := a.class.Resolved.Profile
	spec := defaultSpec()
	spec.Role = "prod-karpenter"
	a.class = a.resolve(t, spec)
	if a.class.Resolved.Profile == before {
		t.Fatalf("the profile is still %s", before)
	}
	collect := func(later time.Duration) []string {
		t.Helper()
		a.Advance(later)
		removed, err := a.provider.CollectProfiles(t.Context(), map[string]bool{a.class.Resolved.Profile: true})
		if err != nil {
			t.Fatal(err)
		}
		return removed
	}
	for range 4 {
		if removed := collect(ProfilesEvery); len(removed) > 0 {
			t.Fatalf("removed %v, which a machine runs with", removed)
		}
	}
	if _, err := a.provider.Terminate(t.Context(), got[0].ID); err != nil {
		t.Fatal(err)
	}
	collect(ProfilesEvery)
	collect(0)
	if removed := collect(profile.KeepUnused); len(removed) != 1 || removed[0] != before {
		t.Errorf("removed %v, want %s", removed, before)
	}
	if again := a.resolve(t, spec); again.Resolved.Profile != a.class.Resolved.Profile {
		t.Errorf("the profile in use is another: %s", again.Resolved.Profile)
	}
}
