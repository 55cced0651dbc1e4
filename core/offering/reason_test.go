package offering

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

func TestWhatIsLeftOutHasAReason(t *testing.T) {
	reserved := func(id, kind string, left int64) cluster.Offering {
		return cluster.Offering{Zone: "a", Option: cluster.Reserved, Available: true, Priced: true, ReservedCapacities: []cluster.ReservedCapacity{{Name: id, Left: left}},
			Labels: constraint.NewLabels(map[string]string{cluster.LabelReservation: id, labelReservationType: kind})}
	}
	withReservations := func(offerings ...cluster.Offering) cluster.InstanceType {
		k := kind("m5.large", 2000)
		k.Offerings = offerings
		return k
	}
	var many, far []cluster.InstanceType
	for i := range 61 {
		many = append(many, kind("t"+string(rune('0'+i/10))+string(rune('0'+i%10)), 2000, "a on-demand 96"))
	}
	for i := range 16 {
		far = append(far, kind("t"+string(rune('a'+i)), 2000, "a spot "+[]string{"10", "90"}[min(i/15, 1)]))
	}
	for name, tt := range map[string]struct {
		types []cluster.InstanceType
		want  string
	}{
		"nothing where all is named":    {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 30")}, ""},
		"nothing of what is too small":  {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 30"), kind("t3.nano", 100, "a spot 1")}, ""},
		"what is unavailable":           {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 30", "!b spot 30")}, "1 unavailable"},
		"other partitions":              {[]cluster.InstanceType{partitioned("m5.large", "a")}, "2 " + string(OtherPartition)},
		"hardware that is not asked":    {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 30"), gpu(kind("g5.large", 2000, "a spot 20"))}, "1 " + string(UnaskedHardware)},
		"spot above on-demand":          {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 97", "a on-demand 96")}, "1 " + string(SpotAboveOnDemand)},
		"spot far above enough others":  {far, "1 " + string(SpotAboveNear)},
		"on-demand while there is spot": {[]cluster.InstanceType{kind("m5.large", 2000, "a spot 30", "a on-demand 96")}, "1 " + string(OtherCapacityType)},
		"reservations of another kind":  {[]cluster.InstanceType{withReservations(reserved("cr-1", "default", 1), reserved("cr-2", "capacity-block", 1))}, "1 " + string(OtherReservationKind)},
		"reservations with less left":   {[]cluster.InstanceType{withReservations(reserved("cr-1", "default", 1), reserved("cr-2", "default", 2))}, "1 " + string(OtherReservation)},
		"what is beyond one request":    {many, "1 " + string(OverLimit)},
	} {
		t.Run(name, func(t *testing.T) {
			c := Choose(tt.types, ask(nil, quantity.Resources{CPU: 1000}))
			if got := c.Summary(); got != tt.want || len(c.Named) == 0 {
				t.Errorf("left out: %q, want %q; %d named", got, tt.want, len(c.Named))
			}
		})
	}
}

func TestWhyNothingIsNamed(t *testing.T) {
	unavailable := kind("m5.large", 2000, "!a on-demand 96")
	unavailable.Offerings[0].Why = "ask for a higher quota"
	two := []cluster.InstanceType{kind("m5.large", 2000, "a on-demand 96"), kind("m5.xlarge", 4000, "a on-demand 192")}
	for name, tt := range map[string]struct {
		types   []cluster.InstanceType
		least   int
		relaxed bool
		want    string // part of the text; empty: something is named
	}{
		"nothing is offered":                 {nil, 0, false, "is offered and available now"},
		"it is unavailable, with what helps": {[]cluster.InstanceType{unavailable}, 0, false, "available now: ask for a higher quota"},
		"minValues is kept":                  {two, 2, false, ""},
		"minValues is not kept any more":     {two, 3, false, "minValues of " + cluster.LabelInstanceType + " is 3, and only 2 values can be had now"},
		"nor need be":                        {two, 3, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask([]constraint.Requirement{several(cluster.LabelInstanceType, tt.least)}, quantity.Resources{CPU: 1000})
			a.Relaxed = tt.relaxed
			c := Choose(tt.types, a)
			if !strings.Contains(c.WhyNone, tt.want) || (tt.want == "") != (len(c.Named) > 0 && c.WhyNone == "") {
				t.Errorf("%d named, why none: %q, want %q", len(c.Named), c.WhyNone, tt.want)
			}
		})
	}
}

func TestFewTypesMayTakeThePlaceOfSpot(t *testing.T) {
	types := func(n int, more ...string) (out []cluster.InstanceType) {
		for i := range n {
			out = append(out, kind("m"+string(rune('1'+i))+".large", 2000, append([]string{"a on-demand 96", "b on-demand 96"}, more...)...))
		}
		return out
	}
	spot := []constraint.Requirement{want(cluster.LabelCapacityType, constraint.In, "on-demand")}
	for name, tt := range map[string]struct {
		types []cluster.InstanceType
		asked []constraint.Requirement
		want  string
	}{
		"two types":                   {types(2), nil, "m1.large m2.large"},
		"not where there are five":    {types(5), nil, ""},
		"not where spot can be had":   {types(2, "a spot 30"), nil, ""},
		"not where spot is not asked": {types(2), spot, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(Choose(tt.types, ask(tt.asked, quantity.Resources{CPU: 1000})).Few, " "); got != tt.want {
				t.Errorf("few: %q, want %q", got, tt.want)
			}
		})
	}
}
