package sim

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// costs limits what the nodes of the pool may cost an hour.
func (c *scene) costs(most quantity.MicroUSDPerHour) {
	c.pool.Limits.Cost = &most
}

// limit adds a quota for all nodes.
func (c *scene) limit(limits cluster.Limits) {
	c.kept.quotas.list = []cluster.Quota{{Name: "all", Limits: limits}}
}

func nodes(n int64) cluster.Limits { return cluster.Limits{Nodes: &n} }

// What quotas promise, and how each promise is broken.
var ofQuotas = map[string]breach{
	"a quota has more nodes than it may have": {ordering, func(c *scene) { c.limit(nodes(2)) },
		"quota: with more there is too much by CapacityQuota/all: 3 of nodes, and there may be 2"},
	"a pool costs more than it may": {ordering, func(c *scene) { c.costs(100) },
		"quota: with more there is too much by NodePool/p: $"},
	"a plan launches more than a quota allows": {planned, func(c *scene) {
		c.limit(nodes(2))
		c.plan.Moves, c.plan.Launches = nil, []plan.Launch{{Name: "p-1", Pool: c.pool.ID}}
	}, "quota: with what the plan launches there is too much by CapacityQuota/all: 3 of nodes, and there may be 2"},
}

// requested adds a request for two pods, and what a plan says of it that is right. For a booked one capacity is kept on
// the second node.
func (c *scene) requested(booked bool) (*request, *plan.Requested) {
	r := &request{ProvisioningRequest: cluster.ProvisioningRequest{Namespace: "default", Name: "r", Launches: true,
		Sets: []cluster.PodSet{{Shape: c.web.shape, Pods: 2}}}, done: []int64{0}}
	said := plan.Requested{Namespace: "default", Name: "r", Want: 2, Missing: 2,
		Reasons: []plan.Reason{{Text: "no room"}}}
	if booked {
		r.provisionedAt = c.now.Add(-time.Minute)
		said.Booked, said.Missing, said.Reasons = true, 0, nil
		for _, p := range r.Virtual() {
			said.Places = append(said.Places, plan.Placement{Pod: p, On: plan.OnNode, Target: "b"})
		}
	}
	c.kept.requests.all = []*request{r}
	c.plan.Requested = []plan.Requested{said}
	return r, &c.plan.Requested[0]
}

// What is promised to ProvisioningRequests, and how each promise is broken.
var ofRequests = map[string]breach{
	"a plan forgets a request": {planned, func(c *scene) { c.requested(false); c.plan.Requested = nil },
		"request: the plan says nothing of ProvisioningRequest default/r"},
	"capacity is kept though the booking has expired": {planned, func(c *scene) {
		r, _ := c.requested(true)
		r.over = "its booking has expired"
	}, "request: capacity is kept for ProvisioningRequest default/r: true, and it is booked until "},
	"a request gets a part of its capacity": {planned, func(c *scene) {
		_, said := c.requested(false)
		said.Missing = 1
		said.Places = []plan.Placement{{On: plan.OnNode, Target: "b", Pod: cluster.Pod{Shape: c.web.shape}}}
	}, "request: ProvisioningRequest default/r lacks capacity for 1 pods, and gets some for 1"},
	"a request is said to have what it has not": {planned, func(c *scene) {
		_, said := c.requested(false)
		said.Missing, said.Reasons = 0, nil
	}, "request: ProvisioningRequest default/r has capacity for all 2 pods, and 0 places"},
	"a request has no capacity without a reason": {planned, func(c *scene) {
		_, said := c.requested(false)
		said.Reasons = nil
	}, "request: ProvisioningRequest default/r lacks capacity for 2 pods without a reason"},
	"an instance is launched for a request that lacks others": {planned, func(c *scene) {
		c.requested(false)
		c.plan.Moves, c.plan.Launches = nil, []plan.Launch{{Name: "p-1", Pool: c.pool.ID, Virtual: ofR()}}
	}, "request: p-1 is launched for ProvisioningRequest default/r, which gets no capacity"},
	"a plan lets a node go that keeps capacity": {planned, func(c *scene) {
		_, said := c.requested(true)
		said.Places[0].Target, said.Places[1].Target = "a", "a"
	}, "request: a keeps capacity for ProvisioningRequest r and is disrupted"},
	"pods get the capacity that is kept": {planned, func(c *scene) {
		c.requested(true)
		c.b.instanceType.Allocatable.CPU = 1200
	}, "request: b is to have "},
	"a node goes that keeps capacity": {lettingGo, func(c *scene) {
		_, said := c.requested(true)
		said.Places[0].Target, c.checks.plan = "a", c.plan
	}, "request: a is disrupted and keeps capacity for ProvisioningRequest r"},
	"what was launched for a request is never given back": {stable, func(c *scene) {
		c.node("idle").launch.Virtual = ofR()
	}, "settling: idle was launched for [r], has no pods and is there in the end"},
}

// ofR is the pods of the request r.
func ofR() []plan.VirtualPods {
	return []plan.VirtualPods{{Kind: plan.KindRequest, Namespace: "default", Name: "r", Pods: 2}}
}
