package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
)

// offering finds an offering of an instance type in the first zone.
func (a *account) offering(t *testing.T, kind string, option cluster.Option) cluster.Offering {
	t.Helper()
	for _, k := range a.kinds(t).InstanceTypes {
		for _, o := range k.Offerings {
			if k.Name == kind && o.Option == option {
				return o
			}
		}
	}
	t.Fatalf("%s is not offered %s", kind, option)
	return cluster.Offering{}
}

// An account may run four vCPUs of common instances on demand. What is larger than what is
// left of them is not offered, with the reason, and is again once an instance went.
func TestOfferingsBeyondAQuotaAreLeftOut(t *testing.T) {
	a := openAccount(t)
	const standard = "L-1216C47A"
	if err := a.server.SetQuota(standard, 4); err != nil {
		t.Fatal(err)
	}
	if err := a.provider.RefreshQuotas(t.Context()); err != nil {
		t.Fatal(err)
	}
	says := func(kind string, option cluster.Option, why string) {
		t.Helper()
		o := a.offering(t, kind, option)
		if o.Available != (why == "") || !strings.Contains(o.Why, why) || (o.Why == "") != (why == "") {
			t.Errorf("%s %s: available %v, %q; want %q", kind, option, o.Available, o.Why, why)
		}
	}
	says("m5.xlarge", cluster.OnDemand, "")
	says("m5.2xlarge", cluster.OnDemand, "4 vCPUs of on-demand instances of the group Standard, and it has more: request more in Service Quotas")
	says("m5.2xlarge", cluster.Spot, "")
	says("g5.2xlarge", cluster.OnDemand, "")

	launched, err := a.provider.Launch(t.Context(), a.request(t, "one", cluster.OnDemand, "m5.large"))
	if err != nil {
		t.Fatal(err)
	}
	says("m5.large", cluster.OnDemand, "")
	says("m5.xlarge", cluster.OnDemand, "too few are left")
	a.Advance(time.Minute)
	if err := a.provider.RefreshQuotas(t.Context()); err != nil { // EC2 counts it as well
		t.Fatal(err)
	}
	says("m5.xlarge", cluster.OnDemand, "too few are left")
	if _, err := a.provider.Terminate(t.Context(), launched[0].ID); err != nil {
		t.Fatal(err)
	}
	says("m5.xlarge", cluster.OnDemand, "")
}

// Eight vCPUs may run, and four of them are reserved: these count whether instances run in
// them or not, and what is launched into the reservation counts no more. Reservations that
// others share, and capacity blocks, do not count.
func TestReservationsCountAgainstAQuota(t *testing.T) {
	a := openAccount(t)
	if err := a.server.SetQuota("L-1216C47A", 8); err != nil {
		t.Fatal(err)
	}
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2, Targeted: true})
	shared := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 4, Owner: "210987654321"})
	a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 4, Block: true, EndsAt: a.Now().Add(24 * time.Hour)})
	fits := func(when, largest, tooLarge string) {
		t.Helper()
		if err := a.provider.RefreshQuotas(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o := a.offering(t, largest, cluster.OnDemand); !o.Available || o.Why != "" {
			t.Errorf("%s an %s is available %v, %q; want it to be had", when, largest, o.Available, o.Why)
		}
		if o := a.offering(t, tooLarge, cluster.OnDemand); !strings.Contains(o.Why, "too few are left") {
			t.Errorf("%s an %s is available %v, %q; want it to be too large", when, tooLarge, o.Available, o.Why)
		}
	}
	fits("with the reservation idle", "m5.xlarge", "m5.2xlarge")
	for _, from := range []string{id, shared} {
		if got, err := a.provider.Launch(t.Context(), a.fromReservation(t, "from-"+from, from, 2)); err != nil || len(got) != 2 {
			t.Fatalf("Launch = %v, %v; want two", got, err)
		}
		if o := a.offering(t, "m5.xlarge", cluster.OnDemand); !o.Available {
			t.Errorf("right after a purchase into %s no m5.xlarge is available: %q", from, o.Why)
		}
	}
	a.Advance(time.Minute)
	fits("with machines in the reservations", "m5.xlarge", "m5.2xlarge")
	if o := a.reservedOffering(t, shared); !o.Available {
		t.Errorf("a reservation with room is available %v, %q", o.Available, o.Why)
	}
	launched, err := a.provider.Launch(t.Context(), a.request(t, "one", cluster.OnDemand, "m5.xlarge"))
	if err != nil {
		t.Fatal(err)
	}
	late := a.request(t, "late", cluster.OnDemand, "m5.large")
	if _, err := a.provider.Launch(t.Context(), late); !isShort(err) {
		t.Errorf("Launch beyond the limit = %v, want a shortage", err)
	}
	a.Advance(time.Minute) // it is visible to all calls
	if _, err := a.provider.Terminate(t.Context(), launched[0].ID); err != nil {
		t.Fatal(err)
	}
	a.Advance(5 * time.Minute) // the shortage is forgotten
	fits("once all on demand is given back", "m5.xlarge", "m5.2xlarge")
}

