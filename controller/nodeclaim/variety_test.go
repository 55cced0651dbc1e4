package nodeclaim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// labelled adds a label to a kind.
func labelled(k cluster.InstanceType, key, value string) cluster.InstanceType {
	k.Labels = k.Labels.Merge(constraint.NewLabels(map[string]string{key: value}))
	return k
}

// manyTypes are n types of one family, each more expensive than the one before, offered
// in zone a; what follows them is more expensive still.
func manyTypes(n int, family string) []cluster.InstanceType {
	var instanceTypes []cluster.InstanceType
	for i := range n {
		k := instanceType(fmt.Sprintf("%s.%03d", family, i), 2000, fmt.Sprintf("a on-demand %d", 100+i))
		instanceTypes = append(instanceTypes, labelled(labelled(k, api.LabelFamily, family), api.LabelCPU, fmt.Sprint(i)))
	}
	return instanceTypes
}

// valuesOf counts the different values of a key among chosen offers.
func valuesOf(key string, chosen []cloud.OfferingChoice, instanceTypes []cluster.InstanceType) int {
	seen := map[string]bool{}
	for _, c := range chosen {
		i := slices.IndexFunc(instanceTypes, func(k cluster.InstanceType) bool { return k.Name == c.Kind })
		j := slices.IndexFunc(instanceTypes[i].Offerings, func(o cluster.Offering) bool { return o.Zone == c.Zone && o.Option == c.Option })
		if value, ok := (priced{instanceType: &instanceTypes[i], offering: &instanceTypes[i].Offerings[j]}).label(key); ok {
			seen[value] = true
		}
	}
	return len(seen)
}

func typesOf(chosen []cloud.OfferingChoice) []string {
	types := map[string]bool{}
	for _, c := range chosen {
		types[c.Kind] = true
	}
	return slices.Sorted(maps.Keys(types))
}

