package day

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The bill is for what lies within the day: an instance that was launched before is paid from its beginning, and one that outlives it until
// its end.
func TestTheBillOfTheLab(t *testing.T) {
	began := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	r := newRecord()
	r.lives = map[string]*life{
		"before": {from: at(-10), seen: at(15), price: 1},
		"within": {from: at(10), seen: at(40), price: 2},
		"after":  {from: at(45), seen: at(90), price: 4},
	}
	r.pods = map[types.UID]*track{
		"a": {from: at(0), bound: at(1), node: "node-1"},
		"b": {from: at(0), bound: at(2), node: "node-2"},
		"c": {from: at(59)},
	}
	r.nodes, r.meant = map[string]string{"claim-1": "node-1", "claim-2": "node-2"}, map[string]string{"a": "claim-1", "b": "claim-1", "c": "claim-2"}
	var got Result
	r.sum(&got, began, time.Hour)
	if want := 0.25 + 1 + 1; math.Abs(got.Lab.Dollars-want) > 1e-9 || math.Abs(got.Lab.NodesMean-1) > 1e-9 || got.Lab.Launched != 3 {
		t.Errorf("got %+v, want $%g for 1 node at a time and 3 launches", got.Lab, want)
	}
	if got.LandedAsPlanned != 0.5 || got.Lab.PendingP50Seconds != 60 || got.Lab.PendingP99Seconds != 60 {
		t.Errorf("got %+v, want half landed as planned, and a minute of waiting", got)
	}
}
