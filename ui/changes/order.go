package changes

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// rowsShown is how many rows of a table are shown before the others are counted.
const rowsShown = 10

// moved is pods that are evicted, by owner.
func (in *Input) moved() page.Block {
	b := page.Block{Heading: "Pods that move", Tone: text.Strong}
	b.Table = table("PODS>", "NAMESPACE", "OWNER~", "FROM~", "TO~")
	type key struct{ namespace, owner string }
	type step struct {
		pod      *cluster.Pod
		from, to string
	}
	var all []step
	for i := range in.Plan.Moves {
		m := &in.Plan.Moves[i]
		to := map[string]string{}
		for _, p := range m.Placements {
			to[podName(&p.Pod)] = target(p)
		}
		for j := range m.Removals {
			for k := range m.Removals[j].Pods {
				pod := &m.Removals[j].Pods[k]
				all = append(all, step{pod, m.Removals[j].Node, to[podName(pod)]})
			}
		}
	}
	groups := byCount(grouped(all, func(s step) key { return key{s.pod.Namespace, s.pod.Owner} }))
	for i, g := range groups {
		if i == rowsShown && len(groups) > rowsShown+1 {
			b.Below(text.Say(text.Faint, "  %d more owners of pods: %s", len(groups)-i, in.Medium.details(everyPod)))
			break
		}
		var from, to []string
		for _, s := range g.items {
			from, to = append(from, s.from), append(to, s.to)
		}
		owner := g.key.owner
		if owner == "" {
			owner = few(podNames([]cluster.Pod{*g.items[0].pod}), 1)
		}
		b.Table.Add(number(len(g.items)), text.Of(g.key.namespace), text.Of(owner),
			text.Of(distinct(from)), text.Of(distinct(to)))
	}
	return b
}

// target is where a pod goes: a launch of the plan has no name outside it.
func target(p plan.Placement) string {
	if p.On == plan.OnLaunch {
		return "a new node"
	}
	return p.Target
}

// distinct names the only one of several words, or the first and how many others there are.
func distinct(words []string) string {
	groups := byCount(grouped(words, func(w string) string { return w }))
	if len(groups) == 1 {
		return groups[0].key
	}
	return fmt.Sprintf("%s and %d more", groups[0].key, len(groups)-1)
}

// order is what happens one after the other.
func (in *Input) order() page.Block {
	b := page.Block{Heading: "Order", Tone: text.Strong}
	c := in.Counts()
	n := 0
	step := func(format string, args ...any) {
		n++
		b.Line(text.Say(text.Plain, "  %d. %s", n, fmt.Sprintf(format, args...)))
	}
	if c.Launched > 0 {
		step("launch %s%s", brief.Counted(c.Launched, "instance"), in.together())
	}
	if c.Replacements > 0 {
		step("launch %s, and wait until %s initialised", brief.Counted(c.Replacements, "replacement"),
			agreed(c.Replacements, "it is", "they are"))
	}
	if c.Replaced > 0 {
		step("drain and terminate the %s that %s, evicting within PodDisruptionBudgets",
			agreed(c.Replaced, "node", fmt.Sprintf("%d nodes", c.Replaced)),
			agreed(c.Replacements, "it replaces", "they replace"))
	}
	if c.Terminated > 0 {
		step("drain and terminate %s; launch nothing", brief.Counted(c.Terminated, "node"))
	}
	waves := in.waves()
	for _, w := range waves {
		step("%s", w)
	}
	for _, g := range grouped(in.Plan.Holds, func(h plan.Hold) string { return h.Node }) {
		pods := 0
		for _, h := range g.items {
			pods += len(h.Pods)
		}
		b.Line(text.Say(text.Plain, "  node %s is taken away, with %s that %s: %s",
			g.key, brief.Counted(pods, "pod"), agreed(pods, "stays", "stay"), g.items[0].Why()))
	}
	if e := in.Plan.Emptying; len(e) > 0 {
		var names []string
		for i := range e {
			names = append(names, e[i].Node)
		}
		b.Line(text.Say(text.Plain, "  without evictions: new pods and scale-downs leave %s empty",
			few(names, nodesNamed)))
	}
	if n == 1 && len(b.Lines) == 1 && len(waves) == 0 {
		return page.Block{} // a single step needs no order
	}
	return b
}

