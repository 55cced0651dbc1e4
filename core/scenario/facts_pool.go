package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

type (
	nodePool = cluster.Pool
	policy   = cluster.Policy
)

var poolLine = line[nodePool]{noun: "pool", means: "A NodePool.",
	facts: []fact[nodePool]{
		slashedNames("kind/name", func(p *nodePool) (_, _ *string) { return &p.ID.Kind, &p.ID.Name }, "", "pool", "such as NodePool/default"),
		field("weight", func(p *nodePool) *int { return &p.Weight }, number, "the pool with the highest weight is tried first"),
		reference(catalogues, func(p *nodePool) **cluster.Catalogue { return &p.Catalogue }, "what its class offers; left out while the class is not ready"),
		field("nodes", func(p *nodePool) *int64 { return &p.Used.Nodes }, number,
			"number of its nodes, including those being launched"),
		field("cost", func(p *nodePool) *price { return &p.Used.Cost }, money,
			"what they cost an hour, which counts against a limit on the cost"),
		field("unpriced", func(p *nodePool) *string { return &p.Used.Unpriced }, name("node"),
			"one of them whose price is not known"),
		field("on-demand", func(p *nodePool) *cluster.Minimum { return &p.OnDemand }, minimum,
			"the least number or share of its nodes that are on demand, such as 2 or 30%"),
		field("replicas", func(p *nodePool) **int64 { return &p.Replicas }, maybe, "of a static pool: the number of nodes that it keeps"),
		field("hours", func(p *nodePool) **int64 { return &p.Hours.Nodes }, maybe, "the number of nodes that its schedule says, which replicas or the limit of nodes repeat: nodes beyond it go"),
		field("hours-until", func(p *nodePool) *time.Time { return &p.Hours.Until }, moment, "when its schedule next changes"),
		flag("hours-unknown", func(p *nodePool) *bool { return &p.Hours.Unknown }, "its schedule cannot be read"),
		field("machine-cost", func(p *nodePool) *price { return &p.InstanceCost }, money, "additional cost of each instance besides its type and volumes"),
		field("boot", func(p *nodePool) *time.Duration { return &p.Boot }, length, "how long its nodes usually take to be initialized"),
		flag("uncommitted", func(p *nodePool) *bool { return &p.Uncommitted },
			"its instances are planned at their prices, whatever commitments pay for them"),
		field("not-ready", func(p *nodePool) *string { return &p.NotReady }, text, "why nothing can be launched from it"),
	},
	below: slices.Concat([]part[nodePool]{
		labelsOf(func(p *nodePool) *constraint.Labels { return &p.Labels }, noLabels[nodePool], (*redactor).value, ""),
		requirements("require", func(p *nodePool) *constraint.Requirements { return &p.Requirements }, (*redactor).value, mustBe),
		requirements("floor", func(p *nodePool) *constraint.Requirements { return &p.Floor.Size }, (*redactor).value,
			"The minimum size of instances, for all of its nodes."),
		&one[nodePool, cluster.Room]{at: func(p *nodePool) *cluster.Room { return &p.Floor.Room },
			when: func(p *nodePool) bool { return p.Floor.Room != cluster.Room{} }, line: roomLine},
		taints("taint", func(p *nodePool) *[]constraint.Taint { return &p.Taints }, "A taint."),
		taints("startup-taint", func(p *nodePool) *[]constraint.Taint { return &p.StartupTaints }, "A taint that nodes have until they are initialized."),
		&one[nodePool, cluster.Limits]{at: func(p *nodePool) *cluster.Limits { return &p.Limits },
			when: func(p *nodePool) bool { return p.Limits.Any() }, line: limitLine},
		&one[nodePool, quantity.Resources]{
			at: func(p *nodePool) *quantity.Resources { return &p.Used.Capacity }, anew: true,
			when: func(p *nodePool) bool { return !p.Used.Capacity.IsZero() },
			line: resourcesLine("usage", "The capacity of its nodes, which counts against its limits.")},
		&one[nodePool, policy]{at: func(p *nodePool) *policy { return &p.Policy },
			when: func(p *nodePool) bool { return p.Policy != policy{} }, line: policyLine},
		&list[nodePool, allowance]{at: allowances, put: allow, line: allowanceLine},
	}, repairs(func(p *nodePool) *cluster.Repair { return &p.Repair })),
}

var roomLine = line[cluster.Room]{noun: "room", means: "The memory that instances should leave to pods.", facts: []fact[cluster.Room]{
	always("memory", func(r *cluster.Room) *quantity.Bytes { return &r.Memory }, bytes, "at least"),
	field("system", func(r *cluster.Room) *int64 { return &r.System }, number, "the maximum share, in per cent, for the system and DaemonSets"),
}}

