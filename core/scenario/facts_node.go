package scenario

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

type (
	node     = cluster.Node
	instance = cluster.Instance
)

var nodeLine = line[node]{noun: "node", means: "A node.",
	facts: []fact[node]{
		argument("a name", func(n *node) *string { return &n.Name }, name("node"), "of the node"),
		field("claim", func(n *node) *string { return &n.Claim }, name("claim"), "its NodeClaim"),
		field("pool", func(n *node) *cluster.PoolID { return &n.Pool }, poolID, "its NodePool"),
		field("machine", func(n *node) *string { return &n.InstanceID }, name("machine"), "the ID of its instance"),
		field("price", func(n *node) *price { return &n.Price }, money, "of its instance"),
		field("created", func(n *node) *time.Time { return &n.CreatedAt }, moment, "when its instance was launched"),
		field("quiet-since", func(n *node) *time.Time { return &n.QuietSince }, moment, "when its consolidateAfter began: when a pod was last added or removed, or when the node was initialized"),
		field("changed", func(n *node) *time.Time { return &n.ChangedAt }, moment, "when it began to accept pods or, after that, when a pod was last added or removed"),
		flag("ready", func(n *node) *bool { return &n.Ready }, "its condition Ready is True"),
		flag("initialized", func(n *node) *bool { return &n.Initialized }, "it is initialized"),
		flag("deleting", func(n *node) *bool { return &n.Deleting }, "it is being deleted, drained or disrupted"),
		flag("unneeded", func(n *node) *bool { return &n.Unneeded },
			"what it was launched for did not come about, so that it is removed when it is empty; plans find that out"),
		flag("closed", func(n *node) *bool { return &n.Closed },
			"it is to go with a move that is under way, and may yet stay"),
		flag("machine-ends", func(n *node) *bool { return &n.InstanceEnds }, "it is drained, and its instance is being terminated"),
		field("ends", func(n *node) *time.Time { return &n.EndsAt }, moment, "when AWS terminates its instance"),
		flag("do-not-disrupt", func(n *node) *bool { return &n.DoNotDisrupt }, "its annotation karpenter.sh/do-not-disrupt"),
		flag("do-not-consolidate", func(n *node) *bool { return &n.DoNotConsolidate }, "the same for consolidation alone"),
		field("rests", func(n *node) *string { return &n.Rests }, word, "why it is not disrupted for a short time"),
		field("controller", func(n *node) *cluster.Replica { return &n.Controller }, oneOf(cluster.OnlyReplica, cluster.OneReplica), "a replica of the controller runs on it"),
		flag("grace", func(n *node) *bool { return &n.HasGrace }, "it has a terminationGracePeriod"),
		field("expires", func(n *node) *time.Time { return &n.ExpiresAt }, moment, "when it expires"),
		field("drifted", func(n *node) *string { return &n.Drifted }, word, "how it differs from its NodePool and class, such as AMIDrift"),
		field("drifted-at", func(n *node) *time.Time { return &n.DriftedAt }, moment, "since when"),
	},
	below: slices.Concat([]part[node]{
		&list[node, cluster.Ailment]{at: func(n *node) *[]cluster.Ailment { return &n.Ailments }, line: ailmentLine},
		labelsOf(func(n *node) *constraint.Labels { return &n.Labels }, noLabels[node], (*redactor).value, ""),
		taints("taint", func(n *node) *[]constraint.Taint { return &n.Taints }, ""),
		taints("startup-taint", func(n *node) *[]constraint.Taint { return &n.StartupTaints }, ""),
	}, sizes(func(n *node) *quantity.Resources { return &n.Allocatable }, func(n *node) *quantity.Resources { return &n.Capacity }), []part[node]{
		attachable(func(n *node) *[]cluster.Attachable { return &n.Attachable }),
		&list[node, pod]{at: func(n *node) *[]pod { return &n.Pods }, line: podLine("pod", "A pod that is bound to the node.")},
		launched(func(n *node) *[]pod { return &n.LaunchedFor }),
	}),
}

var ailmentLine = line[cluster.Ailment]{noun: "ailing", means: "A condition that makes the node unhealthy.", facts: []fact[cluster.Ailment]{
	argument("a condition", func(a *cluster.Ailment) *string { return &a.Condition }, word, "of the node"),
	argument("a status", func(a *cluster.Ailment) *string { return &a.Status }, word, "True, False or Unknown"),
	argument("a time", func(a *cluster.Ailment) *time.Time { return &a.Since }, moment, "since when"),
}}

var instanceLine = line[instance]{noun: "machine", means: "A NodeClaim whose node has not joined yet.",
	facts: []fact[instance]{
		argument("a name", func(m *instance) *string { return &m.Claim }, name("claim"), "of the NodeClaim"),
		field("pool", func(m *instance) *cluster.PoolID { return &m.Pool }, poolID, "its NodePool"),
		field("created", func(m *instance) *time.Time { return &m.CreatedAt }, moment, "when it was created"),
		flag("launched", func(m *instance) *bool { return &m.Launched }, "its instance is launched"),
		flag("deleting", func(m *instance) *bool { return &m.Deleting }, "it is being deleted"),
		flag("planned", func(m *instance) *bool { return &m.Planned }, "a plan created it for pending pods"),
		flag("buying", func(m *instance) *bool { return &m.Launching }, "a launch for it is or was in progress"),
		flag("replacement", func(m *instance) *bool { return &m.Replacement }, "it replaces nodes, or is for pods of nodes that are being removed"),
		flag("purpose-unknown", func(m *instance) *bool { return &m.PurposeUnknown }, "it is not known for which pods a plan created it"),
		flag("types-unknown", func(m *instance) *bool { return &m.TypesUnknown }, "nor which instance types it may have: its amounts are the requested ones"),
	},
	below: slices.Concat([]part[instance]{
		labelsOf(func(m *instance) *constraint.Labels { return &m.Labels }, noLabels[instance], (*redactor).value, ""),
		requirements("require", func(m *instance) *constraint.Requirements { return &m.Requirements }, (*redactor).value, ""),
		taints("taint", func(m *instance) *[]constraint.Taint { return &m.Taints }, ""),
		taints("startup-taint", func(m *instance) *[]constraint.Taint { return &m.StartupTaints }, ""),
	}, sizes(func(m *instance) *quantity.Resources { return &m.Allocatable }, func(m *instance) *quantity.Resources { return &m.Capacity }), []part[instance]{
		attachable(func(m *instance) *[]cluster.Attachable { return &m.Attachable }),
		&list[instance, pod]{at: func(m *instance) *[]pod { return &m.Pods },
			line: podLine("pod", "A pod that is bound to the node; of an instance, one that a plan in the making has put there.")},
		launched(func(m *instance) *[]pod { return &m.LaunchedFor }),
	}),
}