// Who may not read reservations counts the instances that run in them.
func TestWithoutTheRightToReadReservationsInstancesInThemCount(t *testing.T) {
	a := openAccount(t)
	if err := a.server.SetQuota("L-1216C47A", 8); err != nil {
		t.Fatal(err)
	}
	id := a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 4, Targeted: true})
	a.server.Deny("DescribeCapacityReservations")
	if err := a.provider.RefreshQuotas(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := a.offering(t, "m5.2xlarge", cluster.OnDemand); !o.Available {
		t.Errorf("with the reservation idle no m5.2xlarge is available: %q", o.Why)
	}
	for _, token := range []string{"t1", "t2"} {
		if _, err := a.provider.Launch(t.Context(), a.fromReservation(t, token, id, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, when := range []string{"right after the purchase", "a minute later"} {
		if o := a.offering(t, "m5.2xlarge", cluster.OnDemand); !strings.Contains(o.Why, "too few are left") || !a.offering(t, "m5.xlarge", cluster.OnDemand).Available {
			t.Errorf("%s an m5.2xlarge is available %v, %q; want an m5.xlarge alone", when, o.Available, o.Why)
		}
		a.Advance(time.Minute)
		if err := a.provider.RefreshQuotas(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Where instances on demand may run in open reservations, room that these have forbids
// none.
func TestWithoutTheGateReservationsCountAgainstNoQuota(t *testing.T) {
	a := openAccount(t)
	a.provider.options.NoReservedCapacity = true
	if err := a.server.SetQuota("L-1216C47A", 4); err != nil {
		t.Fatal(err)
	}
	a.reserve(t, reservation.CapacityReservation{Type: "m5.large", Zone: reservedZone, Count: 2})
	if err := a.provider.RefreshQuotas(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := a.offering(t, "m5.large", cluster.OnDemand); !o.Available {
		t.Errorf("no m5.large is available: %q", o.Why)
	}
}

// AWS limits spot instances of P by generation, and those on demand together.
func TestSpotInstancesOfPHaveLimitsOfTheirOwn(t *testing.T) {
	a := openAccount(t)
	for code, vCPUs := range map[string]int{"L-7212CCBC": 8, "L-C4BD4855": 0} {
		if err := a.server.SetQuota(code, vCPUs); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.provider.RefreshQuotas(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		kind   string
		option cluster.Option
		why    string
	}{
		{"p3.2xlarge", cluster.Spot, ""},
		{"p3.8xlarge", cluster.Spot, "to 8 vCPUs of spot instances of the group P2 to P4"},
		{"p5.48xlarge", cluster.Spot, "to 0 vCPUs of spot instances of the group P5"},
		{"p3.8xlarge", cluster.OnDemand, ""},
	} {
		if o := a.offering(t, tt.kind, tt.option); !strings.Contains(o.Why, tt.why) || (o.Why == "") != (tt.why == "") {
			t.Errorf("%s %s: %q, want %q", tt.kind, tt.option, o.Why, tt.why)
		}
	}
}

// Without the right to read limits none is known, which is reported once.
func TestWithoutTheRightToReadQuotasNothingIsLeftOut(t *testing.T) {
	a := openAccount(t)
	var reported []string
	a.provider.options.Warn = func(err error) { reported = append(reported, err.Error()) }
	if err := a.server.SetQuota("L-1216C47A", 0); err != nil {
		t.Fatal(err)
	}
	a.server.Deny("ListServiceQuotas")
	for range 2 {
		if err := a.provider.RefreshQuotas(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if o := a.offering(t, "m5.large", cluster.OnDemand); !o.Available || o.Why != "" {
		t.Errorf("an m5.large is available %v, %q", o.Available, o.Why)
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "let the controller's role call servicequotas:ListServiceQuotas") {
		t.Errorf("told %q, want it once, with the way out", reported)
	}
}
