// Package disruption decides which nodes may be removed, why, and in what order: expired, empty,
// drifted, too expensive. It also decides which NodeClaims that have not launched are no longer
// needed.
//
// It promises to stay within the disruption budgets of each NodePool, to remove no node whose pods fit
// nowhere else, to name what keeps every node that has a reason to be removed and stays, and to say
// when to check again. core/removal finds places for the pods.
package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// Options is how the whole controller lets nodes go. The zero value is the
// default.
type Options struct {
	EverySaving bool    // pools that say nothing about it let a node go whatever that saves
	SpotToSpot  bool    // spot instances may be replaced by cheaper spot instances
	Weigh       Weigher // nil: preferences of pods hold until these cannot be placed with them
}

// Weigher says which preferences of pods are worth what they cost. It
// may ask several times where the pods find places.
type Weigher func(s *cluster.Snapshot, pods []cluster.Pod, solve func(preferences demand.Counting) place.Result) demand.Counting

// Search seeks nodes that may go, one question at a time, so that a caller with something more
// urgent to do can put it aside. What it has found so far holds whether it is finished or not.
type Search struct {
	Moves     []plan.Move
	Kept      []plan.Kept // by node, complete once the search is finished
	Questions int64       // that were asked so far

	snapshot  *cluster.Snapshot
	options   Options
	needed    map[string]bool    // nodes that waiting pods are on their way to
	simulator *removal.Simulator // nil: only nodes without pods go
	pdbs      PDBs
	budgets   *budgets
	gone      map[int]bool    // nodes that go with a move
	untold    []int           // of these, those that the simulator does not know yet
	kept      map[int]bool    // nodes that Kept reports
	takes     map[string]bool // nodes that pods of those that go are to run on
	tasks     []task          // what is left to do, in order
	launches  int             // of all moves, for their names
	last      bitset.Set      // nodes that are not about to go themselves; nil: not examined yet
	economy   economy
	safety    safety

	succession succession
}

// economy says what is saved if nodes go, and whether that is worth the disruption, and preferences of pods.
type economy struct {
	*Search
	wholes   map[cluster.PoolID]whole // nil: not examined yet
	reserved *bool                    // a pool can have what is paid for already; nil: not examined yet
	bill     *coverage.Bill           // of the cluster after the moves so far
}

// safety says which pods keep nodes although they have room elsewhere.
type safety struct {
	*Search
	evicted  map[job]int // pods of Jobs that are evicted; nil: not examined yet
	balances balances    // see onDemand
	counted  bool        // balances are
}

// task is one step of a search; more says that it is to be repeated.
type task func() (more bool)

// New begins a search. Nodes that are needed, by name, stay: pods that wait are on their way to them.
func New(s *cluster.Snapshot, needed map[string]bool, simulator *removal.Simulator, o Options) *Search {
	return begin(s, needed, simulator, o, nil)
}

// Empty begins a search for nodes without pods alone, beside what the plan launches, as far as pools with a minimum of
// on-demand nodes count it.
func Empty(s *cluster.Snapshot, needed map[string]bool, launches []plan.Launch, o Options) *Search {
	x := begin(s, needed, nil, o, nil)
	x.safety.onDemand().launch(launches)
	return x
}

func begin(s *cluster.Snapshot, needed map[string]bool, simulator *removal.Simulator, o Options, known *Found) *Search {
	x := &Search{snapshot: s, options: o, needed: needed, simulator: simulator, pdbs: PDBsOf(s.PDBs), budgets: budgetsOf(s),
		gone: map[int]bool{}, kept: map[int]bool{}, takes: map[string]bool{}}
	x.economy.bill = coverage.BillOf(s)
	if simulator != nil { // with what the plan launches
		x.economy.bill = coverage.BillOf(simulator.Snapshot())
	}
	x.economy.Search, x.safety.Search, x.succession.Search = x, x, x
	all := candidates(s)
	x.tasks = []task{x.emptiness(all)}
	if simulator != nil {
		asked := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !known.has(c.Name) })
		x.tasks = []task{x.expiry(asked), x.emptiness(all), x.renewal(asked), x.drift(asked), x.consolidation(asked)}
	}
	return x
}

