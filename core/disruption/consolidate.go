package disruption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// consolidation lets nodes go that the cluster is cheaper without, one after the other, those first that cost most
// for what they disturb: first those whose pods have room on other nodes, then those for whose pods a cheaper
// instance does that saves enough (see share). Nodes for which their pools have a cheaper offering are replaced at
// once where they cannot go so, and take no pods until they are found to stay, so that no pod moves twice.
func (x *Search) consolidation(all []*candidate) task {
	var run *consolidator
	return func() bool {
		if run == nil {
			run = x.consolidator(all)
			return true
		}
		return run.step()
	}
}

type consolidator struct {
	*Search
	open   bitset.Set   // nodes that pods may go to, by position
	left   []*candidate // to be asked about, in order
	full   []*candidate // whose pods have no room on other nodes, to be asked about after these
	stayed []*candidate
}

func (x *Search) consolidator(all []*candidate) *consolidator {
	out := &consolidator{Search: x, open: x.lasting().Clone()}
	for _, c := range all {
		if x.stays(c) {
			continue
		}
		if by, why := x.mayNotConsolidate(c); why != "" {
			x.keepBy(c, c.saving(), by, why)
		} else if c.mayConsolidate() {
			c.ratio, c.expensive = float64(x.economy.cost(c))/disruptionCost(c), x.economy.expensive(c)
			out.left = append(out.left, c)
		}
	}
	for i := range x.snapshot.Nodes {
		if !x.takesPods(i) {
			out.open.Remove(i)
		}
	}
	slices.SortStableFunc(out.left, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.ratio, a.ratio), cmp.Compare(len(a.moving), len(b.moving)), cmp.Compare(expiry(a), expiry(b)), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range out.left {
		if c.expensive {
			out.open.Remove(c.at)
		}
	}
	return out
}

// expiry sorts nodes by when they expire, those that never do last.
func expiry(c *candidate) int64 {
	if c.ExpiresAt.IsZero() {
		return 1<<63 - 1
	}
	return c.ExpiresAt.Unix()
}

// mayConsolidate reports whether the node may go to save money at some time, and not for being empty.
func (c *candidate) mayConsolidate() bool {
	_, ok := quietDue(c)
	return ok && !IsEmpty(c.Node)
}

// mayNotConsolidate says why the node does not go to save money now, whatever it would save; empty: it may.
func (x *Search) mayNotConsolidate(c *candidate) (by plan.KeptBy, why string) {
	due, _ := quietDue(c)
	rests, until := c.rests(x.snapshot.Now)
	switch {
	case c.unwilling() != "":
		return plan.KeptByPool, c.unwilling()
	case c.unconsolidated():
		return plan.KeptByRule, "it carries do-not-consolidate"
	case !c.mayConsolidate():
		return "", ""
	case due.After(x.snapshot.Now):
		return plan.KeptByTime, "pods came or went recently; it may be disrupted from " + due.Format(onClock) + " on"
	case rests != "":
		return plan.KeptByTime, rests + "; it may be disrupted from " + until.Format(onClock) + " on"
	case c.unpriced() != "":
		return plan.KeptByFinding, c.unpriced()
	}
	return plan.KeptByRule, cmp.Or(x.safety.leaderless(c, false), c.hindrance(x.snapshot, x.pdbs, plan.Underutilized))
}

const onClock = "15:04:05 MST"

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

// takesPods reports whether pods of nodes that save money may go to one that does not go soon: only where it has started,
// and where no pods come and go just now, so that nothing is moved to what is about to change; and not to one that is to
// empty.
func (x *Search) takesPods(node int) bool {
	n := &x.snapshot.Nodes[node]
	if !n.Ready || !n.Initialized || n.Emptying() {
		return false
	}
	pool, ours := x.snapshot.Pool(n.Pool)
	if n.Claim == "" || !ours || pool.Policy.Never {
		return true
	}
	return !n.QuietSince.Add(pool.Policy.After).After(x.snapshot.Now)
}

func (x *consolidator) step() bool {
	switch {
	case len(x.left) > 0:
		c := x.left[0]
		x.left = x.left[1:]
		x.look(c, x.remove)
		if !x.gone[c.at] && x.lasting().Has(c.at) && x.takesPods(c.at) {
			x.open.Add(c.at)
		}
	case len(x.full) > 0:
		c := x.full[0]
		x.full = x.full[1:]
		x.look(c, x.replace)
	default:
		for _, c := range slices.DeleteFunc(x.stayed, x.Search.stays) {
			x.keepBy(c, plan.Underutilized, c.by, cmp.Or(c.why, "nothing cheaper was found for its pods"))
		}
		return false
	}
	return true
}

