// Package plan is the answer of the core: ordered actions, reasons, cost before and after.
//
// It promises a text form that depends only on content. It does not carry anything out.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Plan is what to do about one snapshot.
type Plan struct {
	Basis       uint64 // revision of the snapshot it was made from
	Launches    []Launch
	Placements  []Placement
	Withdrawals []Withdrawal
	Moves       []Move
	Kept        []Kept     // nodes that stay though there is a reason to let them go
	Emptying    []Emptying // nodes that new pods and scale-downs are to leave empty, the first ones first
	Holds       []Hold     // pods that are not evicted yet though their nodes go; sorted by node
	Asked       bool       // nodes with pods were asked about too; else Kept reports empty ones alone
	Unplaced    []Unplaced
	Short       []Short                  // static pools that lack nodes which cannot be launched now
	Buffers     []Buffer                 // where capacity is kept for pods that may come; nil: nothing was decided about it
	Requested   []Requested              // what becomes of ProvisioningRequests; nil: nothing was decided about them
	Joining     []Joining                // instances being launched that launches or each other must wait for
	CostBefore  quantity.MicroUSDPerHour // nodes and instances being launched of known price, less what commitments pay
	CostAfter   quantity.MicroUSDPerHour
	Bound       quantity.MicroUSDPerHour // less no instances for the pods of the launches can cost, see Gap; 0 means that none is known
	Margins     []Margin                 // what one more of each resource would cost; of the tier of pools that most is spent in
	Fewer       *Summary                 // the runner-up with fewer instances; nil where none was sought or found
	Likely      *Likely                  // what is expected once kube-scheduler has had its way; nil where that was not asked for
	SpotMore    quantity.MicroUSDPerHour // what spot instances are likely to cost beside their prices: of the offerings that a request names the cloud chooses one
	Steps       int64                    // effort spent
	Exhausted   bool                     // the effort did not suffice to examine everything
	Dropped     []Dropped                // preferences that do not count since they cost more than they are worth
}

// Dropped is preferences of some pods that cost more than they are worth.
type Dropped struct {
	Preferences []string
	Pods        []cluster.Pod            // sorted by namespace, name
	Saves       quantity.MicroUSDPerHour // about so much
}

// Margin is the price of one more core, GiB or piece of a resource, as far as
// amounts decide. What is not scarce has none. With a zone it is the price to
// pods that can be nowhere else.
type Margin struct {
	Resource string
	Zone     string
	Price    quantity.MicroUSDPerHour
}

// Summary is what an answer comes to: how many instances it launches, and what they cost.
type Summary struct {
	Instances int
	Cost      quantity.MicroUSDPerHour
}

// Likely is what the launches are likely to come to: kube-scheduler puts pods where it likes, and
// instances are launched for those that find no room then.
type Likely struct {
	Cost    quantity.MicroUSDPerHour // of the launches and of what is launched after them, in the mean of what was tried
	Left    int                      // pods that find no room at first, likewise
	Turns   int                      // in which the launches take pods, since that is likely to cost less, as Launch.Joins says; 0: in none
	Relaxed Summary                  // the cheapest answer if every pod went where it is meant to go
	// RelaxedCost is what that is likely to come to.
	RelaxedCost quantity.MicroUSDPerHour
}

// Launch launches one instance. Name is its name within the plan: "new-1".
type Launch struct {
	Name         string
	Pool         cluster.PoolID
	Requirements constraint.Requirements // what the instance must be; instance types, zones and options listed
	Labels       constraint.Labels       // custom labels that were decided
	Requests     quantity.Resources      // pods and daemon pods it was sized for
	Choice       Choice                  // what is to be launched if it can be had
	RunnersUp    []Choice                // the next two, best first, with why not
	Pods         []cluster.Pod           // that it is for, sorted by namespace, name
	Virtual      []VirtualPods           // that it is for, beside Pods or instead of them
	Joins        []Join                  // whose instances must take pods together, or before it; sorted
	Static       bool                    // it is for a number of nodes, as of a static pool; Pods are those that will find room on it
	Relaxed      bool                    // fewer values stay open than minValues asks, by policy
	Reason       string
	Overlays     []string // names of NodeOverlays that set its price, or resources that it is to have
	Notes        []string // what else users should know: preferences that gave way, processors that images must run on
}

