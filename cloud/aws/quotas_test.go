package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// offer finds an offer of a kind in the first zone.
func (a *account) offer(t *testing.T, kind string, option cluster.Option) cluster.Offer {
	t.Helper()
	for _, k := range a.kinds(t).Kinds {
		for _, o := range k.Offers {
			if k.Name == kind && o.Option == option {
				return o
			}
		}
	}
	t.Fatalf("%s is not offered %s", kind, option)
	return cluster.Offer{}
}

// An account may run four vCPUs of common machines on demand. What is larger than what
// is left of them is not offered, with the reason, and is again once a machine went.
func TestOffersBeyondAQuotaAreLeftOut(t *testing.T) {
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
		o := a.offer(t, kind, option)
		if o.Available != (why == "") || !strings.Contains(o.Why, why) || (o.Why == "") != (why == "") {
			t.Errorf("%s %s: available %v, %q; want %q", kind, option, o.Available, o.Why, why)
		}
	}
	says("m5.xlarge", cluster.OnDemand, "")
	says("m5.2xlarge", cluster.OnDemand, "4 vCPUs of machines on demand of the group Standard, and it has more: ask for more in Service Quotas")
	says("m5.2xlarge", cluster.Spot, "")
	says("g5.2xlarge", cluster.OnDemand, "")

	bought, err := a.provider.Launch(t.Context(), a.request(t, "one", cluster.OnDemand, "m5.large"))
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
	if _, err := a.provider.Terminate(t.Context(), bought[0].ID); err != nil {
		t.Fatal(err)
	}
	says("m5.xlarge", cluster.OnDemand, "")
}

// AWS limits spot machines of P by generation, and those on demand together.
func TestSpotMachinesOfPHaveLimitsOfTheirOwn(t *testing.T) {
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
		{"p3.8xlarge", cluster.Spot, "run 8 vCPUs of spot machines of the group P2 to P4"},
		{"p5.48xlarge", cluster.Spot, "run 0 vCPUs of spot machines of the group P5"},
		{"p3.8xlarge", cluster.OnDemand, ""},
	} {
		if o := a.offer(t, tt.kind, tt.option); !strings.Contains(o.Why, tt.why) || (o.Why == "") != (tt.why == "") {
			t.Errorf("%s %s: %q, want %q", tt.kind, tt.option, o.Why, tt.why)
		}
	}
}

// Without the right to read limits none is known, which is told once.
func TestWithoutTheRightToReadQuotasNothingIsLeftOut(t *testing.T) {
	a := openAccount(t)
	var told []string
	a.provider.options.Warn = func(err error) { told = append(told, err.Error()) }
	if err := a.server.SetQuota("L-1216C47A", 0); err != nil {
		t.Fatal(err)
	}
	a.server.Deny("ListServiceQuotas")
	for range 2 {
		if err := a.provider.RefreshQuotas(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if o := a.offer(t, "m5.large", cluster.OnDemand); !o.Available || o.Why != "" {
		t.Errorf("an m5.large is available %v, %q", o.Available, o.Why)
	}
	if len(told) != 1 || !strings.Contains(told[0], "let the controller's role call servicequotas:ListServiceQuotas") {
		t.Errorf("told %q, want it once, with the way out", told)
	}
}
