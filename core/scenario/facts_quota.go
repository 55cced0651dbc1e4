package scenario

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

type quota = cluster.Quota

var quotaLine = line[quota]{noun: "quota",
	means: "A CapacityQuota: limits of all nodes together that it selects, of whichever pool.",
	facts: []fact[quota]{
		argument("a name", func(q *quota) *string { return &q.Name }, name("quota"), "of the CapacityQuota"),
		field("nodes", func(q *quota) *int64 { return &q.Used.Nodes }, number,
			"number of the nodes that it selects, including those being launched"),
		field("cost", func(q *quota) *price { return &q.Used.Cost }, money,
			"what they cost an hour, which counts against a limit on the cost"),
		field("unpriced", func(q *quota) *string { return &q.Used.Unpriced }, name("node"),
			"one of them whose price is not known"),
		field("unreadable", func(q *quota) *string { return &q.Unreadable }, text,
			"what is wrong with it: no node is launched that it selects"),
	},
	below: []part[quota]{
		requirements("selector", func(q *quota) *constraint.Requirements { return &q.Selector }, (*redactor).value,
			"What labels of nodes must be that it selects; all nodes if left out."),
		&one[quota, cluster.Limits]{at: func(q *quota) *cluster.Limits { return &q.Limits },
			when: func(q *quota) bool { return q.Limits.Any() }, line: limitLine},
		&one[quota, quantity.Resources]{
			at: func(q *quota) *quantity.Resources { return &q.Used.Capacity }, anew: true,
			when: func(q *quota) bool { return !q.Used.Capacity.IsZero() },
			line: resourcesLine("usage", "The capacity of the nodes that it selects, which counts against its limits.")},
	}}