func TestTheCutToOneRequestKeepsMinValues(t *testing.T) {
	family := func(name, offering string, more ...string) cluster.InstanceType {
		k := instanceType(name+".large", 2000, append([]string{offering}, more...)...)
		return labelled(labelled(k, api.LabelFamily, name), api.LabelCPU, "2")
	}
	expensive := slices.Concat(manyTypes(70, "m5"), []cluster.InstanceType{family("x1", "a on-demand 900"), family("x2", "a on-demand 901"), family("x3", "a on-demand 902")})
	tests := map[string]struct {
		instanceTypes []cluster.InstanceType
		want          []constraint.Requirement
		keeps         map[string]int // values by key in what is named
		types         int            // named
		has           []string       // types that must be named
		not           []string
	}{
		"the sixty cheapest will do where nothing is asked": {expensive, nil, map[string]int{api.LabelFamily: 1}, 60, []string{"m5.059"}, []string{"m5.060", "x1.large"}},
		"expensive families make the most expensive of the cheap ones go": {expensive, []constraint.Requirement{several(api.LabelFamily, 3)},
			map[string]int{api.LabelFamily: 3}, 60, []string{"m5.057", "x1.large", "x2.large"}, []string{"m5.058", "x3.large"}},
		"SC-412 several keys are kept at once": {expensive, []constraint.Requirement{several(api.LabelFamily, 4), several(api.LabelCPU, 50)},
			map[string]int{api.LabelFamily: 4, api.LabelCPU: 57}, 60, []string{"x3.large"}, nil},
		"a zone that only an expensive type is sold in": {append(manyTypes(70, "m5"), instanceType("z.large", 2000, "b on-demand 950")), []constraint.Requirement{several(api.LabelZone, 2)},
			map[string]int{api.LabelZone: 2}, 60, []string{"z.large"}, nil},
		"a second option is counted by the types that have it": {append(manyTypes(70, "m5"), instanceType("o.large", 2000, "a on-demand 950", "a spot 900")),
			[]constraint.Requirement{several(api.LabelCapacityType, 2)}, map[string]int{api.LabelCapacityType: 1}, 1, []string{"o.large"}, nil},
		"families that are on demand alone do not keep spot from being bought": {[]cluster.InstanceType{family("m5", "a spot 30"), family("m6", "a on-demand 90")},
			[]constraint.Requirement{several(api.LabelFamily, 2)}, map[string]int{api.LabelFamily: 1}, 1, []string{"m5.large"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			chosen := offered(tt.want, quantity.Resources{CPU: 1000}, tt.instanceTypes)
			types := typesOf(chosen)
			if len(types) != tt.types {
				t.Errorf("%d types named, want %d", len(types), tt.types)
			}
			for key, n := range tt.keeps {
				if got := valuesOf(key, chosen, tt.instanceTypes); got != n {
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
			if !slices.IsSortedFunc(chosen, func(a, b cloud.OfferingChoice) int { return int(1e6 * (a.Priority - b.Priority)) }) {
				t.Error("offers are not named cheapest first")
			}
		})
	}
}

// TestFewTypesKeepManyCounts: the cheapest bringers of either key alone would
// be too many for one request.
func TestFewTypesKeepManyCounts(t *testing.T) {
	var instanceTypes []cluster.InstanceType
	both := func(i int, family, cpu string, price int) {
		k := instanceType(fmt.Sprintf("t%03d", i), 2000, fmt.Sprintf("a on-demand %d", price))
		instanceTypes = append(instanceTypes, labelled(labelled(k, api.LabelFamily, family), api.LabelCPU, cpu))
	}
	for i := range 50 {
		both(i, "common", fmt.Sprint(i), 100+i)
		both(100+i, fmt.Sprint("f", i), "2", 200+i)
		both(200+i, fmt.Sprint("f", i), fmt.Sprint(i), 300+i)
	}
	asked := []constraint.Requirement{several(api.LabelFamily, 45), several(api.LabelCPU, 45)}
	chosen := offered(asked, quantity.Resources{CPU: 1000}, instanceTypes)
	families, cpus, types := valuesOf(api.LabelFamily, chosen, instanceTypes), valuesOf(api.LabelCPU, chosen, instanceTypes), len(typesOf(chosen))
	if families < 45 || cpus < 45 || types != 60 {
		t.Errorf("%d families, %d counts of CPUs, %d types; want 45 and 45 of 60 types", families, cpus, types)
	}
}

// TestOneRequestNamesThreeHundredOfferings: EC2 takes no more, and the most expensive
// zone of a type gives way before a type does that minValues needs.
func TestOneRequestNamesThreeHundredOfferings(t *testing.T) {
	var instanceTypes []cluster.InstanceType
	for i := range 60 {
		var offerings []string
		for _, zone := range "abcdef" {
			offerings = append(offerings, fmt.Sprintf("%c on-demand %d", zone, 100+i))
		}
		instanceTypes = append(instanceTypes, instanceType(fmt.Sprintf("t%02d", i), 2000, offerings...))
	}
	chosen := offered([]constraint.Requirement{several(api.LabelInstanceType, 50)}, quantity.Resources{CPU: 1000}, instanceTypes)
	if types := len(typesOf(chosen)); len(chosen) != 300 || types < 50 {
		t.Errorf("%d offers of %d types, want 300 of at least 50", len(chosen), types)
	}
}

// TestMinValuesThatCannotBeKeptAnyMore: the plan kept them, and since then a
// type was unavailable.
func TestMinValuesThatCannotBeKeptAnyMore(t *testing.T) {
	tests := map[string]struct {
		least    int
		relaxed  string
		launched bool
	}{
		"what is kept is bought":                                 {2, "", true},
		"what is not makes room for a new plan":                  {3, "", false},
		"so does a claim that says it was not relaxed":           {3, "false", false},
		"SC-120 a claim that was relaxed is bought all the same": {3, "true", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{api.AnnotationMinValuesRelaxed: tt.relaxed}}}
			c.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelInstanceType, Operator: "Exists", MinValues: &tt.least}}
			r, err := (&Requests{Classes: oneClass{}, Catalog: oneClass{}}).For(t.Context(), c)
			if short, ok := errors.AsType[*cloud.NoCapacityError](err); ok == tt.launched || tt.launched && len(r.Options) != 2 || r.Relaxed != (tt.launched && tt.relaxed == "true") {
				t.Errorf("For = %d offers, relaxed %v, %v; bought must be %v", len(r.Options), r.Relaxed, short, tt.launched)
			}
		})
	}
}
