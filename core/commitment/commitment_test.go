package commitment

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/quantity"
)

// prices of one hour on demand, in millionths of a dollar.
var prices = map[string]quantity.MicroUSDPerHour{
	"m5.large": 96_000, "m5.xlarge": 192_000, "m5.2xlarge": 384_000, "c5.large": 85_000, "m5.metal": 4_608_000,
}

// running reads "m5.large m5.large/b": types, in zone a or another.
func running(text string) (out []Usage) {
	for i, word := range strings.Fields(text) {
		kind, zone, other := strings.Cut(word, "/")
		if !other {
			zone = "a"
		}
		out = append(out, Usage{Name: fmt.Sprint("n", i), InstanceType: kind, Zone: zone, OnDemand: prices[kind]})
	}
	return out
}

func TestDivide(t *testing.T) {
	type (
		reserved = ReservedInstances
		plan     = SavingsPlan
		rates    = map[string]quantity.MicroUSDPerHour
	)
	large := reserved{ID: "ri", InstanceType: "m5.large", Count: 2}
	zonal, flexible := large, large
	zonal.Zone, flexible.Flexible = "a", true
	metal := reserved{ID: "ri", InstanceType: "m5.metal", Count: 1, Flexible: true}
	compute := plan{ID: "sp", Commitment: 100_000}
	compute.Rates = rates{"m5.large": 70_000, "c5.large": 55_000, "m5.xlarge": 140_000}
	family := plan{ID: "m5", Family: "m5", Commitment: 60_000}
	family.Rates = rates{"m5.large": 60_000, "m5.xlarge": 120_000}
	half := plan{ID: "half", Commitment: 35_000, Rates: rates{"m5.large": 70_000}}
	tests := map[string]struct {
		c       Commitments
		running string
		cost    quantity.MicroUSDPerHour
		unused  []Unused
	}{
		"nothing is committed": {Commitments{}, "m5.large", 96_000, nil},
		"nothing runs": {Commitments{Reserved: []reserved{large}, Plans: []plan{compute}}, "", 0,
			[]Unused{{"ri", 2, 0}, {"sp", 0, 100_000}}},
		"Reserved Instances cover their type in any zone": {
			Commitments{Reserved: []reserved{large}},
			"m5.large m5.large/b m5.large", 96_000, nil,
		},
		"those of a zone cover their type there": {
			Commitments{Reserved: []reserved{zonal}},
			"m5.large m5.large/b", 96_000, []Unused{{"ri", 1, 0}},
		},
		"no other size is covered": {
			Commitments{Reserved: []reserved{large}},
			"m5.xlarge", 192_000, []Unused{{"ri", 2, 0}},
		},
		"flexible ones cover another size": {
			Commitments{Reserved: []reserved{flexible}},
			"m5.xlarge", 0, nil,
		},
		"flexible ones cover a part": {
			Commitments{Reserved: []reserved{flexible}},
			"m5.2xlarge", 192_000, nil,
		},
		"flexible ones leave a part": {
			Commitments{Reserved: []reserved{{ID: "ri", InstanceType: "m5.xlarge", Count: 1, Flexible: true}}},
			"m5.large", 0, []Unused{{"ri", 0.5, 0}},
		},
		"flexible ones cover the smallest first": {
			Commitments{Reserved: []reserved{flexible}},
			"m5.2xlarge m5.large", 288_000, nil,
		},
		"no other family is covered": {
			Commitments{Reserved: []reserved{flexible}},
			"c5.large", 85_000, []Unused{{"ri", 2, 0}},
		},
		"a size without factor covers itself alone": {
			Commitments{Reserved: []reserved{metal}},
			"m5.metal m5.large", 96_000, nil,
		},
		"those of a zone come before those of the Region": {
			Commitments{Reserved: []reserved{large, zonal}},
			"m5.large m5.large m5.large/b m5.large/b", 0, nil,
		},
		"a Savings Plan covers types that have a rate": {
			Commitments{Plans: []plan{compute}},
			"m5.large m5.2xlarge", 384_000, []Unused{{"sp", 0, 30_000}},
		},
		"a Savings Plan takes the greatest discount first": {
			Commitments{Plans: []plan{compute}},
			"m5.large c5.large", 34_286, nil,
		},
		"a Savings Plan covers a part": {
			Commitments{Plans: []plan{compute}},
			"m5.xlarge", 54_858, nil,
		},
		"a discount is for types without a rate": {
			Commitments{Plans: []plan{
				{ID: "sp", Commitment: 200_000, Discount: 0.5, Rates: rates{"m5.large": 90_000}},
			}},
			"m5.large m5.xlarge", 0, []Unused{{"sp", 0, 14_000}},
		},
		"plans of a family come before those of all": {
			Commitments{Plans: []plan{compute, family}},
			"m5.large c5.large", 0, []Unused{{"sp", 0, 45_000}},
		},
		"two plans cover a part each": {Commitments{Plans: []plan{half, half}}, "m5.large", 0, nil},
		"plans cover what Reserved Instances leave": {
			Commitments{Reserved: []reserved{flexible}, Plans: []plan{compute}},
			"m5.xlarge m5.large", 0, []Unused{{"sp", 0, 30_000}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list := running(tt.running)
			got := Divide(tt.c, list)
			if got.Cost != tt.cost || !slices.Equal(got.Unused, tt.unused) {
				t.Errorf("the bill is %+v, want %d and %+v", got, tt.cost, tt.unused)
			}
			slices.Reverse(list)
			if again := Divide(tt.c, list); !reflect.DeepEqual(again, got) {
				t.Errorf("in another order the bill is %+v, was %+v", again, got)
			}
		})
	}
}

