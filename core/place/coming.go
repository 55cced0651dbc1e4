package place

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// Coming seeks room for pods that are expected, beside all that wait or must leave a
// node: on nodes and orders that are there, with nothing bought. It returns the places
// of all of them, which may be others than a plan gives to those that wait; nil where no
// pod is expected. kube-scheduler puts equal pods where it likes, so that what was
// ordered for one is often taken by another that came earlier: it would not do to keep
// for each the place that it was to have.
//
// Cost: that of Place for these pods, where any is expected.
func Coming(s *cluster.Snapshot) []plan.Placement {
	if len(s.Expected) == 0 {
		return nil
	}
	without := *s
	without.Pools = nil
	pods := slices.Clone(s.Waiting)
	for _, p := range s.Expected {
		p.Ending = false
		pods = append(pods, p)
	}
	return placeOn(&without, pods).Placements
}
