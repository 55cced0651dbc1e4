package ec2data

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func typeOf(t *testing.T, name string) *Type {
	t.Helper()
	x, ok := Load().Type(name)
	if !ok {
		t.Fatalf("%s is not in the table", name)
	}
	return x
}

func TestFactsOfATypeAreThere(t *testing.T) {
	m5 := typeOf(t, "m5.large")
	if m5.VCPUs != 2 || m5.Cores != 1 || m5.MemoryMiB != 8192 || m5.ENIsMax != 3 || m5.IPv4PerENI != 10 ||
		m5.Hypervisor != "nitro" || m5.CPUMaker != "Intel" || m5.IsARM() || m5.EBS.MaxMbps != 4750 {
		t.Errorf("m5.large = %+v", m5)
	}
	if zones := m5.OfferedZones("us-east-1"); !slices.Contains(zones, "us-east-1a") || slices.Contains(zones, "us-east-1e") {
		t.Errorf("m5.large is offered in %v", zones)
	}
	if g5 := typeOf(t, "g5.xlarge"); g5.GPUs[0].Name != "A10G" || g5.Storage.TotalGB != 250 || g5.Storage.Disks[0] != (Disk{1, 250, "ssd"}) {
		t.Errorf("g5.xlarge = %+v", g5)
	}
	if trn := typeOf(t, "trn1.32xlarge"); len(trn.NetworkCards) != 8 || trn.NetworkCards[7] != (NetworkCard{7, 5, 100, 100}) ||
		trn.Accelerators[0].Count != 16 || trn.EFAInterfaces != 8 {
		t.Errorf("trn1.32xlarge = %+v", trn)
	}
	if p3 := typeOf(t, "p3.2xlarge"); !p3.Discontinued || p3.Cores != 4 || len(p3.NetworkCards) != 1 || len(p3.OfferedZones("us-east-1")) == 0 {
		t.Errorf("p3.2xlarge = %+v", p3)
	}
	if _, ok := Load().Type("m5.nosuch"); ok {
		t.Error("found a type that does not exist")
	}
}

func TestTypesAreSortedAndComplete(t *testing.T) {
	names := map[string]bool{}
	types := Load().Types
	for i, x := range types {
		if i > 0 && types[i-1].Name >= x.Name {
			t.Errorf("%s follows %s", x.Name, types[i-1].Name)
		}
		if x.VCPUs <= 0 || x.MemoryMiB <= 0 || x.ENIsMax <= 0 || x.IPv4PerENI <= 0 || len(x.Architectures) == 0 ||
			len(x.NetworkCards) == 0 || len(x.Usage) == 0 || len(x.Virtualization) == 0 || (x.Hypervisor == "") != x.BareMetal {
			t.Errorf("%s lacks a fact: %+v", x.Name, x)
		}
		names[x.Name] = true
	}
	if len(names) != 1266 {
		t.Errorf("%d types, want 1263 and the 3 retired ones", len(names))
	}
}

func TestPrices(t *testing.T) {
	tests := map[string]struct {
		kind, region string
		spot         bool
		least, most  float64
		estimated    bool
	}{
		"a published on-demand price is exact":              {"m5.large", "us-east-1", false, 0.096, 0.096, false},
		"a published spot price is exact":                   {"c5d.large", "us-east-1", true, 0.0422, 0.0422, false},
		"a price missing in one region is estimated":        {"c7gd.large", "ap-northeast-2", false, 0.10244, 0.10244, true},
		"an unpriced type costs what its predecessor costs": {"c8a.large", "us-east-1", false, 0.10264, 0.10264, true},
		"its spot price is a share of that":                 {"c8a.large", "us-east-1", true, 0.0348, 0.0350, true},
		"a new size costs by its share of the largest":      {"p5.4xlarge", "us-east-1", false, 12.2, 12.4, true},
		"a fraction of a GPU costs a fraction":              {"g6f.large", "us-east-1", false, 0.1, 0.3, true},
		"a retired type has a spot price":                   {"p3.2xlarge", "us-east-1", true, 0.917, 0.919, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ask := typeOf(t, tt.kind).OnDemandUSD
			if tt.spot {
				ask = typeOf(t, tt.kind).SpotUSD
			}
			price, estimated, ok := ask(tt.region)
			if !ok || price < tt.least || price > tt.most || estimated != tt.estimated {
				t.Errorf("price of %s in %s = %v (estimated %v, known %v); want %v to %v, estimated %v",
					tt.kind, tt.region, price, estimated, ok, tt.least, tt.most, tt.estimated)
			}
		})
	}
}

// TestWhatIsOfferedHasAPrice: a type without a price makes clients launch absurd instances,
// so whatever a region offers costs something there. Types of dedicated hosts are the
// exception, since they are not offered by themselves.
func TestWhatIsOfferedHasAPrice(t *testing.T) {
	for _, region := range Load().RegionNames() {
		for _, x := range Load().OfferedIn(region) {
			od, _, ok := x.OnDemandUSD(region)
			if !ok && !strings.HasPrefix(x.Family, "mac") || ok && (od <= 0 || math.IsNaN(od) || od > 500) {
				t.Errorf("%s in %s costs %v, known %v", x.Name, region, od, ok)
			}
			spot, _, offered := x.SpotUSD(region)
			if offered && (spot <= 0 || spot > 1.0001*od) {
				t.Errorf("%s in %s costs %v as spot and %v on demand", x.Name, region, spot, od)
			}
		}
	}
}

func TestZones(t *testing.T) {
	if got := Load().Zones("us-east-1"); len(got) != 6 || got[0] != (Zone{"us-east-1a", "use1-az1"}) {
		t.Errorf("Zones(us-east-1) = %v", got)
	}
	if got := Load().Zones("mars-1"); len(got) != 0 {
		t.Errorf("Zones of an unknown region = %v, want none", got)
	}
	tests := map[string]string{
		"us-west-2d": "usw2-az4", "eu-central-1b": "euc1-az2", "ap-northeast-2c": "apne2-az3",
		"ap-southeast-1a": "apse1-az1", "ap-northeast-1a": "apne1-az4", "us-east-1": "", "": "", "a-b-c": "",
	}
	for zone, want := range tests {
		if got := ZoneID(zone); got != want {
			t.Errorf("ZoneID(%q) = %q, want %q", zone, got, want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		decode(packed)
	}
}
