// Package explanation says why pods fit nowhere, and which smallest change would help.
//
// It promises that equal snapshots give equal texts, each short enough for an event. It reads the
// state after nodes have been sought for all pods, and changes nothing but the board, where it opens
// the domains in which instances are offered. It uses core/feasibility and core/topology for the
// rules, so that it explains a rule exactly as it is applied.
package explanation

import (
	"fmt"
	"iter"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// World is what is there once places have been sought. Amounts are vectors over
// Resources and, behind these, Drivers.
type World struct {
	Snapshot  *cluster.Snapshot
	Board     *topology.Board // with the pods of this plan on it
	Counted   bool            // some rule examines other pods
	Daemons   map[*cluster.Shape]*topology.Rules
	Held      map[string]bool // volume claims for one pod that are in use
	Pools     []Pool          // heaviest first
	Targets   []Target
	Placed    iter.Seq[Placed] // by this plan
	Resources []string
	Drivers   []string           // of volumes
	Exhausted bool               // the effort for this plan was used up
	onNode    map[string]*Target // see targetOn
}

// Pool is a pool after all was launched.
type Pool struct {
	*feasibility.Pool
	Constraints []feasibility.Constraint                     // what its limits are in the way of now
	TooFew      func(options bitset.Set) feasibility.Changes // what its minValues lack, if these options are left
}

// Target is a node that may take pods, or an instance on its way.
type Target struct {
	Name   string
	Node   bool
	Free   []int64
	Ports  []cluster.Port
	Claims []string // of volumes that are attached
	Place  int      // on the board
}

// Placed is a pod that has its place by this plan.
type Placed struct {
	*cluster.Pod
	On    string // node or instance
	Place int    // on the board
}

// Pods are those of one shape that have no place.
type Pods struct {
	Shape  *cluster.Shape
	Need   []int64         // of one of them
	Rules  *topology.Rules // about other pods, preferences aside; never nil
	Search Search
}

// Search is what the search for places found out about such pods. It is asked
// for what is needed alone.
type Search interface {
	// OfferingSets lists the spots on which instances that they may be on are offered.
	OfferingSets() []topology.Spot
	// Launchable is those of them where one has room for a pod, other pods and
	// limits aside.
	Launchable() []topology.Spot
	// Roomy lists the spots of what is there and has room for a pod, other pods
	// aside.
	Roomy() []topology.Spot
	// Torn is the pods that must share a host with them and are too much for any instance together.
	Torn() (Torn, bool)
}

// unlucky is such pods while reasons are sought.
type unlucky struct {
	*Pods
	known   []plan.Reason         // where no reasons are sought
	changes []feasibility.Changes // by pool: what would have to be different; see lookAhead
}

// reasonsMax is for how many shapes a plan works out what would help: more than people read. It is
// what bounds the work, since no effort for a plan does: each of these shapes is compared with
// every option of every pool that its taints do not keep far off and, where no new instance will
// do, with every node.
const reasonsMax = 200

// Reasons reports what would have to be different for each to find a place.
func (w *World) Reasons(list []Pods) [][]plan.Reason {
	all := make([]unlucky, len(list))
	var sought []*unlucky
	for i := range list {
		u := &all[i]
		u.Pods = &list[i]
		switch {
		case u.Shape.Unable != "":
			u.known = []plan.Reason{{Rule: string(feasibility.Unable), Text: u.Shape.Unable}}
		case len(sought) < reasonsMax:
			sought = append(sought, u)
		default:
			u.known = []plan.Reason{{Text: fmt.Sprintf("no place was found; reasons are worked out for %d pod groups at a time, and others come before", reasonsMax)}}
		}
	}
	w.lookAhead(sought)
	out := make([][]plan.Reason, len(list))
	for i := range all {
		if out[i] = all[i].known; out[i] == nil {
			out[i] = w.reasons(&all[i])
		}
	}
	return out
}

// lookAhead asks all pools at once what they lack for the pods, where their
// taints do not make it likely that others are nearer. Pools remember what
// they are asked, so each is asked by one goroutine.
func (w *World) lookAhead(list []*unlucky) {
	list = slices.DeleteFunc(slices.Clone(list), func(u *unlucky) bool { return w.used(u.Shape) || pinned(u.Shape) })
	for _, u := range list {
		u.changes = make([]feasibility.Changes, len(w.Pools))
	}
	parallel.Each(len(w.Pools), func(i int) {
		p := &w.Pools[i]
		for _, u := range list {
			if !excluded(u.Shape, p) && p.AtLeast(u.Shape).Effort() == 0 {
				u.changes[i] = p.lacks(u.Shape)
			}
		}
	})
}

func (w *World) reasons(u *unlucky) []plan.Reason {
	switch {
	case w.used(u.Shape):
		return []plan.Reason{{Text: w.claimInUse(u.Shape)}}
	case len(w.Pools) == 0:
		return []plan.Reason{{Text: "no pool exists, and " + w.onNodes(u.Pods)}}
	case pinned(u.Shape):
		return []plan.Reason{{Rule: string(feasibility.Label), Text: "it may run on nodes of certain names alone, which new ones cannot have: " + w.nearestNode(u.Pods)}}
	}
	if text := w.olderName(u.Shape); text != "" {
		return []plan.Reason{{Text: text}}
	}
	near := w.nearest(u)
	if len(near) == 0 {
		return w.noSuchPool(u)
	}
	if torn, ok := u.Search.Torn(); ok {
		return []plan.Reason{{Rule: string(feasibility.Topology), Text: w.tornText(&torn)}}
	}
	if text, crowded := w.crowded(u.Pods, u.Search.Launchable()); crowded {
		return []plan.Reason{{Rule: string(feasibility.Topology), Text: text}}
	}
	if len(near[0].Changes) == 0 {
		return []plan.Reason{{Pool: near[0].Pool, Text: w.noChange(u.Pods)}}
	}
	return inWords(near)
}

// noChange is why pods are left that a pool has instances for: another plan finds them a place.
func (w *World) noChange(p *Pods) string {
	switch {
	case !w.Exhausted && w.Board.NearOnHost(p.Rules):
		return "its affinity over " + cluster.LabelHostname + " wants more pods beside each other than any one instance that can be launched holds"
	case w.Exhausted:
		return "not tried: the effort for this plan was used up; the next plan goes on"
	}
	if text := w.Board.Adrift(p.Rules); text != "" {
		return text + ": checked again when it is launched"
	}
	if d := w.daemonInTheWay(p); d != "" {
		return "every new node brings a pod of DaemonSet " + d + ", which it must not be beside"
	}
	return "no place keeps the rules of all pods in this plan; the next plan tries again"
}

// daemonInTheWay names a DaemonSet whose pods are where these pods must not be.
func (w *World) daemonInTheWay(p *Pods) string {
	host := w.Board.NewHost()
	for i := range w.Snapshot.Daemons {
		d := &w.Snapshot.Daemons[i]
		rules := w.Daemons[d.Shape]
		if rules == nil {
			continue
		}
		host.Put(rules, 1)
		if host.Off(p.Rules) {
			return d.Namespace + "/" + d.Name
		}
	}
	return ""
}
