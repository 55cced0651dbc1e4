package sim

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
)

// onSpot makes the second node a spot instance, so that the first is the only one on demand.
func (c *scene) onSpot() { c.b.offering = c.b.instanceType.Offerings[1] }

// reserve has Reserved Instances for so many of the nodes.
func (c *scene) reserve(count int64) {
	c.cloud.commitments.Reserved = []commitment.ReservedInstances{
		{ID: "web", InstanceType: c.a.instanceType.Name, Count: count}}
}

// launches has the plan do nothing but launch an instance for the pod that waits.
func (c *scene) launches(option cluster.Option) {
	c.plan.Moves, c.plan.Unplaced = nil, nil
	c.plan.Launches = []plan.Launch{{Name: "p-1", Pool: c.pool.ID, Pods: c.photo().Waiting,
		Requirements: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType,
			Set: constraint.Values(string(option))}),
		Choice: plan.Choice{Kind: "m.large", Zone: "a", Option: option, Price: 100, Priced: true}}}
}

// What is promised of minimums of on-demand nodes and of commitments, and how each promise is broken.
var ofOnDemand = map[string]breach{
	"a plan launches a spot instance where on-demand nodes are missing": {planned, func(c *scene) {
		c.launches(cluster.Spot)
		c.pool.OnDemand = cluster.Minimum{Least: 3}
	}, "minimum: p-1 may become a spot instance, 2 of 3 nodes of NodePool/p are on demand, and its minimum is 3"},
	"a plan removes an on-demand node that the minimum asks for": {planned, func(c *scene) {
		c.onSpot()
		c.pool.OnDemand = cluster.Minimum{Least: 50, Percent: true}
	}, "minimum: 0 of 1 nodes of NodePool/p are to be on demand instead of 1 of 2, and its minimum is 50%"},
	"an on-demand node goes that the minimum asks for by now": {lettingGo, func(c *scene) {
		c.onSpot()
		c.pool.OnDemand = cluster.Minimum{Least: 1}
	}, "minimum: after the move of a (Underutilized, 0 replacements) 0 of 1 nodes of NodePool/p are left on demand"},
	"a plan moves pods to spot that are to be on demand": {planned, func(c *scene) {
		c.onSpot()
		c.web.shape.OnDemand = cluster.Minimum{Least: 2}
		m := &c.plan.Moves[0]
		m.Removals[0].Pods = []cluster.Pod{c.onA.Pod}
		m.Placements = []plan.Placement{{Pod: c.onA.Pod, On: plan.OnNode, Target: "b"}}
	}, "minimum: 0 of 3 pods of default/ReplicaSet/web are to be on demand instead of 1, and its minimum is 2"},
	"a plan consolidates a node that costs nothing more": {planned, func(c *scene) { c.reserve(2) },
		"commitment: a is consolidated, and beside commitments $0.000000/h is paid instead of $0.000000/h"},
	"a plan pays for an instance while Reserved Instances are unused": {planned, func(c *scene) {
		c.launches(cluster.OnDemand)
		c.reserve(3)
	}, "commitment: p-1 is m.large, on-demand, and web would pay for c.large"},
}
