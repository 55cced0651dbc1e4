// Package apply carries out plans: it re-checks each action before it writes, and keeps the ledger of
// issued actions. It drops an action that is no longer valid, and keeps an issued one in the ledger
// until a watch shows it.
//
// It promises that a plan made from a projected snapshot never repeats an action in flight. It
// compares a launch with its pool as the watches last showed it, and a removal with what the API
// server itself reports. It decides nothing.
package apply

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Ledger holds actions issued and not yet seen in a watch, and for which pods each instance was
// launched. The zero value is ready to use; it is safe for concurrent use.
type Ledger struct {
	mu          sync.Mutex
	ordered     map[string]cluster.Instance // by claim: created, not yet in a snapshot that was projected
	setbacks    map[cluster.PoolID]setback  // pools whose instances could not be launched lately
	launched    map[string]struct{}         // claims that were seen with their instance
	launchedFor cluster.Ordered             // for which pods claims were launched, as it is now
	says        map[string][]string         // for which pods claims say that they were made
	withdrawn   map[string]struct{}         // claims that were withdrawn, not yet shown so
	moves       []*underWay                 // under way
	leaving     map[string]struct{}         // nodes of moves under way, and those that moves let go
	kept        map[string]time.Time        // nodes whose removal was given up: not to be planned for until then
}

// Ordered records a claim that was created for the given pods.
func (l *Ledger) Ordered(m cluster.Instance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ordered == nil {
		l.ordered = map[string]cluster.Instance{}
	}
	uids := make([]string, len(m.LaunchedFor))
	for i, p := range m.LaunchedFor {
		uids[i] = p.UID
	}
	l.owes(m.Claim, uids)
	m.LaunchedFor = nil // pods are looked up again in each snapshot
	l.ordered[m.Claim] = m
	l.isOrdered(m.Claim)
}

// owes keeps for which pods a claim is, by UID. The caller holds the lock.
func (l *Ledger) owes(claim string, pods []string) {
	if l.launchedFor == nil {
		l.launchedFor = cluster.Ordered{}
	}
	l.launchedFor[claim] = pods
}

// NotCreated forgets a claim that could not be created after all.
func (l *Ledger) NotCreated(claim string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ordered, claim)
	delete(l.launchedFor, claim)
}

// Withdraws records that a launch is being withdrawn: nothing is placed on its instance any more.
func (l *Ledger) Withdraws(claim string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.withdrawn == nil {
		l.withdrawn = map[string]struct{}{}
	}
	l.withdrawn[claim] = struct{}{}
}

// Keeps records that a launch could not be withdrawn.
func (l *Ledger) Keeps(claim string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.withdrawn, claim)
}

// Seen takes in a claim that a watch has shown. gone says that it was deleted: one that came and
// went is not waited for, and if it went without an instance its pool is backed off from. An
// instance newly launched ends that; further changes of its claim say nothing about available
// offerings. One that is there stays a launch until a snapshot shows it: the next to be projected
// may be older than what the watch has shown.
func (l *Ledger) Seen(c *karpv1.NodeClaim, gone bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if gone {
		delete(l.ordered, c.Name)
	}
	l.recordFor(c, gone)
	pool, has := translate.PoolOf(c), c.Status.ProviderID != ""
	switch _, before := l.launched[c.Name]; {
	case gone && has:
		delete(l.launched, c.Name)
	case gone && translate.IsWithdrawn(c): // for lack of pods, not of instances
	case gone:
		if l.setbacks == nil {
			l.setbacks = map[cluster.PoolID]setback{}
		}
		l.setbacks[pool] = l.setbacks[pool].another(now)
	case has && !before:
		if l.launched == nil {
			l.launched = map[string]struct{}{}
		}
		l.launched[c.Name] = struct{}{}
		delete(l.setbacks, pool)
	}
}

// recordFor keeps for which pods the claim says that it was made: an earlier process may have made
// it.
func (l *Ledger) recordFor(c *karpv1.NodeClaim, gone bool) {
	if gone {
		delete(l.says, c.Name)
		return
	}
	if _, known := l.says[c.Name]; known {
		return
	}
	if l.says == nil {
		l.says = map[string][]string{}
	}
	l.says[c.Name], _ = translate.ForPods(c)
}

// unseen lists the claims created before a moment, or at any where it is zero, that no snapshot has shown.
func (l *Ledger) unseen(before time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for claim, m := range l.ordered {
		if before.IsZero() || m.CreatedAt.Before(before) {
			names = append(names, claim)
		}
	}
	slices.Sort(names)
	return names
}

// justKept is why a node is left out of plans for a while.
const justKept = "it was to go a moment ago, and what that depended on no longer held"

// Stays takes in that the removal of a node was given up. Until the moment
// given, snapshots show the node as one that is left alone.
func (l *Ledger) Stays(node string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.leaving, node)
	if l.kept == nil {
		l.kept = map[string]time.Time{}
	}
	l.kept[node] = until
}

func (l *Ledger) isLeaving(node string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, leaving := l.leaving[node]
	return leaving
}

// Project returns the snapshot as it will be once every action issued is seen, and removes entries
// that the snapshot already shows. A waiting pod that an instance was launched for is listed with
// that instance.
func (l *Ledger) Project(s *cluster.Snapshot) *cluster.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := *s
	out.Instances, out.Nodes, out.Breakers = slices.Clone(s.Instances), slices.Clone(s.Nodes), slices.Clone(s.Breakers)
	out.Pools, out.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	l.stabilize(s)
	for _, claim := range slices.Sorted(maps.Keys(l.ordered)) {
		m := l.ordered[claim]
		out.Instances = append(out.Instances, m)
		out.Charge(&m)
	}
	for i := range out.Instances {
		if _, withdrawn := l.withdrawn[out.Instances[i].Claim]; withdrawn {
			out.Instances[i].Deleting = true
		}
	}
	for i := range out.Nodes {
		if _, rests := l.kept[out.Nodes[i].Name]; rests {
			out.Nodes[i].Rests = justKept
		}
	}
	for i := range out.Pools {
		if p := &out.Pools[i]; p.NotReady == "" {
			p.NotReady = l.setbacks[p.ID].why(s.Now)
		}
	}
	l.launchedFor.Name(&out)
	l.projectMoves(&out, nil)
	out.SortLists()
	return &out
}

func (l *Ledger) stabilize(s *cluster.Snapshot) {
	live := map[string]bool{}
	for _, m := range s.Instances {
		delete(l.ordered, m.Claim)
		live[m.Claim] = true
		if m.Deleting || m.Launched {
			delete(l.withdrawn, m.Claim)
		}
	}
	nodes := map[string]bool{}
	for _, n := range s.Nodes {
		delete(l.ordered, n.Claim)
		live[n.Claim] = true
		nodes[n.Name] = true
	}
	for claim, pods := range l.says {
		if _, known := l.launchedFor[claim]; live[claim] && !known && len(pods) > 0 {
			l.owes(claim, slices.Clone(pods))
		}
	}
	for claim := range l.launchedFor {
		if _, unseen := l.ordered[claim]; !unseen && !live[claim] {
			delete(l.launchedFor, claim)
		}
	}
	for claim := range l.withdrawn {
		if _, unseen := l.ordered[claim]; !unseen && !live[claim] {
			delete(l.withdrawn, claim)
		}
	}
	for node := range l.leaving {
		if !nodes[node] {
			delete(l.leaving, node)
		}
	}
	for node, until := range l.kept {
		if !nodes[node] || !s.Now.Before(until) {
			delete(l.kept, node)
		}
	}
}
