package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/ui/page"
	"github.com/daemok/daemok/ui/text"
)

// Labels that say what an instance is.
const (
	labelType     = "node.kubernetes.io/instance-type"
	labelZone     = "topology.kubernetes.io/zone"
	labelCapacity = "karpenter.sh/capacity-type"
)

// alike is what instances of one row share.
type alike struct {
	instanceType, zone, capacity, pool string
	price                              quantity.MicroUSDPerHour
}

func likeLaunch(l *plan.Launch) alike {
	c := l.Choice
	return alike{c.Kind, c.Zone, string(c.Option), poolName(l.Pool), c.Cost()}
}

func likeNode(n *cluster.Node) alike {
	of := func(key string) string {
		value, _ := n.Labels.Get(key)
		return value
	}
	return alike{of(labelType), of(labelZone), of(labelCapacity), poolName(n.Pool), n.Price}
}

// poolName is a NodePool by its name alone, and any other pool with its kind.
func poolName(id cluster.PoolID) string {
	if id.Kind == "NodePool" {
		return id.Name
	}
	return id.String()
}

// launched is what is launched for pods that wait.
func (in *Input) launched() page.Block {
	b := page.Block{Heading: "+ Launched for pending pods", Tone: text.Good}
	if purposes := in.launchedFor(); purposes != "" {
		b.Heading = "+ Launched for " + purposes
	}
	b.Table = table("COUNT>", "TYPE", "ZONE~", "CAPACITY", "POOL~", "PODS>", "$/H>")
	var all []*plan.Launch
	for i := range in.Plan.Launches {
		all = append(all, &in.Plan.Launches[i])
	}
	for _, g := range byCount(grouped(all, likeLaunch)) {
		pods, cost := 0, quantity.MicroUSDPerHour(0)
		for _, l := range g.items {
			pods += len(l.Pods)
			for _, v := range l.Virtual {
				pods += v.Pods
			}
			cost += l.Choice.Cost()
		}
		sum := dollars(cost)
		if !g.items[0].Choice.Priced {
			sum = "unknown"
		}
		b.Table.Add(text.Say(text.Good, "+%d", len(g.items)), text.Of(g.key.instanceType), text.Of(g.key.zone),
			text.Of(g.key.capacity), text.Of(g.key.pool), number(pods), text.Of(sum))
	}
	in.launchNotes(&b, all)
	for _, d := range in.Plan.Dropped {
		b.Below(text.Say(text.Faint, "  preferences dropped for %s: %s%s", brief.Counted(len(d.Pods), "pod"),
			strings.Join(d.Preferences, ", "), saves(d.Saves)))
	}
	return b
}

// launchedFor names what the launches are for: "pending pods and static pools"; empty: there are none.
func (in *Input) launchedFor() string {
	const pods, static, buffers, requests = "pending pods", "static pools", "CapacityBuffers", "ProvisioningRequests"
	is := map[string]bool{}
	for i := range in.Plan.Launches {
		switch l := &in.Plan.Launches[i]; {
		case l.Static:
			is[static] = true
		case l.ForVirtual():
			booked := slices.ContainsFunc(l.Virtual, plan.VirtualPods.Booked)
			is[buffers], is[requests] = is[buffers] || !booked, is[requests] || booked
		default:
			is[pods] = true
		}
	}
	var out []string
	for _, what := range []string{pods, static, buffers, requests} {
		if is[what] {
			out = append(out, what)
		}
	}
	return strings.Join(out, " and ")
}

func saves(p quantity.MicroUSDPerHour) string {
	if p <= 0 {
		return ""
	}
	return "; saves about " + hourly(p)
}

// notesOf are the notes of launches, with one item for each launch that has it; the most frequent come first.
func notesOf(all []*plan.Launch) []group[string, string] {
	var notes []string
	for _, l := range all {
		notes = append(notes, l.Notes...)
		if l.Relaxed {
			notes = append(notes, "fewer values stay open than minValues asks")
		}
	}
	return byCount(grouped(notes, func(note string) string { return note }))
}

// launchNotes says once what several launches have in common.
func (in *Input) launchNotes(b *page.Block, all []*plan.Launch) {
	groups := notesOf(all)
	for i, g := range groups {
		if i == reasonsNamed && len(groups) > reasonsNamed+1 {
			b.Below(text.Say(text.Faint, "  %d more notes: %s", len(groups)-i, in.Medium.details(everyNote)))
			break
		}
		b.Below(text.Say(text.Faint, "  %s: %s", brief.Counted(len(g.items), "instance"), g.key))
	}
	if p := &in.Plan; p.Fewer != nil && len(p.Launches) > 0 {
		b.Below(text.Say(text.Faint, "  Fewer instances: %d instead of %d would cost %s.",
			p.Fewer.Instances, len(p.Launches), hourly(p.Fewer.Cost)))
	}
}

// gone is a removal with the node that it removes, as far as the snapshot has it.
type gone struct {
	removal *plan.Removal
	node    *cluster.Node
	cost    quantity.MicroUSDPerHour // of the node, with all that is paid for it; 0: not known
}

func (in *Input) gone(m *plan.Move) (out []gone) {
	for i := range m.Removals {
		r := &m.Removals[i]
		g := gone{removal: r, node: &cluster.Node{Name: r.Node, Pool: r.Pool}}
		if at := slices.IndexFunc(in.Snapshot.Nodes, func(n cluster.Node) bool { return n.Name == r.Node }); at >= 0 {
			g.node = &in.Snapshot.Nodes[at]
		}
		if pool, has := in.Snapshot.Pool(r.Pool); has {
			g.cost = pool.CostOf(g.node)
		}
		out = append(out, g)
	}
	return out
}

