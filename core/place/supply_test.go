package place_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/scenario"
)

// TestSpotOfferingsOfFewInstanceTypesAreALastResort: of a small kind and
// fifteen large ones, which leave enough open where a small one has no room,
// instances chosen together are not small ones while these save little. Where they
// save much, and where a large one is missing, price decides.
func TestSpotOfferingsOfFewInstanceTypesAreALastResort(t *testing.T) {
	for name, tt := range map[string]struct {
		large int
		price float64 // of the small kind
		small bool
	}{
		"little is saved":     {15, 0.0145, false},
		"much is saved":       {15, 0.010, true},
		"one kind is missing": {14, 0.0145, true},
	} {
		t.Run(name, func(t *testing.T) {
			kinds, packed := offeredTo(t, tt.large, tt.price)
			if !packed {
				t.Fatal("machines were not chosen together")
			}
			if !slices.Contains(kinds, "large-01") {
				t.Errorf("%v are offered", kinds)
			}
			if slices.Contains(kinds, "small") != tt.small {
				t.Errorf("the small one is offered: %v, want %v", !tt.small, tt.small)
			}
		})
	}
}

// offeredTo returns the instance types, by the costs of their offerings, that pods may have.
func offeredTo(t *testing.T, large int, price float64) (kinds []string, packed bool) {
	var b strings.Builder
	b.WriteString("shape web namespace=default cpu=1500m memory=1Gi\nwaiting default/web shape=web count=4\ncatalogue many 1\n")
	write := func(name string, cpu int, price float64) {
		fmt.Fprintf(&b, "kind %s cpu=%d memory=8Gi pods=20\n  offer a spot %.4f\n", name, cpu, price)
	}
	write("small", 2, price)
	byCost := map[float64]string{price * 1e6: "small"}
	for i := range large {
		name, price := fmt.Sprintf("large-%02d", i+1), 0.030+0.001*float64(i)
		write(name, 4, price)
		byCost[30_000+1_000*float64(i)] = name
	}
	b.WriteString("pool NodePool/default catalogue=many\n  require karpenter.sh/capacity-type In spot\n")
	s, err := scenario.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	place.Place(s, place.Options{Packer: packer(func(batch pack.Batch) []pack.Instance {
		packed = true
		for i, o := range batch.Offerings {
			if batch.Groups[0].Offerings.Has(i) {
				kinds = append(kinds, byCost[o.Cost])
			}
		}
		return nil
	})})
	return kinds, packed
}

// TestSpotInstancesAreLikelyToCostMoreThanTheFirst: the cloud chooses among the
// fifteen cheapest offerings, or all that cost little more than the first, rather
// the cheaper ones of them.
func TestSpotInstancesAreLikelyToCostMoreThanTheFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		kinds      int
		step, more float64 // dollars an hour
	}{
		"fifteen of twenty that get more expensive fast": {20, 0.010, 0.0052},
		"all that are less than a third more expensive":  {40, 0.001, 0.0035},
		"two": {2, 0.010, 0.0029},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("shape web namespace=default cpu=1500m memory=1Gi\nwaiting default/web shape=web count=1\ncatalogue many 1\n")
			for i := range tt.kinds {
				fmt.Fprintf(&b, "kind k%02d cpu=2 memory=8Gi pods=20\n  offer a spot %.3f\n", i, 0.100+tt.step*float64(i))
			}
			b.WriteString("pool NodePool/default catalogue=many\n  require karpenter.sh/capacity-type In spot\n")
			s, err := scenario.Parse(b.String())
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(place.Place(s, place.Options{}).SpotMore) / 1e6; math.Abs(got-tt.more) > 5e-5 {
				t.Errorf("$%.4f/h more, want %.4f", got, tt.more)
			}
		})
	}
}
