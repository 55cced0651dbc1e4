package cluster_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

func TestAMinimumIsACountOrAShareRoundedUp(t *testing.T) {
	for _, tt := range []struct {
		minimum  cluster.Minimum
		all, has int64
	}{
		{cluster.Minimum{}, 7, 0},
		{cluster.Minimum{Least: 2}, 7, 2},
		{cluster.Minimum{Least: 9}, 7, 7},
		{cluster.Minimum{Least: 30, Percent: true}, 10, 3},
		{cluster.Minimum{Least: 30, Percent: true}, 11, 4},
		{cluster.Minimum{Least: 1, Percent: true}, 1, 1},
		{cluster.Minimum{Least: 100, Percent: true}, 7, 7},
		{cluster.Minimum{Least: 100, Percent: true}, 0, 0},
	} {
		if got := tt.minimum.Of(tt.all); got != tt.has {
			t.Errorf("%s of %d nodes are %d, want %d", tt.minimum, tt.all, got, tt.has)
		}
	}
}

// A plan counts a minimum as one of several limits: it admits a spot instance exactly where none is short after it, and
// what is left after a launch is what is left of the nodes that there are then.
func TestASpotInstanceIsAdmittedWhereTheMinimumIsKeptAfterIt(t *testing.T) {
	var all []cluster.Minimum
	for n := range int64(12) {
		all = append(all, cluster.Minimum{Least: n + 1})
	}
	for share := range int64(100) {
		all = append(all, cluster.Minimum{Least: share + 1, Percent: true})
	}
	for _, m := range all {
		for onDemand := range int64(15) {
			for spot := range int64(15) {
				b := cluster.Balance{OnDemand: onDemand, Spot: spot}
				after := b
				after.Count(true, 1)
				if got, want := m.Taken(true) <= m.Left(b), m.Short(after) == 0; got != want {
					t.Errorf("%s of %+v: a spot instance is admitted is %t, want %t", m, b, got, want)
				}
				for _, isSpot := range []bool{true, false} {
					after := b
					after.Count(isSpot, 1)
					if got, want := m.Left(b)-m.Taken(isSpot), m.Left(after); got != want {
						t.Errorf("%s of %+v: %d are left after one more (spot: %t), want %d", m, b, got, isSpot, want)
					}
				}
			}
		}
	}
}

// A pool that has its minimum keeps it, and one that lacks it loses no on-demand node.
func TestAChangeLowersOnDemandNodes(t *testing.T) {
	three, half := cluster.Minimum{Least: 3}, cluster.Minimum{Least: 50, Percent: true}
	for _, tt := range []struct {
		least         cluster.Minimum
		before, after cluster.Balance
		lowers        bool
	}{
		{three, cluster.Balance{OnDemand: 4, Spot: 1}, cluster.Balance{OnDemand: 3, Spot: 1}, false},
		{three, cluster.Balance{OnDemand: 3, Spot: 1}, cluster.Balance{OnDemand: 2, Spot: 1}, true},
		{three, cluster.Balance{OnDemand: 3}, cluster.Balance{OnDemand: 2}, false},                  // all are on demand
		{three, cluster.Balance{OnDemand: 2, Spot: 1}, cluster.Balance{OnDemand: 1, Spot: 1}, true}, // as short as before
		{three, cluster.Balance{OnDemand: 2, Spot: 2}, cluster.Balance{OnDemand: 2, Spot: 1}, false},
		{three, cluster.Balance{OnDemand: 2, Spot: 2}, cluster.Balance{OnDemand: 2, Spot: 2}, false}, // a replacement
		{half, cluster.Balance{OnDemand: 1, Spot: 2}, cluster.Balance{Spot: 2}, true},
		{half, cluster.Balance{OnDemand: 2, Spot: 2}, cluster.Balance{OnDemand: 2, Spot: 3}, true},
	} {
		if got := tt.least.Lowers(tt.before, tt.after); got != tt.lowers {
			t.Errorf("%s: from %+v to %+v lowers it: %t, want %t", tt.least, tt.before, tt.after, got, tt.lowers)
		}
	}
}

func TestWhatMayYetBeASpotInstanceCountsAsOne(t *testing.T) {
	pool := cluster.PoolID{Kind: "NodePool", Name: "default"}
	labelled := func(option string) constraint.Labels {
		return constraint.NewLabels(map[string]string{cluster.LabelCapacityType: option})
	}
	asks := func(options ...string) constraint.Requirements {
		set := constraint.Values(options...)
		return constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType, Set: set})
	}
	s := &cluster.Snapshot{
		Nodes: []cluster.Node{
			{Name: "a", Claim: "a", Pool: pool, Labels: labelled("on-demand")},
			{Name: "b", Claim: "b", Pool: pool, Labels: labelled("reserved")},
			{Name: "c", Claim: "c", Pool: pool, Labels: labelled("spot")},
			{Name: "d", Claim: "d", Pool: pool}, // it is not known
			{Name: "e", Claim: "e", Pool: pool, Labels: labelled("on-demand"), Deleting: true},
			{Name: "f", Claim: "f", Labels: labelled("on-demand")},
		},
		Instances: []cluster.Instance{
			{Claim: "g", Pool: pool, Requirements: asks("on-demand", "spot")},
			{Claim: "h", Pool: pool, Requirements: asks("on-demand", "spot"), Labels: labelled("on-demand")},
			{Claim: "i", Pool: pool, Requirements: asks("on-demand", "reserved")},
			{Claim: "j", Pool: pool, Requirements: asks("spot"), Deleting: true},
		},
	}
	if got, want := s.Balance(pool), (cluster.Balance{OnDemand: 4, Spot: 3}); got != want {
		t.Errorf("the balance is %+v, want %+v", got, want)
	}
}