// look tries to remove the node in one way, unless it stays by now or may not.
func (x *consolidator) look(c *candidate, try func(*candidate) (why string)) {
	if x.stays(c) {
		return
	}
	if c.by, c.why = x.barred(c); c.why == "" {
		c.by, c.why = plan.KeptByFinding, try(c)
	}
	if c.why != "" {
		x.stayed = append(x.stayed, c)
	}
}

// barred says why the node does not go, whatever becomes of its pods; empty: it may.
func (x *consolidator) barred(c *candidate) (by plan.KeptBy, why string) {
	if why = x.budgets.closed(c, plan.Underutilized); why != "" {
		return plan.KeptByBudget, why
	}
	if why = cmp.Or(x.safety.leaderless(c, false), x.safety.failsJob(c)); why != "" {
		return plan.KeptByRule, why
	}
	if x.economy.cost(c) <= 0 && x.economy.bill.Covered(c.Name) > 0 {
		return plan.KeptByFinding, "commitments pay for it, whether it runs or not"
	}
	// Not even if its pods cost nothing elsewhere.
	return plan.KeptByFinding, x.economy.unworthy(c, "at most ", x.economy.cost(c))
}

// remove lets the node go if its pods have room on others, or if a cheaper instance holds them where its pool
// undersells it, and its pool has enough on-demand nodes without it; why says what is in the way; empty: it goes, or
// is to be asked about again.
func (x *consolidator) remove(c *candidate) (why string) {
	q := removal.Question{Leave: []int{c.at}, Open: x.open}
	answer := x.ask(q)
	if no(answer) {
		if q.Preferences = x.economy.worthwhile(q, c); !q.Preferences.All() {
			answer = x.ask(q)
		}
	}
	if !no(answer) {
		if c.short = x.safety.lacksOnDemand(c, answer); c.short == "" {
			return x.accept(c, answer, q.Preferences)
		}
	} else {
		c.stranded = few(left(answer))
	}
	c.preferences = q.Preferences
	if c.expensive {
		return x.replace(c)
	}
	x.full = append(x.full, c)
	return ""
}

// replace lets the node go if a cheaper instance holds its pods.
func (x *consolidator) replace(c *candidate) (why string) {
	answer, why := x.replacement(c)
	switch {
	case why != "" && c.short != "":
		return c.short + ", and " + why
	case why != "" && c.servesMinimum():
		return "no room on other nodes for " + c.stranded + ", which may need on-demand nodes for the " +
			cluster.LimitOnDemand + " of their workload, and " + why
	case why != "":
		return "no room on other nodes for " + c.stranded + ", and " + why
	}
	return x.accept(c, answer, c.preferences)
}

// accept lets the node go as the answer says; why says what is in the way; empty: it goes.
func (x *consolidator) accept(c *candidate, a *place.Result, preferences demand.Counting) (why string) {
	saves := x.economy.savings(c, a)
	if why = cmp.Or(x.economy.unworthy(c, "", saves), x.economy.spotForSpot(c, a)); why != "" {
		return why
	}
	if why = cmp.Or(x.economy.trim(c, a, saves), x.safety.neverDrains(c, a), x.safety.lacksOnDemand(c, a)); why != "" {
		return why
	}
	x.let(c, plan.Underutilized, reported(c, a), a)
	x.Moves[len(x.Moves)-1].Payback = x.economy.paysBackIn(c, saves)
	x.economy.setAside(c, preferences)
	return ""
}

func left(a *place.Result) []cluster.Pod {
	var out []cluster.Pod
	for i := range a.Unplaced {
		out = append(out, a.Unplaced[i].Pods...)
	}
	return out
}

// reported says in words what the move comes to.
func reported(c *candidate, a *place.Result) string {
	switch next := len(a.Launches); {
	case next == 0 && !c.needsPlaces():
		return "its pods are not created again"
	case next == 0:
		return "its pods have room on other nodes"
	case next == 1:
		return "a cheaper instance takes its place"
	default:
		return fmt.Sprintf("%d instances take its place for less", next)
	}
}

// few names some of the pods, or the buffers of virtual ones.
func few(pods []cluster.Pod) string {
	if of := plan.VirtualPodsOf(pods); len(of) > 0 {
		return plan.VirtualText(of)
	}
	text := pods[0].Namespace + "/" + pods[0].Name
	if more := len(pods) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
