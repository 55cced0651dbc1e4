package shadow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// replacing is a cluster of one node, which may be replaced by so many spot offerings, at $0.03 and little more.
func replacing(t *testing.T, offerings int) *cluster.Snapshot {
	t.Helper()
	var b strings.Builder
	for i := range offerings - 1 {
		fmt.Fprintf(&b, "kind d%d.small cpu=2 memory=4Gi pods=20\n  offer a spot %.3f\n", i, .031+.001*float64(i))
	}
	s, err := scenario.Parse(offered + b.String() + pool("default") + ofPool("a", 1, ""))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A spot instance that replaces another node is likely to cost more than the lowest price, as one that is launched for
// pods that wait is; not where only one offering will do, and not on demand.
func TestASpotInstanceThatReplacesOthersCostsWhatIsLikely(t *testing.T) {
	anyOf := func(options ...string) constraint.Requirements {
		return constraint.Requirements{{Key: cluster.LabelCapacityType, Set: constraint.Values(options...)},
			{Key: "team", Set: constraint.Values("web")}}
	}
	spot := plan.Choice{Kind: "c.small", Zone: "a", Option: cluster.Spot, Price: 30_000}
	onDemand := plan.Choice{Kind: "c.small", Zone: "a", Option: cluster.OnDemand, Price: 80_000}
	tests := map[string]struct {
		offerings    int
		choice       plan.Choice
		requirements constraint.Requirements
		more         bool
	}{
		"one of several":   {4, spot, anyOf("spot", "on-demand"), true},
		"the only one":     {1, spot, anyOf("spot", "on-demand"), false},
		"an on-demand one": {4, onDemand, anyOf("on-demand"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := watching()
			s := replacing(t, tt.offerings)
			seen := w.Project(s)
			l := plan.Launch{Name: "instead-1", Pool: s.Pools[0].ID, Choice: tt.choice, Requirements: tt.requirements}
			w.Move(t.Context(), seen, plan.Plan{Moves: []plan.Move{{Launches: []plan.Launch{l},
				Removals: []plan.Removal{{Node: "a", Reason: plan.Underutilized}}}}}, nil)
			_, here := w.levels(s)
			both := tt.choice.Price + 80_000
			if more := here.Cost - both; (more > 0) != tt.more || more > quantity.MicroUSDPerHour(tt.offerings)*1_000 {
				t.Errorf("both nodes cost $%v an hour, $%v more than their prices; want more: %t", here.Cost, more, tt.more)
			}
		})
	}
}
