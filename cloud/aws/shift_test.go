package aws

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"

	"github.com/daemok/daemok/cloud"
)

// shiftedAccount is an account whose provider follows zonal shifts.
func shiftedAccount(t *testing.T) *account {
	t.Helper()
	a := openAccount(t)
	a.provider.options.ZonalShift = true
	return a
}

// shifts is what is reported to the provider.
func (a *account) shifts(t *testing.T) (zones []string) {
	t.Helper()
	found, err := a.provider.Shifts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		zones = append(zones, s.ZoneID)
	}
	return zones
}

// shift begins a user's zonal shift.
func (a *account) shift(t *testing.T, zoneID, long string) (id string) {
	t.Helper()
	arn, err := a.provider.clusterARN(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.admin.ARC.StartZonalShift(t.Context(), &arczonalshift.StartZonalShiftInput{
		ResourceIdentifier: sdk.String(arn), AwayFrom: sdk.String(zoneID), ExpiresIn: sdk.String(long), Comment: sdk.String("trouble")})
	if err != nil {
		t.Fatal(err)
	}
	return sdk.ToString(out.ZonalShiftId)
}

// zoneID of the zone that tests shift away from.
func (a *account) zoneID(t *testing.T, zone string) string {
	t.Helper()
	for _, s := range a.class.Resolved.Subnets {
		if s.Zone == zone {
			return s.ZoneID
		}
	}
	t.Fatalf("no subnet in %s", zone)
	return ""
}

func TestNothingIsLaunchedInAShiftedZone(t *testing.T) {
	a := shiftedAccount(t)
	everywhere := a.openIn(t)
	id := a.zoneID(t, "us-east-1a")
	shift := a.shift(t, id, "1h")
	if got := a.shifts(t); !slices.Equal(got, []string{id}) {
		t.Fatalf("shifted are %v, want %s", got, id)
	}
	if got := a.openIn(t); slices.Contains(got, "us-east-1a") || len(got) != len(everywhere)-1 {
		t.Errorf("SC-424: open in %v with a zone shifted away from, want all others of %v", got, everywhere)
	}
	want := "zone us-east-1a is shifted away from until " + a.Now().Add(time.Hour).Format(time.RFC3339) + ": cancel the zonal shift, or let pods run in other zones"
	if got := a.whyNot(t, "us-east-1a"); !slices.Equal(got, []string{want}) {
		t.Errorf("offers of the zone say %q, want %q alone", got, want)
	}
	if got := a.whyNot(t, "us-east-1b"); !slices.Equal(got, []string{""}) {
		t.Errorf("offers of another zone say %q", got)
	}
	if _, err := a.provider.Launch(t.Context(), a.inZone(t, "t1", "us-east-1a", "", 1)); !isShort(err) {
		t.Errorf("Launch in a shifted zone = %v, want a shortage", err)
	}
	if _, err := a.admin.ARC.CancelZonalShift(t.Context(), &arczonalshift.CancelZonalShiftInput{ZonalShiftId: sdk.String(shift)}); err != nil {
		t.Fatal(err)
	}
	if got := a.shifts(t); len(got) > 0 || !slices.Equal(a.openIn(t), everywhere) {
		t.Errorf("shifted are %v, open in %v after the shift was cancelled", got, a.openIn(t))
	}
}

// whyNot is what the offerings of a zone say why they cannot be had, each text once.
func (a *account) whyNot(t *testing.T, zone string) (said []string) {
	t.Helper()
	for _, k := range a.kinds(t).InstanceTypes {
		for i := range k.Offerings {
			if o := &k.Offerings[i]; o.Zone == zone && !slices.Contains(said, o.Why) {
				said = append(said, o.Why)
			}
		}
	}
	return said
}

func TestAShiftIsOverWhenItExpires(t *testing.T) {
	a := shiftedAccount(t)
	a.shift(t, a.zoneID(t, "us-east-1a"), "1h")
	a.shifts(t)
	a.Advance(time.Hour)
	if got := a.shifts(t); len(got) > 0 || !slices.Contains(a.openIn(t), "us-east-1a") {
		t.Errorf("shifted are %v an hour later, open in %v", got, a.openIn(t))
	}
}

func TestAShiftIsOverAtItsEndWithoutAnAnswer(t *testing.T) {
	a := shiftedAccount(t)
	a.shift(t, a.zoneID(t, "us-east-1a"), "1h")
	a.shifts(t)
	a.server.Deny("GetManagedResource")
	for _, step := range []struct {
		after time.Duration
		open  bool
	}{{59 * time.Minute, false}, {time.Minute, true}} {
		a.Advance(step.after)
		if _, err := a.provider.Shifts(t.Context()); err == nil {
			t.Error("nobody says that shifts may not be asked for")
		}
		if got := a.openIn(t); slices.Contains(got, "us-east-1a") != step.open {
			t.Errorf("open in %v %v later, want the zone among them: %v", got, step.after, step.open)
		}
	}
}

// Whoever turns zonal shift off for the cluster has no shift of it in effect.
func TestAutoshiftsAreOverOnceShiftsAreTurnedOff(t *testing.T) {
	a := shiftedAccount(t)
	if err := a.server.AutoShift("us-east-1a"); err != nil {
		t.Fatal(err)
	}
	a.shifts(t)
	a.server.Fault("GetManagedResource", 1, "ResourceNotFoundException")
	_, err := a.provider.Shifts(t.Context())
	if refused, ok := errors.AsType[*cloud.RefusedError](err); !ok || refused.Reason != cloud.ShiftsNotRegistered || !slices.Contains(a.openIn(t), "us-east-1a") {
		t.Errorf("Shifts = %v, open in %v; want it to be said, and the zone to be open", err, a.openIn(t))
	}
}

// "Zonal shifts that you start take precedence over autoshifts": what is in effect
// counts, and one that is over leaves the other.
func TestOfAShiftAndAnAutoshiftTheOneInEffectCounts(t *testing.T) {
	a := shiftedAccount(t)
	first, second := a.zoneID(t, "us-east-1a"), a.zoneID(t, "us-east-1b")
	if err := a.server.AutoShift("us-east-1a"); err != nil {
		t.Fatal(err)
	}
	if got := a.shifts(t); !slices.Equal(got, []string{first}) {
		t.Errorf("shifted are %v, want the autoshift's %s", got, first)
	}
	if got := a.whyNot(t, "us-east-1a"); !strings.Contains(strings.Join(got, ""), "until AWS ends the autoshift") {
		t.Errorf("offers of the zone say %q, want that AWS ends the shift", got)
	}
	shift := a.shift(t, second, "2h")
	if got := a.shifts(t); !slices.Equal(got, []string{second}) {
		t.Errorf("shifted are %v, want the user's %s", got, second)
	}
	if _, err := a.admin.ARC.CancelZonalShift(t.Context(), &arczonalshift.CancelZonalShiftInput{ZonalShiftId: sdk.String(shift)}); err != nil {
		t.Fatal(err)
	}
	if got := a.shifts(t); !slices.Equal(got, []string{first}) {
		t.Errorf("shifted are %v, want the autoshift's %s again", got, first)
	}
}

func TestWithoutTheSettingShiftsAreNotRead(t *testing.T) {
	a := openAccount(t)
	if err := a.server.AutoShift("us-east-1a"); err != nil {
		t.Fatal(err)
	}
	a.server.Deny("GetManagedResource")
	if got := a.shifts(t); len(got) > 0 || !slices.Contains(a.openIn(t), "us-east-1a") {
		t.Errorf("shifted are %v", got)
	}
}

func TestARightThatShiftsNeedIsNamed(t *testing.T) {
	a := shiftedAccount(t)
	a.server.Deny("GetManagedResource")
	if _, err := a.provider.Shifts(t.Context()); err == nil || !strings.Contains(err.Error(), "GetManagedResource") {
		t.Errorf("Shifts = %v, want the right that is missing", err)
	}
}