// Step does a bit of work, a question at most; it reports false once the
// search is finished.
func (x *Search) Step() bool {
	if len(x.tasks) == 0 {
		return false
	}
	if more := x.tasks[0](); !more {
		x.tasks = x.tasks[1:]
	}
	if len(x.tasks) == 0 {
		slices.SortFunc(x.Kept, func(a, b plan.Kept) int { return cmp.Compare(a.Node, b.Node) })
		return false
	}
	return true
}

// Asked reports whether nodes with pods are asked about, and not empty ones
// alone.
func (x *Search) Asked() bool { return x.simulator != nil }

// Finish does all that is left to do.
func (x *Search) Finish() {
	for x.Step() {
		continue
	}
}

// stays reports whether the node needs no more examining: it goes already, it was said why it does
// not, or pods are on their way to it.
func (x *Search) stays(c *candidate) bool {
	return x.gone[c.at] || x.kept[c.at] || x.takes[c.Name] || x.needed[c.Name]
}

// keep notes why a node stays: what was found out about it.
func (x *Search) keep(c *candidate, reason plan.RemovalReason, why string) {
	x.keepBy(c, reason, plan.KeptByFinding, why)
}

// hasBufferPods begins why a node stays that would be empty without virtual pods.
const hasBufferPods = "Node has buffer pods: "

// keepBy notes why a node stays.
func (x *Search) keepBy(c *candidate, reason plan.RemovalReason, by plan.KeptBy, why string) {
	if x.kept[c.at] {
		return
	}
	if why == c.Rests {
		by = plan.KeptByTime
	}
	found := by == plan.KeptByFinding || by == plan.KeptByPool
	if found && c.heldByBuffers() && !strings.HasPrefix(why, hasBufferPods) {
		why = hasBufferPods + why
	}
	x.kept[c.at] = true
	x.Kept = append(x.Kept, plan.Kept{Node: c.Name, Reason: reason, By: by, Why: why})
}

// emptiness lets nodes go because nothing runs on them: those that cost most
// first, then the oldest, up to the pool's budget.
func (x *Search) emptiness(all []*candidate) task {
	return func() bool {
		due := func(c *candidate) bool {
			at, ok := emptyDue(c)
			return ok && !at.After(x.snapshot.Now)
		}
		for _, c := range inOrder(slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !due(c) })) {
			if x.stays(c) {
				continue
			}
			if why := c.hindrance(x.snapshot, x.pdbs, plan.Empty); why != "" {
				x.keepBy(c, plan.Empty, plan.KeptByRule, why)
				continue
			}
			if why := x.safety.lacksOnDemand(c, nil); why != "" {
				if x.simulator == nil || c.Drifted == "" && !c.outlived(x.snapshot.Now) { // else it may be replaced
					x.keepBy(c, plan.Empty, plan.KeptByPool, why)
				}
				continue
			}
			x.let(c, plan.Empty, c.emptyFor(x.snapshot.Now), nil)
		}
		return false
	}
}

// emptyFor says why an empty node goes.
func (c *candidate) emptyFor(now time.Time) string {
	if c.Unneeded {
		return "empty, and there is no capacity for the rest of the ProvisioningRequest that it was launched for"
	}
	return fmt.Sprintf("empty for %s", now.Add(c.lead()).Sub(c.QuietSince).Truncate(time.Second))
}

// let adds a move if the budgets allow it, and reports whether they did.
func (x *Search) let(c *candidate, reason plan.RemovalReason, note string, with *place.Result) bool {
	if why := x.budgets.closed(c, reason); why != "" {
		x.keepBy(c, reason, plan.KeptByBudget, why)
		return false
	}
	x.budgets.use(c)
	x.gone[c.at] = true
	countAll(x.safety.failing(), c.Node)
	x.safety.onDemand().take(c.Pool, c.IsSpot(), with)
	move := plan.Move{Saves: x.economy.savings(c, with), Removals: []plan.Removal{
		{Node: c.Name, Claim: c.Claim, Pool: c.Pool, Reason: reason, Note: note, Pods: c.copies()},
	}}
	if with == nil {
		x.untold = append(x.untold, c.at)
	} else {
		move.Launches, move.Placements = x.renamed(with)
		for _, p := range move.Placements {
			if p.On == plan.OnNode {
				x.takes[p.Target] = true
			}
		}
	}
	x.economy.bill.Carry(changeOf(c, &place.Result{Launches: move.Launches}))
	x.Moves = append(x.Moves, move)
	if with != nil {
		x.current().Take([]int{c.at}, place.Result{Launches: move.Launches, Placements: move.Placements})
	}
	return true
}

