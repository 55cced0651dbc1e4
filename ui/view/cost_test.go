package view_test

import (
	"math"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/ui/view"
)

const reserving = `snapshot 7 2026-11-21T04:00:00Z
catalogue c1 1
kind m5.large cpu=2 memory=8Gi pods=29
  offer us-west-2a on-demand 0.096
  offer us-west-2a reserved 0.00001
pool NodePool/default catalogue=c1
`

// Screens, reports and plans have one cost of a cluster: that which AWS bills for nodes in capacity reservations too.
// No lower bound is above it.
func TestAllScreensHaveOneCost(t *testing.T) {
	s, err := scenario.Parse(reserving)
	if err != nil {
		t.Fatal(err)
	}
	id := s.Pools[0].ID
	labels := func(option string) constraint.Labels {
		return constraint.NewLabels(map[string]string{cluster.LabelInstanceType: "m5.large",
			cluster.LabelZone: "us-west-2a", cluster.LabelCapacityType: option})
	}
	s.Nodes = []cluster.Node{
		{Name: "a", Claim: "a", Pool: id, Price: 10, Ready: true, Initialized: true, Labels: labels("reserved")},
		{Name: "b", Claim: "b", Pool: id, Price: 96_000, Ready: true, Initialized: true, Labels: labels("on-demand")}}
	s.Instances = []cluster.Instance{{Claim: "c", Pool: id, Launched: true, Labels: labels("reserved")}}
	totals := view.Of(view.Input{Snapshot: s, Offers: true, Bound: floor.Cluster(s)}).Totals
	report := cost.Allocate(cost.Input{Snapshot: s}).Total.Dollars()
	if math.Abs(totals.Cost.PerHour-0.288) > 1e-9 || math.Abs(report-0.288) > 1e-9 {
		t.Errorf("three instances of $0.096 cost $%g on screens and $%g in reports", totals.Cost.PerHour, report)
	}
	if totals.PoolCost != totals.Cost || totals.Bound > totals.Cost.PerHour {
		t.Errorf("%+v: want all of the cost of pools, and a bound of no more", totals)
	}
}
