package bench_test

import (
	"math"
	"testing"

	"github.com/daemok/daemok/bench"
)

func TestNoPlanIsCheaperThanWhatTheRulesAllow(t *testing.T) {
	tests := map[string]bench.Options{
		"pods of all kinds":              {Mix: "diverse", Pods: 400, Runs: 1},
		"pods of all kinds, spot too":    {Mix: "diverse", Pods: 400, Capacity: "any", Runs: 1},
		"pods that refuse each other":    {Mix: "antiaffinity", Pods: 50, Runs: 1},
		"deployments with rules":         {Generate: "deployspread", Pods: 600, Runs: 1},
		"nodes that have room already":   {Mix: "existing", Pods: 900, Nodes: 20, Pools: 3, Runs: 1},
		"nodes, and daemon pods on them": {Mix: "existing", Pods: 900, Nodes: 20, Pools: 3, Daemons: "200m,300Mi,2", Runs: 1},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			known := 0
			for o.Seed = range 8 {
				r, err := bench.Place(o)
				if err != nil {
					t.Fatalf("seed %d: %v", o.Seed, err)
				}
				if r.BoundConstrainedPerHour == nil {
					continue // few deployments were drawn, none of them with rules
				}
				known++
				if r.Unplaced == 0 && (r.BoundWholePerHour < r.LowerBoundPerHour || r.BoundWholePerHour > r.CostPerHour+1e-6) {
					t.Errorf("seed %d: %+v; want cost >= bound with whole pods >= bound without", o.Seed, r)
				}
				if r.Unplaced > 0 || *r.BoundConstrainedPerHour < r.LowerBoundPerHour || *r.BoundConstrainedPerHour > r.CostPerHour+1e-6 {
					t.Errorf("seed %d: %+v; want cost >= bound with rules >= bound without", o.Seed, r)
				}
			}
			if known < 6 {
				t.Errorf("only %d of 8 seeds have a bound that knows the rules", known)
			}
		})
	}
}

// TestBoundOfPodsThatRefuseEachOther is exact: each pod needs an instance of its own, and
// all are equal.
func TestBoundOfPodsThatRefuseEachOther(t *testing.T) {
	r, err := bench.Place(bench.Options{Mix: "antiaffinity", Pods: 40, Seed: 42, Runs: 1})
	if err != nil || r.GapConstrained == nil || math.Abs(*r.GapConstrained) > 1e-9 || *r.Gap < 0.1 {
		t.Errorf("got %+v, %v; want no gap with rules and a wide one without", r, err)
	}
}

// TestBoundOfPodsThatAreSpread is of 30 equal pods, ten of which must be in
// each of three zones, of which one is offered at ten times the price.
func TestBoundOfPodsThatAreSpread(t *testing.T) {
	catalog := write(t, "catalog.json", `[{"name":"m","arch":"amd64","cpuMilli":10100,"memMi":10250,"pods":10,"offerings":[
		{"zone":"a","capacityType":"on-demand","price":1},{"zone":"b","capacityType":"on-demand","price":1},{"zone":"c","capacityType":"on-demand","price":10}]}]`)
	text := "["
	for i := range 30 {
		if i > 0 {
			text += ","
		}
		text += `{"cpuMilli":1000,"memMi":1024,"app":"web","zoneSpread":true}`
	}
	r, err := bench.Place(bench.Options{Catalog: catalog, Workload: write(t, "pods.json", text+"]")})
	if err != nil || r.BoundConstrainedPerHour == nil || math.Abs(*r.BoundConstrainedPerHour-12) > 1e-6 || r.CostPerHour != 12 || math.Abs(r.LowerBoundPerHour-3) > 1e-6 {
		t.Errorf("got %+v, %v; want 12 with the rule, 3 without", r, err)
	}
}