// renamed gives the launches of an answer names that are their own among those
// of all moves.
func (x *Search) renamed(a *place.Result) ([]plan.Launch, []plan.Placement) {
	launches, placements := slices.Clone(a.Launches), slices.Clone(a.Placements)
	names := map[string]string{}
	for i := range launches {
		x.launches++
		names[launches[i].Name] = fmt.Sprintf("instead-%d", x.launches)
		launches[i].Name = names[launches[i].Name]
	}
	for i := range placements {
		if placements[i].On == plan.OnLaunch {
			placements[i].Target = names[placements[i].Target]
		}
	}
	return launches, placements
}

// NextDue returns the next moment at which a node becomes due to go, or a
// budget opens or closes; ok is false when none will without a change.
func NextDue(s *cluster.Snapshot) (at time.Time, ok bool) {
	sooner := func(t time.Time) {
		if t.After(s.Now) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	for _, c := range candidates(s) {
		if due, may := quietDue(c); may {
			sooner(due.Add(-c.lead()))
			sooner(due)
		}
		if !c.ExpiresAt.IsZero() {
			sooner(orderAt(c))
			sooner(c.ExpiresAt)
		}
		if at, ever := c.renewAt(); ever {
			sooner(at)
		}
		if _, until := c.rests(s.Now); !until.IsZero() {
			sooner(until)
		}
		for i := range c.Pods {
			sooner(c.Pods[i].ProtectedUntil)
		}
	}
	for i := range s.Pools {
		sooner(s.Pools[i].Policy.BudgetsChange)
		sooner(s.Pools[i].Hours.Until)
	}
	return at, ok
}

// quietDue is when a node has been left alone for as long as its pool asks
// before it may go to save money; ok is false where it never may.
func quietDue(c *candidate) (at time.Time, ok bool) {
	policy := &c.pool.Policy
	if policy.Never || c.pool.Static() || c.unconsolidated() || c.QuietSince.IsZero() {
		return time.Time{}, false
	}
	return c.QuietSince.Add(policy.After), true
}

// emptyDue returns the moment from which an empty node may go; ok is false for
// a node that may not go for being empty. Where its pool is being deleted it goes
// for that, so that one budget is about all nodes of such a pool.
func emptyDue(c *candidate) (at time.Time, ok bool) {
	if !IsEmpty(c.Node) || c.Drifted == cluster.PoolDeleted {
		return time.Time{}, false
	}
	if c.Unneeded {
		return time.Time{}, true
	}
	at, ok = quietDue(c)
	return at.Add(-c.lead()), ok
}

// lead is how much earlier than its time is over the node is closed to pods where it
// is empty: never before it was.
func (c *candidate) lead() time.Duration { return min(c.pool.Policy.Lead, c.pool.Policy.After) }

// IsEmpty reports whether the node has no pods beside those of DaemonSets,
// static ones and those that are ending. An ending pod that will come back, as
// a StatefulSet's does, is still there.
func IsEmpty(n *cluster.Node) bool {
	return !slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool { return holds(&p) })
}

// holds reports whether a node is not empty because of the pod.
func holds(p *cluster.Pod) bool { return p.Returns || !p.Daemon && !p.Mirror && !p.Ending }

// inOrder lists nodes as they should go for being empty: by content, so that
// new names change nothing, and by name only between equal ones.
func inOrder(all []*candidate) []*candidate {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(b.Price, a.Price),
			cmp.Compare(b.Allocatable.CPU, a.Allocatable.CPU),
			cmp.Compare(b.Allocatable.Memory, a.Allocatable.Memory),
			a.QuietSince.Compare(b.QuietSince),
			a.CreatedAt.Compare(b.CreatedAt),
			slices.CompareFunc(a.Labels, b.Labels, compareLabel),
			cmp.Compare(a.Name, b.Name))
	})
	return out
}

// compareLabel skips the node's name, which is no content.
func compareLabel(a, b constraint.Label) int {
	if a.Key == cluster.LabelHostname && b.Key == cluster.LabelHostname {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}