// Take adds the pod to those that the instance is for.
func (l *Launch) Take(p *cluster.Pod) {
	at, _ := slices.BinarySearchFunc(l.Pods, *p, ByName)
	l.Pods = slices.Insert(l.Pods, at, *p)
	l.Requests = l.Requests.Add(p.Shape.Requests)
	l.Reason = WaitText(len(l.Pods))
}

// Lose takes the pod off them.
func (l *Launch) Lose(p *cluster.Pod) {
	at, _ := slices.BinarySearchFunc(l.Pods, *p, ByName)
	l.Pods = slices.Delete(l.Pods, at, at+1)
	l.Requests = l.Requests.Sub(p.Shape.Requests)
	l.Reason = WaitText(len(l.Pods))
}

// ByName sorts pods by namespace and name.
func ByName(a, b cluster.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// WaitText is the reason of a launch for so many pods.
func WaitText(pods int) string {
	if pods == 1 {
		return "1 pod waits"
	}
	return fmt.Sprintf("%d pods wait", pods)
}

// Join says that an instance is one of a group on which kube-scheduler is to spread pods over a
// label's values: it counts only values that a node has, so none of the instances should take pods
// before there is a node for each. Without a key all instances of the group that open it are waited
// for, so that kube-scheduler finds all their room at once.
type Join struct {
	Group string // short, and the same in every plan for the same pods
	Key   string // of the label; empty: of none
	Opens bool   // no node has the instance's value yet
	// Turn is when the instance takes pods, of those in a group without a key: once all with
	// earlier turns have joined, and kube-scheduler has given them theirs. Instances with large
	// pods are best opened late: else small ones come there, which fit anywhere. 0 is with all
	// others.
	Turn int
}

// Joining says of an instance being launched what Launch.Joins says of a new one.
type Joining struct {
	Claim string
	Joins []Join
}

// Group is the instances that must take pods together: claims, then launches by their names within
// the plan.
type Group struct {
	ID, Key   string
	Turn      int // of those in it; 0: it has none
	Instances []string
}

// Groups lists the groups that launches and instances being launched of the plan are in, in the
// order of their first instances.
func (p *Plan) Groups() []Group {
	var out []Group
	type id struct {
		group string
		turn  int
	}
	at := map[id]int{}
	add := func(instance string, joins []Join) {
		for _, j := range joins {
			if j.Turn == 1 {
				continue // it waits for no other
			}
			of := id{j.Group, j.Turn}
			if _, known := at[of]; !known {
				at[of] = len(out)
				out = append(out, Group{ID: j.Group, Key: j.Key, Turn: j.Turn})
			}
			g := &out[at[of]]
			g.Instances = append(g.Instances, instance)
		}
	}
	for _, m := range p.Joining {
		add(m.Claim, m.Joins)
	}
	for i := range p.Launches {
		add(p.Launches[i].Name, p.Launches[i].Joins)
	}
	return out
}

// Choice is one offering with its price, and with what the instance would cost beside it: its
// volumes, what its pool declares for each instance, and the surplus credits that the pods it is
// for would use.
type Choice struct {
	Kind   string
	Zone   string
	Option cluster.Option
	Price  quantity.MicroUSDPerHour
	Priced bool
	Beside quantity.MicroUSDPerHour
	Cover  cluster.Cover // a commitment that pays for it beside Price; none: none does
	WhyNot string        // empty for the choice made
}

// Placement says where a waiting pod is expected to go: an existing node, an instance being
// launched (its claim) or a launch of this plan (its name).
type Placement struct {
	Pod    cluster.Pod
	On     Destination
	Target string
}

// Destination is the kind of place a Placement names.
type Destination string

// The destinations.
const (
	OnNode     Destination = "node"
	OnInstance Destination = "machine"
	OnLaunch   Destination = "launch"
)

// Emptying is a node that is to empty without evictions: kube-scheduler puts new pods on other nodes while these have
// room, and ReplicaSets that scale down delete their pods there first. It goes once it is empty.
type Emptying struct {
	Node, Claim string
	Pool        cluster.PoolID
	Note        string // why this node
}

// Withdrawal withdraws the NodeClaim of an instance that is not launched yet. It may be carried out
// only while the NodeClaim is not known to have an instance.
type Withdrawal struct {
	Claim string
	Pool  cluster.PoolID
	Note  string // why, in words, for events and the record
}

// Move lets nodes go together, once the instances that are to replace them are there. The plan's
// launches are for pods that wait; those of a move are its own.
type Move struct {
	Removals   []Removal                // one at least
	Launches   []Launch                 // to be initialised before any of the nodes goes; none: pods find room on what is there
	Placements []Placement              // where pods that must leave are expected to go
	Saves      quantity.MicroUSDPerHour // by what the cluster is cheaper afterwards; negative where it is more expensive
	Dropped    []Dropped                // preferences of pods that must leave which did not hold before, and are not held now
	Payback    time.Duration            // after so long it has saved what moving pods costs; 0: nothing is to be paid back
}

// Removal lets one node go. It may be carried out only while nothing runs on
// the node but what the plan saw: pods that return elsewhere, those that are
// part of the node, and pods that are ending.
type Removal struct {
	Node, Claim string
	Pool        cluster.PoolID
	Reason      RemovalReason
	Note        string        // in words, for events and the record
	Pods        []cluster.Pod // that run there and need another place, sorted by namespace, name
}

// RemovalReason is why a node goes, in the words of the API.
type RemovalReason string

// The reasons. Expired has no budget of its own: such a node goes whatever
// budgets say, and uses them up.
const (
	Empty         RemovalReason = "Empty"         // no pods but those of DaemonSets and static ones, for long enough
	Drifted       RemovalReason = "Drifted"       // no longer what its pool and class ask for
	Underutilized RemovalReason = "Underutilized" // the cluster is cheaper without it
	Expired       RemovalReason = "Expired"       // older than its pool allows

	// Overprovisioned has no budget either: its pool is static, and has more nodes than its user asks for.
	Overprovisioned RemovalReason = "Overprovisioned"
)

// Kept is a node that has a reason to go and stays all the same.
type Kept struct {
	Node   string
	Reason RemovalReason // for which it would go
	By     KeptBy        // what is in the way
	Why    string        // the first thing that is in the way, in words that a user can act on
}

// Hold has pods stay on a node whose instance the cloud takes away, until there is room for them on
// instances that have started.
type Hold struct {
	Node  string
	Pods  []cluster.Pod // sorted by namespace, name
	For   []string      // that have to start first: nodes, claims, launches of the plan; sorted; none: there is no place for the pods
	Until time.Time     // at the latest: then there is just time left for them to end
}

// KeptBy is what keeps a node.
type KeptBy string

// What keeps nodes.
const (
	KeptByFinding KeptBy = ""       // what was found out: its pods have no other place, or nothing is saved
	KeptByRule    KeptBy = "rule"   // what its users asked for: do-not-disrupt, a PodDisruptionBudget, a freeze; or the controller runs on it
	KeptByBudget  KeptBy = "budget" // of its pool
	KeptByTime    KeptBy = "time"   // it is too early; waiting is enough
	KeptByPool    KeptBy = "pool"   // its pool lets no such node go, as it is written
)

// Unplaced is one shape of pods that no place was found for, with the reasons.
type Unplaced struct {
	Shape   *cluster.Shape
	Pods    []cluster.Pod
	Reasons []Reason // the nearest pool first, others summed up; or one about the shape itself; never none
	Early   bool     // nothing is in the way: it is too early to launch for them
}

// Short is a static pool that lacks nodes which cannot be launched now.
type Short struct {
	Pool    cluster.PoolID
	Want    int64    // nodes that it keeps
	Missing int64    // of them
	Reasons []Reason // as of pods without a place
}

// Outside begins the only reason of pods that ask for nodes which belong to no pool.
const Outside = "it asks for a node outside every pool"

// Declined reports whether the pods ask for nodes that belong to no pool, so that they wait for no
// launch: only a user who asks is given the reason.
func (u *Unplaced) Declined() bool {
	return len(u.Reasons) == 1 && strings.HasPrefix(u.Reasons[0].Text, Outside)
}

// Reason is an expected "no", in words a user can act on: the least that would
// have to be different. Pool is zero when it concerns no single pool. MinValues says that
// minValues of the pool is in the way. Rule is the rule that is hardest to meet, as core/feasibility
// calls it; empty where it is no single one. Others says that the text sums up further pools.
type Reason struct {
	Pool      cluster.PoolID
	Text      string
	MinValues bool
	Rule      string
	Others    bool
}
