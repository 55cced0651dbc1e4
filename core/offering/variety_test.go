package offering

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// labelled adds a label to a kind.
func labelled(k cluster.InstanceType, key, value string) cluster.InstanceType {
	k.Labels = k.Labels.Merge(constraint.NewLabels(map[string]string{key: value}))
	return k
}

// manyTypes are n types of one family, each more expensive than the one before, offered
// in zone a; what follows them is more expensive still.
func manyTypes(n int, family string) []cluster.InstanceType {
	var kinds []cluster.InstanceType
	for i := range n {
		k := kind(fmt.Sprintf("%s.%03d", family, i), 2000, fmt.Sprintf("a on-demand %d", 100+i))
		kinds = append(kinds, labelled(labelled(k, labelFamily, family), labelCPU, fmt.Sprint(i)))
	}
	return kinds
}

// valuesOf counts the different values of a key among what is named.
func valuesOf(key string, list []Named) int {
	seen := map[string]bool{}
	for _, n := range list {
		if value, ok := n.label(key); ok {
			seen[value] = true
		}
	}
	return len(seen)
}

func typesOf(list []Named) []string {
	types := map[string]bool{}
	for _, n := range list {
		types[n.Type.Name] = true
	}
	return slices.Sorted(maps.Keys(types))
}

func TestTheCutToOneRequestKeepsMinValues(t *testing.T) {
	family := func(name, offering string, more ...string) cluster.InstanceType {
		k := kind(name+".large", 2000, append([]string{offering}, more...)...)
		return labelled(labelled(k, labelFamily, name), labelCPU, "2")
	}
	expensive := slices.Concat(manyTypes(70, "m5"), []cluster.InstanceType{family("x1", "a on-demand 900"), family("x2", "a on-demand 901"), family("x3", "a on-demand 902")})
	tests := map[string]struct {
		kinds []cluster.InstanceType
		want  []constraint.Requirement
		keeps map[string]int // values by key in what is named
		types int            // named
		has   []string       // types that must be named
		not   []string
	}{
		"the sixty cheapest will do where nothing is asked": {expensive, nil, map[string]int{labelFamily: 1}, 60, []string{"m5.059"}, []string{"m5.060", "x1.large"}},
		"expensive families make the most expensive of the cheap ones go": {expensive, []constraint.Requirement{several(labelFamily, 3)},
			map[string]int{labelFamily: 3}, 60, []string{"m5.057", "x1.large", "x2.large"}, []string{"m5.058", "x3.large"}},
		"SC-412 several keys are kept at once": {expensive, []constraint.Requirement{several(labelFamily, 4), several(labelCPU, 50)},
			map[string]int{labelFamily: 4, labelCPU: 57}, 60, []string{"x3.large"}, nil},
		"a zone that only an expensive type is sold in": {append(manyTypes(70, "m5"), kind("z.large", 2000, "b on-demand 950")), []constraint.Requirement{several(cluster.LabelZone, 2)},
			map[string]int{cluster.LabelZone: 2}, 60, []string{"z.large"}, nil},
		"a second option is counted by the types that have it": {append(manyTypes(70, "m5"), kind("o.large", 2000, "a on-demand 950", "a spot 900")),
			[]constraint.Requirement{several(cluster.LabelCapacityType, 2)}, map[string]int{cluster.LabelCapacityType: 1}, 1, []string{"o.large"}, nil},
		"families that are on demand alone do not keep spot from being bought": {[]cluster.InstanceType{family("m5", "a spot 30"), family("m6", "a on-demand 90")},
			[]constraint.Requirement{several(labelFamily, 2)}, map[string]int{labelFamily: 1}, 1, []string{"m5.large"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			chosen := named(tt.want, quantity.Resources{CPU: 1000}, tt.kinds)
			types := typesOf(chosen)
			if len(types) != tt.types {
				t.Errorf("%d types named, want %d", len(types), tt.types)
			}
			for key, n := range tt.keeps {
				if got := valuesOf(key, chosen); got != n {
					t.Errorf("%d values of %s, want %d", got, key, n)
				}
			}
			for _, must := range tt.has {
				if !slices.Contains(types, must) {
					t.Errorf("%s is not among %v", must, types)
				}
			}
			for _, must := range tt.not {
				if slices.Contains(types, must) {
					t.Errorf("%s is among %v", must, types)
				}
			}
			if !slices.IsSortedFunc(chosen, func(a, b Named) int { return int(a.Offering.Price - b.Offering.Price) }) {
				t.Error("offers are not named cheapest first")
			}
		})
	}
}

// TestFewTypesKeepManyCounts: the cheapest bringers of either key alone would
// be too many for one request.
func TestFewTypesKeepManyCounts(t *testing.T) {
	var kinds []cluster.InstanceType
	both := func(i int, family, cpu string, price int) {
		k := kind(fmt.Sprintf("t%03d", i), 2000, fmt.Sprintf("a on-demand %d", price))
		kinds = append(kinds, labelled(labelled(k, labelFamily, family), labelCPU, cpu))
	}
	for i := range 50 {
		both(i, "common", fmt.Sprint(i), 100+i)
		both(100+i, fmt.Sprint("f", i), "2", 200+i)
		both(200+i, fmt.Sprint("f", i), fmt.Sprint(i), 300+i)
	}
	asked := []constraint.Requirement{several(labelFamily, 45), several(labelCPU, 45)}
	chosen := named(asked, quantity.Resources{CPU: 1000}, kinds)
	families, cpus, types := valuesOf(labelFamily, chosen), valuesOf(labelCPU, chosen), len(typesOf(chosen))
	if families < 45 || cpus < 45 || types != 60 {
		t.Errorf("%d families, %d counts of CPUs, %d types; want 45 and 45 of 60 types", families, cpus, types)
	}
}

// TestOneRequestNamesThreeHundredOffers: EC2 takes no more, and the most expensive
// zone of a type gives way before a type does that minValues needs.
func TestOneRequestNamesThreeHundredOfferings(t *testing.T) {
	var kinds []cluster.InstanceType
	for i := range 60 {
		var offerings []string
		for _, zone := range "abcdef" {
			offerings = append(offerings, fmt.Sprintf("%c on-demand %d", zone, 100+i))
		}
		kinds = append(kinds, kind(fmt.Sprintf("t%02d", i), 2000, offerings...))
	}
	chosen := named([]constraint.Requirement{several(cluster.LabelInstanceType, 50)}, quantity.Resources{CPU: 1000}, kinds)
	if types := len(typesOf(chosen)); len(chosen) != 300 || types < 50 {
		t.Errorf("%d offers of %d types, want 300 of at least 50", len(chosen), types)
	}
}