// together says which instances wait for each other.
func (in *Input) together() string {
	var out []string
	for _, g := range in.Plan.Groups() {
		how := "open to pods together"
		switch {
		case g.Turn > 0:
			how = fmt.Sprintf("take pods in turn %d, since their pods are larger", g.Turn)
		case g.Key != "":
			how = "open to pods together, to spread them over " + g.Key
		}
		out = append(out, fmt.Sprintf("%d of them %s", len(g.Instances), how))
	}
	if len(out) == 0 {
		return ""
	}
	if len(out) > reasonsNamed {
		out = append(out[:reasonsNamed], fmt.Sprintf("%d more groups likewise", len(out)-reasonsNamed))
	}
	return "; " + strings.Join(out, "; ")
}

// waves says how nodes follow that the budgets of their pool keep now: as many at once as may go, again and again.
func (in *Input) waves() (out []string) {
	pools := map[string]cluster.PoolID{}
	for i := range in.Snapshot.Nodes {
		n := &in.Snapshot.Nodes[i]
		pools[n.Name] = n.Pool
	}
	going := map[cluster.PoolID]int{}
	for _, r := range in.Plan.Removals() {
		going[r.Pool]++
	}
	type key struct {
		pool   cluster.PoolID
		reason plan.RemovalReason
	}
	var later []plan.Kept
	for _, k := range in.Plan.Kept {
		if k.By == plan.KeptByBudget {
			later = append(later, k)
		}
	}
	for _, g := range grouped(later, func(k plan.Kept) key { return key{pools[k.Node], k.Reason} }) {
		size, _ := disruption.Allowed(in.Snapshot, g.key.pool, g.key.reason)
		what := fmt.Sprintf("%s of %s, %s", brief.Counted(len(g.items), "node"), g.key.pool, g.key.reason)
		if wave := max(int(size), going[g.key.pool]); wave > 0 {
			out = append(out, fmt.Sprintf("then %s: at most %d at once, so %s more (%s)", what, wave,
				brief.Counted((len(g.items)+wave-1)/wave, "wave"), g.items[0].Why))
		} else {
			out = append(out, fmt.Sprintf("once budgets allow it, %s (%s)", what, g.items[0].Why))
		}
	}
	return out
}

// keptBy are the headings of rows of nodes that stay, those that need a person first.
var keptBy = []struct {
	by   plan.KeptBy
	text string
}{
	{plan.KeptByRule, "as users asked"},
	{plan.KeptByBudget, "budget"},
	{plan.KeptByPool, "its pool"},
	{plan.KeptByTime, "too early"},
	{plan.KeptByFinding, "no better place"},
}

// kept is nodes that have a reason to go and stay, those that are alike in one row.
func (in *Input) kept() page.Block {
	b := page.Block{Heading: "Nodes that stay, though there is a reason to disrupt them", Tone: text.Strong}
	b.Table = table("COUNT>", "REASON", "KEPT BY", "WHY~", "NODES~")
	type key struct {
		reason plan.RemovalReason
		why    string
	}
	left := 0
	for _, by := range keptBy {
		var list []plan.Kept
		for _, k := range in.Plan.Kept {
			if k.By == by.by {
				list = append(list, k)
			}
		}
		groups := byCount(grouped(list, func(k plan.Kept) key { return key{k.Reason, k.Why} }))
		if by.by == plan.KeptByFinding {
			groups = onePerReason(groups, func(k key) key {
				return key{k.reason, "their pods fit nowhere else for less"}
			})
		}
		for _, g := range groups {
			if len(b.Table.Rows) == rowsShown {
				left += len(g.items)
				continue
			}
			var names []string
			for _, k := range g.items {
				names = append(names, k.Node)
			}
			b.Table.Add(number(len(names)), text.Of(string(g.key.reason)), text.Of(by.text),
				text.Of(g.key.why), text.Of(few(names, nodesNamed)))
		}
	}
	if left > 0 {
		b.Below(text.Say(text.Faint, "  %s more: %s", brief.Counted(left, "node"), in.Medium.details(everyNode)))
	}
	return b
}

// onePerReason joins groups of more than one thing to read into one that says what they have in common.
func onePerReason[K comparable, T any](groups []group[K, T], common func(K) K) []group[K, T] {
	if len(groups) <= 1 {
		return groups
	}
	var out []group[K, T]
	for _, g := range grouped(groups, func(g group[K, T]) K { return common(g.key) }) {
		joined := group[K, T]{key: g.key}
		for _, x := range g.items {
			joined.items = append(joined.items, x.items...)
		}
		if len(g.items) == 1 {
			joined.key = g.items[0].key
		}
		out = append(out, joined)
	}
	return out
}
