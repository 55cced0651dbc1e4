package retire

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// togetherMost is how many dear nodes are looked at together at most.
const togetherMost = 30

// consolidation lets nodes go that the cluster is cheaper without: each by
// itself, those first that save most for what they disturb. Groups of others are
// not looked at: half a day of services-b (daemok simulate) costs 2.6 % more with
// moves of groups, and takes 1,384 evictions instead of 822. Nodes that are dear even
// when they are full come before all others, together, and take no pods, so that
// no pod moves twice. What pods of a node
// are worth on the market bounds what can be saved by replacing it, so that most
// nodes need few questions.
func (x *Search) consolidation(all []*candidate) task {
	var run *consolidator
	return func() bool {
		switch {
		case run == nil:
			run = x.consolidator(all)
			return true
		case x.known != nil:
			return run.repeat()
		}
		return run.step()
	}
}

// dear is by how much a node must cost more than all that it has is worth on the
// market to be replaced rather than filled.
const dear = 1.1

func rank(first bool) int {
	if first {
		return 1
	}
	return 0
}

type consolidator struct {
	*Search
	market market
	dear   map[int]bool // nodes that cost more than machines of the same size need to, by position
	open   bitset.Set   // nodes that pods may go to, by position
	asked  int          // how many of those that are left were asked about together
	left   []*candidate // to be asked about one by one, in order
	group  []*candidate // those that stay
	at     int          // position among groups that were found before
}

