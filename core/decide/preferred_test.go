package decide

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

func TestWhichAnswerIsPreferred(t *testing.T) {
	waiting := []plan.Unplaced{{Shape: &cluster.Shape{}, Pods: make([]cluster.Pod, 1)}}
	instances := func(n int) []plan.Launch { return make([]plan.Launch, n) }
	tests := map[string]struct {
		packed, single place.Result
		want           bool
	}{
		"cheaper":                                     {place.Result{Cost: 90}, place.Result{Cost: 100}, true},
		"more expensive":                              {place.Result{Cost: 100}, place.Result{Cost: 90}, false},
		"cheaper with a pod left":                     {place.Result{Cost: 90, Unplaced: waiting}, place.Result{Cost: 100}, false},
		"more expensive with no pod left":             {place.Result{Cost: 100}, place.Result{Cost: 90, Unplaced: waiting}, true},
		"a little cheaper with more machines":         {place.Result{Cost: 99.5, Launches: instances(3)}, place.Result{Cost: 100, Launches: instances(2)}, false},
		"a little cheaper with fewer machines":        {place.Result{Cost: 99.5, Launches: instances(1)}, place.Result{Cost: 100, Launches: instances(2)}, true},
		"a little more expensive with fewer machines": {place.Result{Cost: 100.5, Launches: instances(1)}, place.Result{Cost: 100, Launches: instances(2)}, true},
		"a little more expensive with as many":        {place.Result{Cost: 100.5, Launches: instances(2)}, place.Result{Cost: 100, Launches: instances(2)}, false},
		"much more expensive with fewer machines":     {place.Result{Cost: 103.5, Launches: instances(1)}, place.Result{Cost: 100, Launches: instances(2)}, false},
		"cheaper as far as prices are known":          {place.Result{Cost: 10, Unpriced: 5}, place.Result{Cost: 100}, false},
		"more expensive, but all prices are known":    {place.Result{Cost: 100}, place.Result{Cost: 10, Unpriced: 5}, true},
		"less of an unknown price":                    {place.Result{Cost: 100, Unpriced: 4}, place.Result{Cost: 90, Unpriced: 5}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := preferred([]place.Result{tt.single, tt.packed}) == 1; got != tt.want {
				t.Errorf("%+v is preferred to %+v: %v, want %v", tt.packed, tt.single, got, tt.want)
			}
		})
	}
}

func TestEffortGrowsWithPodsThatMustLeave(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "going", Deleting: true}, {Name: "staying"}}}
	none := Usual(s)
	for range 100 {
		for i := range s.Nodes {
			s.Nodes[i].Pods = append(s.Nodes[i].Pods, cluster.Pod{Returns: true, Shape: &cluster.Shape{}})
		}
	}
	waiting := &cluster.Snapshot{Waiting: make([]cluster.Pod, 100)}
	if got, want := Usual(s), Usual(waiting); got != want || got == none {
		t.Errorf("effort for 100 pods that must leave is %+v, want that for 100 that wait, %+v", got, want)
	}
}
