package aws

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
)

// Where AWS has not returned prices, or cannot be asked, instances have those of the
// built-in table: in a region that it lacks those of another.
func TestPricesThatStandIn(t *testing.T) {
	tests := map[string]struct {
		region, kind string
		want         float64 // 0: none is known
	}{
		"the region's own":          {"eu-west-1", "m5.large", 0.107},
		"SC-475 GovCloud":           {"us-gov-west-1", "m5.large", 0.096},
		"a region that is new":      {"xy-north-1", "m5.large", 0.096},
		"SC-475 China pays in yuan": {"cn-north-1", "m5.large", 0.672},
		"a type that is new":        {"us-gov-west-1", "m99.large", 0},
		"one that is sold by hosts": {"us-gov-west-1", "mac2.metal", 0},
	}
	for name, tt := range tests {
		got, known := factsFor(tt.region).OnDemandUSD(tt.kind)
		if known != (tt.want != 0) || got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%s: %s costs %v in %s, known %v; want %v", name, tt.kind, got, tt.region, known, tt.want)
		}
	}
	if spot, known := factsFor("us-gov-west-1").SpotUSD("m5.large"); !known || spot <= 0 || spot >= 0.096 {
		t.Errorf("a spot m5.large costs %v in GovCloud, known %v", spot, known)
	}
}

// An isolated VPC has no way to the price list. Instances are launched all the same.
func TestAnIsolatedVPCAsksForNoPriceList(t *testing.T) {
	a := openAccount(t)
	a.provider.options.IsolatedVPC = true
	if err := a.provider.RefreshOnDemand(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := a.server.Calls()["GetProducts"]; n != 0 {
		t.Errorf("SC-475: the price list was asked %d times", n)
	}
	if !a.provider.HasOnDemand() {
		t.Error("prices that cannot be asked for are waited for")
	}
	if !available(a.kinds(t), "m5.large", cluster.OnDemand) {
		t.Error("SC-475: no m5.large can be bought on demand")
	}
}

// Types are taken over whole or not at all.
func TestTypesThatCannotBeReadStay(t *testing.T) {
	a := openAccount(t)
	before := a.kinds(t).Revision
	for _, call := range []string{"DescribeInstanceTypes", "DescribeInstanceTypeOfferings"} {
		a.server.Deny(call)
		if err := a.provider.RefreshTypes(t.Context()); err == nil {
			t.Errorf("without the right to call %s types were read", call)
		}
	}
	if now := a.kinds(t).Revision; now != before {
		t.Errorf("SC-464: revision %d after %d", now, before)
	}
}
