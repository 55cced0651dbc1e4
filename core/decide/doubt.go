package decide

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
)

// surely returns the plan that is sought without doubtful offerings, whatever they cost and however
// heavy their pools are, unless one with them leaves fewer pods without a place. Else a family that
// is unavailable is asked for one size after another.
func surely(s *cluster.Snapshot, seek func(*cluster.Snapshot) choice) choice {
	sure, doubts := s.WithoutDoubt()
	best := seek(sure)
	if !doubts || len(best.result.Unplaced) == 0 {
		return best
	}
	all := seek(s)
	steps := best.result.Steps + all.result.Steps
	switch {
	case best.result.Exhausted || compareLeft(&all.result, &best.result) < 0:
		best = all
	case slices.Equal(leftBy(&all.result), leftBy(&best.result)):
		best.result.Unplaced = all.result.Unplaced // what is said of them is about all offerings
	}
	best.result.Steps = steps
	return best
}

// leftBy names the pods that a plan leaves without a place, sorted.
func leftBy(r *place.Result) []string {
	var out []string
	for i := range r.Unplaced {
		for _, p := range r.Unplaced[i].Pods {
			out = append(out, p.Namespace+"/"+p.Name)
		}
	}
	slices.Sort(out)
	return out
}