// Instances of the account that are not given use commitments by the same rules, and what they cost is counted by
// itself.
func TestOthersUseCommitmentsToo(t *testing.T) {
	type reserved = []ReservedInstances
	two := Commitments{Reserved: reserved{{ID: "ri", InstanceType: "m5.large", Count: 2}}}
	unpriced := Commitments{Reserved: reserved{{ID: "ri", InstanceType: "x9.large", Count: 1}}}
	plans := Commitments{Plans: []SavingsPlan{{ID: "sp", Commitment: 60_000, Discount: 0.375}}}
	for name, tt := range map[string]struct {
		c             Commitments
		running, more string
		cost, others  quantity.MicroUSDPerHour
	}{
		"they use what is unused":                         {two, "m5.large", "m5.large", 0, 0},
		"they come after those that are alike":            {two, "m5.large m5.large", "m5.large", 0, 96_000},
		"they come first by AWS's rules":                  {plans, "m5.xlarge", "m5.large", 192_000, 0},
		"a type without a price takes Reserved Instances": {unpriced, "m5.large", "x9.large", 96_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tt.c.Others = running(tt.more)
			got := Divide(tt.c, running(tt.running))
			if got.Cost != tt.cost || got.Others != tt.others {
				t.Errorf("the bill is %+v, want %d, and %d of others", got, tt.cost, tt.others)
			}
			for _, r := range Rooms(&tt.c, running(tt.running)) {
				if r.Left != 0 {
					t.Errorf("of %s %d is left, want nothing", r.ID, r.Left)
				}
			}
		})
	}
}

func TestFactor(t *testing.T) {
	want := map[string]int64{
		"nano": 1, "micro": 2, "small": 4, "medium": 8, "large": 16, "xlarge": 32, "2xlarge": 64, "24xlarge": 768,
	}
	for size, quarters := range want {
		if got, ok := factor(size); got != quarters || !ok {
			t.Errorf("%s has %d quarters, want %d", size, got, quarters)
		}
	}
	for _, size := range []string{"metal", "", "0xlarge", "24xl", "metal-24xl"} {
		if got, ok := factor(size); ok {
			t.Errorf("%q has a factor of %d quarters, want none", size, got)
		}
	}
}

// Instances that are alike leave the same to pay whether each is given or how many there are.
func TestAlikeInstancesMayBeCounted(t *testing.T) {
	kinds := []string{"m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "c5.xlarge"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		c := Commitments{Reserved: []ReservedInstances{
			{ID: "flexible", InstanceType: kinds[r.IntN(3)], Count: r.Int64N(6), Flexible: true},
			{ID: "zonal", InstanceType: kinds[r.IntN(5)], Count: r.Int64N(4), Zone: "a"},
		}, Plans: []SavingsPlan{
			{ID: "family", Family: "m5", Commitment: quantity.MicroUSDPerHour(r.Int64N(500_000)), Discount: 0.4},
			{ID: "all", Commitment: quantity.MicroUSDPerHour(r.Int64N(500_000)), Discount: 0.25},
		}}
		var each, counted []Usage
		for _, kind := range kinds {
			for _, zone := range []string{"a", "b"} {
				n := r.Int64N(5)
				price := quantity.MicroUSDPerHour(80_000 + 10_000*len(kind))
				u := Usage{InstanceType: kind, Zone: zone, OnDemand: price, Count: n}
				if n > 0 {
					counted = append(counted, u)
				}
				for u.Count = 0; n > 0; n-- {
					each = append(each, u)
				}
			}
		}
		a, b := Divide(c, each), Divide(c, counted)
		if rest := int64(a.Cost - b.Cost); max(rest, -rest) > int64(len(each)) { // each is rounded
			t.Fatalf("%+v leaves %v of %d instances, and %v of as many that are counted", c, a.Cost, len(each), b.Cost)
		}
		for i := range min(len(a.Unused), len(b.Unused)) {
			x, y := a.Unused[i], b.Unused[i]
			rest := int64(x.Commitment - y.Commitment)
			if x.ID != y.ID || x.Instances != y.Instances || max(rest, -rest) > 50 {
				t.Fatalf("of %+v %+v is unused, or %+v where they are counted", c, a.Unused, b.Unused)
			}
		}
	}
}

// A commitment may pay for an instance of its zone, type or family, or of a type that it has a rate for.
func TestMayPay(t *testing.T) {
	c := Commitments{
		Reserved: []ReservedInstances{
			{ID: "flexible", InstanceType: "m5.large", Count: 1, Flexible: true},
			{ID: "type", InstanceType: "g5.xlarge", Count: 1},
			{ID: "zone", InstanceType: "r5.large", Zone: "a", Count: 1},
		},
		Plans: []SavingsPlan{
			{ID: "family", Family: "c5", Commitment: 1, Discount: 0.2},
			{ID: "rates", Commitment: 1, Rates: map[string]quantity.MicroUSDPerHour{"t3.nano": 1}},
		},
	}
	for of, want := range map[Usage]bool{
		{InstanceType: "m5.xlarge", Zone: "b"}: true, {InstanceType: "m5.metal", Zone: "b"}: false,
		{InstanceType: "g5.xlarge", Zone: "b"}: true, {InstanceType: "g5.2xlarge", Zone: "b"}: false,
		{InstanceType: "r5.large", Zone: "a"}: true, {InstanceType: "r5.large", Zone: "b"}: false,
		{InstanceType: "c5.large", Zone: "b"}: true, {InstanceType: "t3.nano", Zone: "b"}: true,
		{InstanceType: "t3.micro", Zone: "b"}: false,
	} {
		if got := c.MayPay(&of); got != want {
			t.Errorf("for %s in zone %s they may pay: %v, want %v", of.InstanceType, of.Zone, got, want)
		}
	}
}