var limitLine = line[cluster.Limits]{noun: "limit", means: "The maximum capacity of its nodes.",
	facts: []fact[cluster.Limits]{
		several("resource=amount", each, func(l *cluster.Limits) *[]quantity.Extended { return &l.Amounts }, amount, "in all"),
		field("nodes", func(l *cluster.Limits) **int64 { return &l.Nodes }, maybe, "how many nodes"),
		field("cost", func(l *cluster.Limits) **price { return &l.Cost }, maybeMoney, "dollars an hour"),
	},
	ends: func(l *cluster.Limits) error {
		slices.SortFunc(l.Amounts, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
		return unique("limit", l.Amounts, func(e quantity.Extended) string { return e.Name })
	}}

var policyLine = line[policy]{noun: "policy", means: "How its nodes are disrupted.", facts: []fact[policy]{
	field("consolidate", func(o *policy) *cluster.Consolidation { return &o.Consolidate }, word, "consolidationPolicy; WhenEmptyOrUnderutilized if left out"),
	field("after", func(o *policy) *time.Duration { return &o.After }, length, "consolidateAfter"),
	field("lead", func(o *policy) *time.Duration { return &o.Lead }, length, "how much earlier an empty node stops accepting pods"),
	flag("never", func(o *policy) *bool { return &o.Never }, "consolidateAfter: Never"),
	flag("delete-first", func(o *policy) *bool { return &o.DeleteFirst }, "if limits do not allow both, drifted nodes are deleted before their replacements are launched"),
	field("renew", func(o *policy) *time.Duration { return &o.Renew }, length, "the age from which nodes are replaced within the budget for drifted ones"),
	field("budgets-change", func(o *policy) *time.Time { return &o.BudgetsChange }, moment, "when the schedule of a budget or window next opens or closes"),
	flag("payback-off", func(o *policy) *bool { return &o.Payback.Off }, "any saving is enough"),
	field("pod-cost", func(o *policy) *float64 { return &o.Payback.PodDollars }, share, "cost of moving a pod, in dollars"),
	field("least-share", func(o *policy) *float64 { return &o.Payback.LeastShare }, share, "minimum share of the price of nodes that a move must save"),
}}

// allowance is how many nodes may be going away at once, for one reason or for any.
type allowance struct {
	cluster.Allowance
	reason plan.RemovalReason
}

var allowanceLine = line[allowance]{noun: "allow", means: "How many of its nodes may be disrupted at once now.",
	facts: []fact[allowance]{
		argument("a number", func(a *allowance) *int64 { return &a.Most }, number, "of nodes"),
		field("reason", func(a *allowance) *plan.RemovalReason { return &a.reason }, oneOf(plan.Empty, plan.Drifted, plan.Underutilized), "any reason if left out"),
		field("note", func(a *allowance) *string { return &a.Note }, text, "the budget that sets this number"),
		field("closed", func(a *allowance) *string { return &a.Closed }, text, "why none may be disrupted, whatever budgets allow"),
	}}

// allowances is one for all reasons, or one for each.
func allowances(p *nodePool) *[]allowance {
	o := &p.Policy
	switch {
	case *o == (policy{}):
		return &[]allowance{}
	case o.Empty == o.Drifted && o.Empty == o.Underutilized:
		return &[]allowance{{o.Empty, ""}}
	}
	return &[]allowance{{o.Empty, plan.Empty}, {o.Drifted, plan.Drifted}, {o.Underutilized, plan.Underutilized}}
}

func allow(to *nodePool, a allowance) {
	o := &to.Policy
	all := map[plan.RemovalReason][]*cluster.Allowance{"": {&o.Empty, &o.Drifted, &o.Underutilized},
		plan.Empty: {&o.Empty}, plan.Drifted: {&o.Drifted}, plan.Underutilized: {&o.Underutilized}}
	for _, x := range all[a.reason] {
		*x = a.Allowance
	}
}

// repairs are the lines that say when nodes are replaced because they are unhealthy.
func repairs[P any](at func(*P) *cluster.Repair) []part[P] {
	return []part[P]{
		&list[P, cluster.RepairRule]{at: func(of *P) *[]cluster.RepairRule { return &at(of).Rules },
			line: line[cluster.RepairRule]{noun: "repair", means: "Nodes that have had this status of a condition for so long are replaced. Below a pool, these are its nodes; before all pools, nodes without a pool.",
				facts: []fact[cluster.RepairRule]{
					argument("a condition", func(r *cluster.RepairRule) *string { return &r.Condition }, word, "of the node"),
					argument("a status", func(r *cluster.RepairRule) *string { return &r.Status }, word, "True, False or Unknown"),
					argument("a length", func(r *cluster.RepairRule) *time.Duration { return &r.After }, length, "how long"),
				}}},
		&one[P, cluster.Repair]{at: at, when: func(of *P) bool { return at(of).Most != 0 },
			line: line[cluster.Repair]{noun: "repair-most", means: "No node is replaced while more nodes than this are unhealthy.",
				facts: []fact[cluster.Repair]{{word: "a number or share", place: first, means: "of the nodes: 5, or 20%",
					read: func(_ *parser, to *cluster.Repair, words []string) (err error) {
						var text string
						text, to.Percent = strings.CutSuffix(words[0], "%")
						if to.Most, err = number[int64]().read(text); err != nil {
							err = fmt.Errorf("%s: want a number of nodes, or a share of them: 20%%", words[0])
						}
						return err
					},
					print: func(_ *printer, of *cluster.Repair) string {
						out := number[int64]().print(of.Most)
						if of.Percent {
							out += "%"
						}
						return out
					}}}}},
	}
}
