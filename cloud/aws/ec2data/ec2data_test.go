package ec2data

import (
	"slices"
	"testing"
)

func TestTypeFacts(t *testing.T) {
	d := Load()
	m5, ok := d.Type("m5.large")
	if !ok {
		t.Fatal("m5.large is not in the catalogue")
	}
	if m5.VCPUs != 2 || m5.MemoryMiB != 8192 || m5.MaxENIs != 3 || m5.IPv4PerENI != 10 || m5.Hypervisor != "nitro" {
		t.Errorf("m5.large = %+v", m5)
	}
	if zones := m5.OfferedZones("us-east-1"); !slices.Contains(zones, "us-east-1a") || slices.Contains(zones, "us-east-1e") {
		t.Errorf("m5.large is offered in %v", zones)
	}
	if g5, _ := d.Type("g5.xlarge"); g5.GPUs[0].Name != "A10G" || g5.Disk.TotalGB != 250 || g5.Disk.Disks[0].Count != 1 {
		t.Errorf("g5.xlarge = %+v", g5)
	}
	if _, ok := d.Type("m5.nosuch"); ok {
		t.Error("found a type that does not exist")
	}
}

func TestPrices(t *testing.T) {
	tests := map[string]struct {
		name, region string
		spot         bool
		least, most  float64
		estimated    bool
	}{
		"a published on-demand price is exact":             {"m5.large", "us-east-1", false, 0.096, 0.096, false},
		"a published spot price is exact":                  {"m5.large", "us-east-1", true, 0.0317, 0.0317, false},
		"a price missing in the region is estimated":       {"c8g.large", "ap-northeast-2", false, 0.09008, 0.09008, true},
		"a type without any price follows its predecessor": {"c8a.large", "us-east-1", false, 0.07, 0.12, true},
		"its spot price follows from that":                 {"c8a.large", "us-east-1", true, 0.02, 0.05, true},
		"a retired type has a spot price":                  {"p3.2xlarge", "us-east-1", true, 0.9, 0.93, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := Load()
			typ, _ := d.Type(tt.name)
			ask := d.OnDemandUSD
			if tt.spot {
				ask = d.SpotUSD
			}
			price, estimated, ok := ask(typ, tt.region)
			if !ok || price < tt.least || price > tt.most || estimated != tt.estimated {
				t.Errorf("price of %s in %s = %v (estimated %v, known %v); want %v-%v, estimated %v",
					tt.name, tt.region, price, estimated, ok, tt.least, tt.most, tt.estimated)
			}
		})
	}
}

func TestNearlyEveryTypeHasAPrice(t *testing.T) {
	d := Load()
	var unpriced []string
	for i := range d.Types {
		if _, _, ok := d.OnDemandUSD(&d.Types[i], "us-east-1"); !ok {
			unpriced = append(unpriced, d.Types[i].Name)
		}
	}
	if len(unpriced) > len(d.Types)/50 {
		t.Errorf("%d types have no price, not even an estimate: %v", len(unpriced), unpriced)
	}
}

func TestZones(t *testing.T) {
	zones := Load().Zones("us-east-1")
	if len(zones) != 6 || zones[0] != (Zone{"us-east-1a", "use1-az1"}) {
		t.Errorf("Zones(us-east-1) = %v", zones)
	}
	if got := Load().Zones("mars-1"); got != nil {
		t.Errorf("Zones of an unknown region = %v, want none", got)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load()
	}
}