func (x *Search) consolidator(all []*candidate) *consolidator {
	out := &consolidator{Search: x, dear: map[int]bool{}, open: x.lasting().Clone()}
	for _, c := range all {
		switch due, ok := quietDue(c); {
		case x.stays(c):
		case c.unwilling() != "":
			x.keepBy(c, c.saving(), plan.KeptByPool, c.unwilling())
		case c.unconsolidated():
			x.keepBy(c, c.saving(), plan.KeptByRule, "it carries do-not-consolidate")
		case !ok || IsEmpty(c.Node):
		case due.After(x.snapshot.Now):
			x.keepBy(c, plan.Underutilized, plan.KeptByTime, "pods came or went lately; it may go from "+due.Format("15:04:05 MST")+" on")
		default:
			if why, until := c.settles(x.snapshot.Now); why != "" && !x.payback([]*candidate{c}).Off {
				x.keepBy(c, plan.Underutilized, plan.KeptByTime, why+"; it may go from "+until.Format("15:04:05 MST")+" on")
				continue
			}
			if why := c.unpriced(); why != "" {
				x.keep(c, plan.Underutilized, why)
				continue
			}
			if why := cmp.Or(x.leaderless([]*candidate{c}, false), c.hindrance(x.snapshot, x.guards, plan.Underutilized)); why != "" {
				x.keepBy(c, plan.Underutilized, plan.KeptByRule, why)
				continue
			}
			out.left = append(out.left, c)
		}
	}
	out.market = newMarket(x.snapshot, out.left)
	for _, c := range out.left {
		c.ratio = float64(nodeCost(c)) / disruptionCost(c)
		c.worth, c.starts = out.market.worthOf(c.moving...), startCost(out.market, c.moving, x.snapshot.Now)
		if full := out.market.worthOfAll(c.Node); float64(nodeCost(c)) > float64(dear*full) && x.replaceable([]*candidate{c}) {
			out.dear[c.at] = true
		}
	}
	for i := range x.snapshot.Nodes {
		if !out.takesPods(i) {
			out.open.Remove(i)
		}
	}
	slices.SortStableFunc(out.left, func(a, b *candidate) int {
		return cmp.Or(rank(out.dear[b.at])-rank(out.dear[a.at]), cmp.Compare(b.ratio, a.ratio), cmp.Compare(len(a.moving), len(b.moving)), cmp.Compare(expiry(a), expiry(b)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// expiry orders nodes by when they expire, those that never do last.
func expiry(c *candidate) int64 {
	if c.ExpiresAt.IsZero() {
		return 1<<63 - 1
	}
	return c.ExpiresAt.Unix()
}

// unpriced says what of the node is not known that must be to compare prices.
func (c *candidate) unpriced() string {
	for _, key := range []string{cluster.LabelInstanceType, cluster.LabelCapacityType, cluster.LabelZone} {
		if _, there := c.Labels.Get(key); !there {
			return "it has no label " + key
		}
	}
	if c.Price == 0 {
		return "its price is not known"
	}
	return ""
}

func (x *consolidator) step() bool {
	if nodes := x.nextDear(); len(nodes) > 1 {
		x.try(nodes)
		return true
	}
	if len(x.left) > 0 {
		c := x.left[0]
		x.left = x.left[1:]
		if !x.stays(c) && !x.try([]*candidate{c}) {
			x.group = append(x.group, c)
			delete(x.dear, c.at)
			if x.lasting().Has(c.at) && x.takesPods(c.at) {
				x.open.Add(c.at)
			}
		}
		return true
	}
	x.tell(x.group)
	return false
}

// nextDear returns the next nodes that are dear, as many together as budgets
// allow and a group may have; nodes that are dear are first among those left.
func (x *consolidator) nextDear() []*candidate {
	var out []*candidate
	for x.asked < len(x.left) && x.dear[x.left[x.asked].at] && len(out) < togetherMost {
		c := x.left[x.asked]
		if !x.stays(c) && x.budgets.closed(append(out, c), plan.Underutilized) != "" {
			break
		}
		x.asked++
		if !x.stays(c) {
			out = append(out, c)
		}
	}
	if len(out) <= 1 {
		x.asked = len(x.left) // the others are looked at one by one
	}
	return out
}

// waste is what the node costs beside what its pods are worth.
func (c *candidate) waste() float64 { return float64(nodeCost(c)) - c.worth }

// tell notes of nodes that stay why they do.
func (x *consolidator) tell(nodes []*candidate) {
	for _, c := range nodes {
		if !x.stays(c) {
			x.keepBy(c, plan.Underutilized, c.by, cmp.Or(c.why, "nothing cheaper was found for its pods"))
		}
	}
}

// try asks whether the nodes can go, alone or for cheaper machines, and lets
// them go if that is worth it.
func (x *consolidator) try(nodes []*candidate) bool {
	nodes = x.lingering(nodes)
	if nodes = x.sparing(nodes); len(nodes) == 0 {
		return false
	}
	price, waste := costOf(nodes), 0.0
	for _, c := range nodes {
		waste += c.waste()
	}
	if why := x.budgets.closed(nodes, plan.Underutilized); why != "" {
		noteBy(nodes, plan.KeptByBudget, why)
		return false
	}
	if why := x.failsJob(nodes); why != "" {
		noteBy(nodes, plan.KeptByRule, why)
		return false
	}
	if _, why := x.verdict(nodes, "at most ", price, x.outlook(nodes).spent(nodes)); why != "" {
		note(nodes, why) // not even if their pods cost nothing elsewhere
		return false
	}
	if least := x.payback(nodes).LeastShare + groupLoss/float64(len(nodes)); len(nodes) > 1 && waste < float64(least*float64(price)) {
		return false // machines for their pods cost as much, however they are chosen
	}
	q := place.Question{Leave: positions(nodes), Open: x.open}
	answer := x.ask(q)
	if no(answer) {
		if q.Wishes = x.worthwhile(q, nodes); q.Wishes != nil {
			answer = x.ask(q)
		}
	}
	if no(answer) {
		why := "no room on other nodes for " + few(left(answer))
		switch {
		case !x.replaceable(nodes) && !x.hasReserved():
			note(nodes, why+", and "+noSpotForSpot)
			return false
		case len(nodes) == 1 && x.hopeless(nodes[0]):
			note(nodes, why+", and no machine for them is cheaper")
			return false
		}
		q.Below = price - 1
		if len(nodes) > 1 {
			pods := podsOf(nodes)
			q.Packer = pack.Packer(pack.Usual(pods)/togetherEffort, pods)
		}
		if answer = x.ask(q); no(answer) {
			note(nodes, why+", and machines for all that are cheaper were not found")
			return false
		}
	}
	return x.take(split(nodes, answer), q)
}

// lingering leaves out of a group the nodes that are likely to be empty before it
// pays to move their pods, whatever that saves.
func (x *consolidator) lingering(nodes []*candidate) []*candidate {
	p := x.payback(nodes)
	if len(nodes) == 1 || p.Off {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(c *candidate) bool {
		one := []*candidate{c}
		cost, _ := x.movingCost(one, p)
		return cost > x.outlook(one).spent(one)
	})
}

// togetherEffort is which part of the usual search for cheaper machines dear nodes are worth.
const togetherEffort = 16

// groupLoss is what whole machines usually cost more than the parts of machines
// that pods are worth, as a share of one machine's price.
const groupLoss = 0.1

// hopeless reports, quickly, that machines for the pods of the node cannot save
// enough.
func (x *consolidator) hopeless(c *candidate) bool {
	enough := nodeCost(c)
	if p := x.payback([]*candidate{c}); !p.Off {
		enough -= quantity.MicroUSDPerHour(float64(p.LeastShare * float64(nodeCost(c))))
	}
	return x.current().Hopeless(c.at, enough)
}

// accept lets the nodes of a part go if that is worth it. The answer was given
// with these wishes.
func (x *consolidator) accept(p part, wishes keeps) bool {
	saves := savings(p.nodes, p.answer)
	payback, why := x.verdict(p.nodes, "", saves, x.saved(p.nodes, p.answer))
	like := p.mayNotBe()
	if slices.ContainsFunc(p.answer.Launches, func(l plan.Launch) bool { return like(l.Choice.Kind, l.Choice.Option) }) {
		why = cmp.Or(why, "the cheapest machine for its pods is its like")
	}
	why = cmp.Or(why, x.spotForSpot(p), x.givesUpRoom(p.nodes, p.answer, saves))
	if why == "" {
		why = x.trim(p, saves, like)
	}
	for _, c := range p.nodes {
		why = cmp.Or(why, x.stalls(c, p.answer))
	}
	if why != "" {
		note(p.nodes, why)
		return false
	}
	if !x.let(p.nodes, plan.Underutilized, told(p.nodes, p.answer), p.answer) {
		return false
	}
	x.Moves[len(x.Moves)-1].Payback = payback
	x.setAside(p.nodes, wishes)
	return true
}

func left(a *place.Result) []cluster.Pod {
	var out []cluster.Pod
	for i := range a.Unplaced {
		out = append(out, a.Unplaced[i].Pods...)
	}
	return out
}

func note(nodes []*candidate, why string) { noteBy(nodes, plan.KeptByFinding, why) }

// noteBy notes what is in the way, where nothing was before.
func noteBy(nodes []*candidate, by plan.KeptBy, why string) {
	for _, c := range nodes {
		if c.why == "" {
			c.by, c.why = by, why
		}
	}
}

func positions(nodes []*candidate) []int {
	out := make([]int, len(nodes))
	for i, c := range nodes {
		out[i] = c.at
	}
	return out
}

// told says in words what the move comes to.
func told(nodes []*candidate, a *place.Result) string {
	switch old, next := len(nodes), len(a.Launches); {
	case next == 0 && !slices.ContainsFunc(nodes, func(c *candidate) bool { return c.needsPlaces() }):
		return "its pods are not created again"
	case next == 0:
		return "its pods have room on other nodes"
	case old == 1 && next == 1:
		return "a cheaper machine takes its place"
	case old == 1:
		return fmt.Sprintf("%d machines take its place for less", next)
	case next == 1:
		return fmt.Sprintf("one machine takes the place of %d nodes for less", old)
	default:
		return fmt.Sprintf("%d machines take the place of %d nodes for less", next, old)
	}
}

// few names some of the pods.
func few(pods []cluster.Pod) string {
	text := pods[0].Namespace + "/" + pods[0].Name
	if more := len(pods) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// takesPods reports whether pods of nodes that save money may go to one that does
// not go soon: only where it has started, and where no pods come and go just now, so
// that nothing is moved to what is about to change, and neither to one that is too dear nor to one that is to empty.
func (x *consolidator) takesPods(node int) bool {
	n := &x.snapshot.Nodes[node]
	if !n.Ready || !n.Initialized || x.dear[node] || n.Emptying() {
		return false
	}
	pool, ours := x.snapshot.Pool(n.Pool)
	if n.Claim == "" || !ours || pool.Policy.Never {
		return true
	}
	return !n.QuietSince.Add(pool.Policy.After).After(x.snapshot.Now)
}

// noSpotForSpot is why a spot machine stays for which another could be bought.
const noSpotForSpot = "spot machines may not replace spot machines"

// replaceable reports whether machines that are paid for by the hour may be bought
// instead of the nodes: where all are spot, only if spot may replace spot.
func (x *Search) replaceable(nodes []*candidate) bool {
	if x.options.SpotToSpot {
		return true
	}
	return slices.ContainsFunc(nodes, func(c *candidate) bool { return c.option() != cluster.Spot })
}

// spotForSpot says why the machines of a part may not be bought: what is reserved, and
// paid for already, takes the place of any.
func (x *Search) spotForSpot(p part) string {
	paidFor := !slices.ContainsFunc(p.answer.Launches, func(l plan.Launch) bool { return l.Choice.Option != cluster.Reserved })
	if paidFor || x.replaceable(p.nodes) {
		return ""
	}
	return noSpotForSpot
}

// hasReserved reports whether a pool can have a machine that is reserved.
func (x *Search) hasReserved() bool {
	if x.reserved == nil {
		x.reserved = new(slices.ContainsFunc(x.snapshot.Pools, sellsReserved))
	}
	return *x.reserved
}

func sellsReserved(p cluster.Pool) bool {
	return p.Catalogue != nil && p.NotReady == "" && slices.ContainsFunc(p.Catalogue.Kinds, func(k cluster.Kind) bool {
		return slices.ContainsFunc(k.Offers, func(o cluster.Offer) bool { return o.Option == cluster.Reserved && o.Available })
	})
}

func (c *candidate) option() cluster.Option {
	option, _ := c.Labels.Get(cluster.LabelCapacityType)
	return cluster.Option(option)
}

// mayNotBe tells what the machines that take the place of the nodes may not be:
// their likes. Where several take the place of more nodes, some may be like nodes
// that go: what is saved is that machines are fewer. One alone may not, nor may as
// many: those nodes could as well stay.
func (p part) mayNotBe() func(string, cluster.Option) bool {
	if next := len(p.answer.Launches); next > 1 && next < len(p.nodes) {
		return func(string, cluster.Option) bool { return false }
	}
	return likeOf(p.nodes)
}

// likeOf tells of a kind and the way to buy it whether one of the nodes is such: to
// replace a node by its like saves nothing that would last.
func likeOf(nodes []*candidate) func(string, cluster.Option) bool {
	type as struct {
		kind   string
		option cluster.Option
	}
	are := map[as]bool{}
	for _, c := range nodes {
		kind, _ := c.Labels.Get(cluster.LabelInstanceType)
		are[as{kind, c.option()}] = true
	}
	return func(kind string, option cluster.Option) bool { return are[as{kind, option}] }
}