func nodeNames(list []gone) []string {
	out := make([]string, len(list))
	for i, g := range list {
		out[i] = g.removal.Node
	}
	return out
}

// terminated is what goes without a replacement.
func (in *Input) terminated() page.Block {
	b := page.Block{Heading: "- Terminated", Tone: text.Bad}
	b.Table = table("COUNT>", "TYPE", "CAPACITY", "POOL~", "WHY", "PODS>", "$/H>", "NODES~")
	type key struct {
		alike
		why plan.RemovalReason
	}
	var all []gone
	for i := range in.Plan.Moves {
		if m := &in.Plan.Moves[i]; len(m.Launches) == 0 {
			all = append(all, in.gone(m)...)
		}
	}
	for _, g := range byCount(grouped(all, func(x gone) key {
		like := likeNode(x.node)
		like.zone = ""
		return key{like, x.removal.Reason}
	})) {
		pods, cost := 0, quantity.MicroUSDPerHour(0)
		for _, x := range g.items {
			pods += len(x.removal.Pods)
			cost -= x.cost
		}
		sum := costs(cost)
		if g.items[0].cost == 0 { // those that are alike have one price
			sum = text.Of("unknown")
		}
		b.Table.Add(text.Say(text.Bad, "-%d", len(g.items)), text.Of(g.key.instanceType), text.Of(g.key.capacity),
			text.Of(g.key.pool), text.Of(string(g.key.why)), number(pods), sum,
			text.Of(few(nodeNames(g.items), nodesNamed)))
	}
	return b
}

// replaced is what goes once others are there in its place.
func (in *Input) replaced() page.Block {
	b := page.Block{Heading: "~ Replaced", Tone: text.Warn}
	b.Table = table("COUNT>", "FROM~", "TO~", "POOL~", "WHY", "PODS>", "$/H>", "NODES~")
	type key struct{ from, to, pool, why string }
	type exchange struct {
		key
		nodes []string
		pods  int
		saves quantity.MicroUSDPerHour
		known bool // the prices of all its nodes and launches are
	}
	var all []exchange
	for i := range in.Plan.Moves {
		m := &in.Plan.Moves[i]
		if len(m.Launches) == 0 {
			continue
		}
		list := in.gone(m)
		x := exchange{nodes: nodeNames(list), saves: m.Saves, known: len(unpriced(m.Launches)) == 0}
		var from, to, why []string
		for _, g := range list {
			from = append(from, whatIs(likeNode(g.node)))
			why = append(why, string(g.removal.Reason))
			x.pods += len(g.removal.Pods)
			x.known = x.known && g.cost > 0
		}
		for j := range m.Launches {
			to = append(to, whatIs(likeLaunch(&m.Launches[j])))
		}
		reasons := strings.Join(slices.Compact(why), ", ")
		x.key = key{multiset(from), multiset(to), poolName(list[0].removal.Pool), reasons}
		all = append(all, x)
	}
	for _, g := range byCount(grouped(all, func(x exchange) key { return x.key })) {
		var nodes []string
		pods, cost, known := 0, quantity.MicroUSDPerHour(0), true
		for _, x := range g.items {
			nodes = append(nodes, x.nodes...)
			pods += x.pods
			cost -= x.saves
			known = known && x.known
		}
		sum := costs(cost)
		if !known {
			sum = text.Of("unknown")
		}
		b.Table.Add(text.Say(text.Warn, "~%d", len(nodes)), text.Of(g.key.from), text.Of(g.key.to), text.Of(g.key.pool),
			text.Of(g.key.why), number(pods), sum, text.Of(few(nodes, nodesNamed)))
	}
	return b
}

// whatIs is an instance in two words.
func whatIs(a alike) string {
	if a.instanceType == "" {
		return "unknown"
	}
	if a.capacity == "" || a.capacity == string(cluster.OnDemand) {
		return a.instanceType
	}
	return a.instanceType + " " + a.capacity
}

// multiset prints equal words once: "2 m5.large, m5.xlarge".
func multiset(words []string) string {
	var out []string
	for _, g := range byCount(grouped(words, func(w string) string { return w })) {
		if len(g.items) > 1 {
			out = append(out, fmt.Sprintf("%d %s", len(g.items), g.key))
		} else {
			out = append(out, g.key)
		}
	}
	return strings.Join(out, ", ")
}

// withdrawn is NodeClaims that are deleted before their launch.
func (in *Input) withdrawn() page.Block {
	b := page.Block{Heading: "- NodeClaims withdrawn before their launch", Tone: text.Bad}
	b.Table = table("COUNT>", "POOL", "WHY~", "NODECLAIMS~")
	type key struct{ pool, why string }
	alike := func(w plan.Withdrawal) key { return key{poolName(w.Pool), w.Note} }
	for _, g := range byCount(grouped(in.Plan.Withdrawals, alike)) {
		var names []string
		for _, w := range g.items {
			names = append(names, w.Claim)
		}
		b.Table.Add(text.Say(text.Bad, "-%d", len(names)), text.Of(g.key.pool), text.Of(g.key.why),
			text.Of(few(names, nodesNamed)))
	}
	return b
}
