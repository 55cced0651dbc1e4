package place_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

const twoZones = `
catalogue c1 1
kind even cpu=8 memory=32Gi pods=100
  offer a on-demand 0.40
  offer b on-demand 0.50
kind wide cpu=8 memory=64Gi pods=100
  offer a on-demand 0.52
  offer b on-demand 0.74
kind gpu cpu=8 memory=32Gi pods=100 example.com/gpu=4
  offer a on-demand 2
pool NodePool/default catalogue=c1
shape web namespace=default cpu=1 memory=6Gi
shape tied namespace=default cpu=1 memory=6Gi
  term
    require topology.kubernetes.io/zone In b
`

func proven(t *testing.T, waiting ...string) place.Result {
	t.Helper()
	s, err := scenario.Parse(twoZones + strings.Join(waiting, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return place.Place(s, place.Options{})
}

func marginsText(list []plan.Margin) string {
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", m.Resource, m.Zone, m.Price)))
	}
	return strings.Join(out, ", ")
}

func TestTheBoundKnowsWhatPodsMayBeOn(t *testing.T) {
	tests := map[string]struct {
		waiting []string
		bound   float64 // dollars an hour
		margins string
	}{
		"pods that may be anywhere": {[]string{"waiting default/web shape=web count=40"},
			// 40 cores and 240 GiB: 2.5 even and 2.5 wide ones in a.
			2.3, "cpu  $0.035000/h, memory  $0.003750/h"},
		"pods that are tied to the more expensive zone": {[]string{"waiting default/tied shape=tied count=40"},
			3.1, "cpu b $0.032500/h, memory b $0.007500/h"},
		"some of each": {[]string{"waiting default/web shape=web count=40", "waiting default/tied shape=tied count=40"},
			// Those that are not tied may use cores that memory leaves idle in b.
			5.375, "cpu  $0.032500/h, memory  $0.004062/h, memory b $0.007500/h"},
		// Memory that goes with devices is on instances that have them.
		"pods that need a device": {[]string{"shape train namespace=default cpu=1 memory=16Gi example.com/gpu=1", "waiting default/train shape=train count=40"},
			40, "memory a $0.062500/h"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := proven(t, tt.waiting...)
			if len(r.Unplaced) > 0 || math.Abs(float64(r.Bound)/1e6-tt.bound) > 1e-5 {
				t.Errorf("bound is %s, want %v; %d left", r.Bound, tt.bound, len(r.Unplaced))
			}
			if got := marginsText(r.Margins); got != tt.margins {
				t.Errorf("margins are %q, want %q", got, tt.margins)
			}
			if float64(r.Bound) > r.Cost {
				t.Errorf("the bound %v is above the cost %v", r.Bound, r.Cost)
			}
		})
	}
}

// Many classes count as few, and the bound stays below the cost.
func TestTheBoundOfManyClasses(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("kind x%d cpu=4 memory=16Gi pods=100\n  labels example.com/x=%d\n  offer a on-demand 0.%d", i, i, 10+i))
	}
	world := strings.Replace(twoZones, "pool ", strings.Join(lines, "\n")+"\npool ", 1)
	lines = nil
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("shape s%d namespace=default cpu=1 memory=4Gi\n  term\n    require example.com/x In %d\nwaiting default/s%d shape=s%d count=4", i, i, i, i))
	}
	s, err := scenario.Parse(world + strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := place.Place(s, place.Options{})
	// Each instance is full: 40 instance types from $0.10 to $0.49 cost $11.80. Without
	// classes the bound is $4.00; those that are merged may be on the cheapest of
	// theirs.
	if len(r.Unplaced) > 0 || r.Cost != 11_800_000 || float64(r.Bound) > r.Cost || r.Bound < 5_800_000 {
		t.Errorf("cost %v, bound %v, %d left", r.Cost, r.Bound, len(r.Unplaced))
	}
}

// What interruptions are likely to cost decides which instances are launched. It is no part of their price, and so no
// part of the bound either.
func TestTheBoundCountsPricesAlone(t *testing.T) {
	s, err := scenario.Parse(`
catalogue c1 1
kind risky cpu=4 memory=16Gi pods=100
  offer a spot 0.08 risk=0.15
kind safe cpu=4 memory=16Gi pods=100
  offer a spot 0.10
pool NodePool/default catalogue=c1
shape web namespace=default cpu=3 memory=2Gi
waiting default/web shape=web
`)
	if err != nil {
		t.Fatal(err)
	}
	if r := place.Place(s, place.Options{}); len(r.Unplaced) > 0 || math.Abs(float64(r.Bound)/1e6-0.06) > 1e-5 {
		t.Errorf("bound is %s with %d pods left; want $0.06, three of the four cores of the cheapest", r.Bound, len(r.Unplaced))
	}
}
