// Package shadow carries plans out in a cluster that exists only in memory, beside another autoscaler.
//
// It promises that it writes nothing, neither to Kubernetes nor to the cloud: it has no client to write with. Pods
// come and go as in the actual cluster; nodes are those that plans leave and launch. It is in place of the ledger
// and of the applier of the planner, so that plans are made as a controller makes them, and does not decide itself.
//
// It simplifies: an instance that a plan launches can always be had, and takes pods at once; pods move at once.
// What is paid for meanwhile counts: a new instance from its launch, and one that goes until others would have
// booted in its place and its pods would have ended. Pods count as waiting until the node would have been ready.
package shadow

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/comparison"
)

const (
	// bootFor is how long an instance takes from launch to pods where its pool has shown no other time.
	bootFor = time.Minute
	// drainFor is how long a node that goes is paid for, to end its pods and its instance.
	drainFor = time.Minute
)

// pools says what pools ask for.
type pools interface {
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// World is the cluster as it would be.
type World struct {
	Pools  pools
	Groups *Groups // has nodes of node groups count as of pools; nil: those of claims alone do
	Book   *comparison.Book

	mu      sync.Mutex
	begun   bool
	changes uint64               // of its own, for revisions
	made    int                  // nodes launched
	nodes   map[string]*node     // those that Daemok may remove, by name
	at      map[string]string    // pods by UID: the node of each
	moved   map[string]move      // pods by UID: how often each was evicted
	waiting map[string]time.Time // pods by UID: since when each waits for a node
	actual  actual
}

// node is one that the world has.
type node struct {
	cluster.Node // without its pods
	launched     bool
	readyAt      time.Time                // when pods would run on it
	endsAt       time.Time                // until when it is paid for, since it goes; zero: it stays
	beside       quantity.MicroUSDPerHour // what it is likely to cost beside its price
	pods         uint64                   // a fingerprint of its pods
}

// move is how often in a row a pod was evicted, and when last.
type move struct {
	times int
	at    time.Time
}

// Project shows the snapshot of the actual cluster as the cluster would be, and counts what both cost. Cost: linear
// in pods and nodes.
func (w *World) Project(s *cluster.Snapshot) *cluster.Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.Groups.adopt(s)
	w.watch(seen)
	if !w.begun {
		w.adopt(seen)
	}
	w.refresh(seen)
	out := w.shown(seen)
	w.begun = true
	actual, here := w.levels(seen)
	actual.Cost -= paid(seen, seen, nil)
	here.Cost -= paid(out, seen, (*cluster.Pool).Static)
	w.Book.Observe(s.Now, actual, here)
	return out
}

// isOurs reports whether a node is of a pool that Daemok would scale by itself.
func isOurs(s *cluster.Snapshot, n *cluster.Node) bool {
	if n.Claim == "" {
		return false
	}
	p, ok := s.Pool(n.Pool)
	return ok && !p.Static()
}

// adopt begins with the nodes that there are, and with their pods.
func (w *World) adopt(s *cluster.Snapshot) {
	w.nodes, w.at, w.moved, w.waiting = map[string]*node{}, map[string]string{}, map[string]move{}, map[string]time.Time{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if isOurs(s, n) && !n.Deleting {
			w.nodes[n.Name] = &node{Node: *n, readyAt: s.Now}
		}
		for j := range n.Pods {
			if p := &n.Pods[j]; !p.Daemon && !p.Mirror && (w.nodes[n.Name] != nil || !isOurs(s, n)) {
				w.at[p.UID] = n.Name
			}
		}
	}
}

// refresh shows nodes that exist in the actual cluster too as they are there: their labels, taints, conditions and
// daemon pods. One that the other autoscaler removes stays as it was, and open to pods: Daemok decides about it by
// itself. It gets another name where a new instance has its own, as names that come from IP addresses come again.
func (w *World) refresh(s *cluster.Snapshot) {
	there := map[string]*cluster.Node{}
	for i := range s.Nodes {
		there[s.Nodes[i].Name] = &s.Nodes[i]
	}
	taken := map[string]bool{}
	for name, n := range w.nodes {
		is := there[name]
		if is != nil && is.InstanceID != n.InstanceID {
			taken[name], is = true, nil
		}
		if !n.endsAt.IsZero() && !s.Now.Before(n.endsAt) {
			delete(w.nodes, name)
			continue
		}
		if n.launched || is == nil || !isOurs(s, is) || is.Deleting || !n.endsAt.IsZero() {
			n.apart(s)
			continue
		}
		quiet, changed := n.QuietSince, n.ChangedAt
		n.Node = *is
		n.Pods = slices.DeleteFunc(slices.Clone(is.Pods), func(p cluster.Pod) bool { return !p.Daemon && !p.Mirror })
		if !quiet.IsZero() {
			n.QuietSince, n.ChangedAt = quiet, changed // by the pods that it has here
		}
	}
	for name := range taken {
		w.rename(name)
	}
}

// rename gives a node that is here alone the name of its instance.
func (w *World) rename(name string) {
	n := w.nodes[name]
	if n == nil {
		return
	}
	next := cmp.Or(n.InstanceID, "shadow-"+name)
	delete(w.nodes, name)
	w.nodes[next] = n
	if n.Claim == n.Name {
		n.Claim = next
	}
	n.Name, n.Labels = next, n.Labels.With(cluster.LabelHostname, next).With(translate.FieldName, next)
	for uid, on := range w.at {
		if on == name {
			w.at[uid] = next
		}
	}
}

// conditionTaints is how the keys of taints begin that Kubernetes sets by the state of a node.
const conditionTaints = "node.kubernetes.io/"

// apart has a node that is here alone, or goes in the actual cluster alone, be ready and open to pods: what its end did
// to it there is not copied. Daemon pods are expected on it, and it costs what its offering does now.
func (n *node) apart(s *cluster.Snapshot) {
	n.Pods, n.Ready, n.Ailments = nil, true, nil
	n.Taints = without(n.Taints, func(key string) bool { return strings.HasPrefix(key, conditionTaints) })
	n.Price = priceOf(s, &n.Node)
}

// shown puts the world together.
func (w *World) shown(s *cluster.Snapshot) *cluster.Snapshot {
	out := *s
	out.Revision, out.Instances, out.Expected, out.Waiting = s.Revision+w.changes, nil, nil, nil
	out.Nodes = make([]cluster.Node, 0, len(s.Nodes))
	for _, n := range w.nodes {
		out.Nodes = append(out.Nodes, n.shown())
	}
	for i := range s.Nodes {
		if n := s.Nodes[i]; !isOurs(s, &n) && w.nodes[n.Name] == nil {
			n.Claim, n.Pool = "", cluster.PoolID{} // what is not scaled is not disrupted either
			n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool { return !p.Daemon && !p.Mirror })
			n.LaunchedFor = nil
			out.Nodes = append(out.Nodes, n)
		}
	}
	slices.SortFunc(out.Nodes, func(a, b cluster.Node) int { return cmp.Compare(a.Name, b.Name) })
	w.putPods(s, &out)
	w.putPools(&out)
	w.putReserved(s, &out)
	out.Sort()
	return &out
}

func (n *node) shown() cluster.Node {
	out := n.Node
	out.LaunchedFor = nil
	out.Pods = slices.Clone(n.Pods)
	if !n.endsAt.IsZero() {
		out.Deleting = true
	}
	return out
}

// putPods puts every pod where it would be: where a plan or the scheduler has put it, else where it is in the
// actual cluster if that has room here too, else it waits.
func (w *World) putPods(s, out *cluster.Snapshot) {
	nodes := map[string]*cluster.Node{}
	for i := range out.Nodes {
		nodes[out.Nodes[i].Name] = &out.Nodes[i]
	}
	there, prints := map[string]bool{}, map[string]uint64{}
	put := func(p cluster.Pod, on string) {
		w.at[p.UID] = on
		if m, was := w.moved[p.UID]; was {
			p.Moved, p.MovedAt = m.times, m.at
		}
		nodes[on].Pods = append(nodes[on].Pods, p.MovedTo(on))
		print := fnv.New64a()
		_, _ = print.Write([]byte(p.UID)) // never fails
		prints[on] ^= print.Sum64()
	}
	var open []cluster.Pod // without a place that is known
	each(s, func(p cluster.Pod) {
		there[p.UID] = true
		if on := nodes[w.at[p.UID]]; on != nil && !on.Deleting {
			put(p, on.Name)
			return
		}
		delete(w.at, p.UID)
		open = append(open, p)
	})
	for _, p := range open {
		on := nodes[p.Node]
		switch {
		case on != nil && !on.Deleting && p.Shape != nil && p.Shape.Requests.FitsIn(feasibility.Free(on, s.Daemons)):
			put(p, on.Name)
		case !p.Ending:
			out.Waiting = append(out.Waiting, p.MovedTo(""))
		}
	}
	w.forget(there)
	w.note(s.Now, prints, nodes)
	w.await(s.Now, out)
}

// each calls do with every pod of a workload.
func each(s *cluster.Snapshot, do func(cluster.Pod)) {
	for i := range s.Nodes {
		for _, p := range s.Nodes[i].Pods {
			if !p.Daemon && !p.Mirror {
				do(p)
			}
		}
	}
	for _, p := range s.Waiting {
		do(p)
	}
}

// forget drops what is known of pods that have gone.
func (w *World) forget(there map[string]bool) {
	for uid := range w.at {
		if !there[uid] {
			delete(w.at, uid)
		}
	}
	for uid := range w.moved {
		if !there[uid] {
			delete(w.moved, uid)
		}
	}
	for uid := range w.waiting {
		if !there[uid] {
			delete(w.waiting, uid)
		}
	}
}

// note has the time begin again after which a node may be consolidated, where pods came or went.
func (w *World) note(now time.Time, prints map[string]uint64, shown map[string]*cluster.Node) {
	for name, n := range w.nodes {
		if n.pods == prints[name] {
			continue
		}
		if w.begun {
			n.QuietSince, n.ChangedAt = now, now
			if n.readyAt.After(now) {
				n.QuietSince, n.ChangedAt = n.readyAt, n.readyAt
			}
			shown[name].QuietSince, shown[name].ChangedAt = n.QuietSince, n.ChangedAt
			w.changes++
		}
		n.pods = prints[name]
	}
}

// await notes which pods wait, and how long those did that wait no longer.
func (w *World) await(now time.Time, out *cluster.Snapshot) {
	for i := range out.Waiting {
		p := &out.Waiting[i]
		if _, known := w.waiting[p.UID]; !known && w.moved[p.UID].times == 0 {
			w.waiting[p.UID] = p.CreatedAt
		}
	}
	var took []time.Duration
	for uid, since := range w.waiting {
		on := w.at[uid]
		if on == "" {
			continue
		}
		until := now
		if n := w.nodes[on]; n != nil && n.readyAt.After(now) {
			until = n.readyAt
		}
		took = append(took, until.Sub(since))
		delete(w.waiting, uid)
	}
	w.Book.Waited(nil, took)
}

// putPools counts what pools own here, and how many of their nodes may go.
func (w *World) putPools(out *cluster.Snapshot) {
	out.Pools, out.Quotas = slices.Clone(out.Pools), slices.Clone(out.Quotas)
	for i := range out.Quotas {
		out.CountQuota(&out.Quotas[i])
	}
	shares := disruption.Shares(out.Nodes)
	for i := range out.Pools {
		p := &out.Pools[i]
		p.Used.Capacity, p.Used.Nodes = quantity.Resources{}, 0
		for j := range out.Nodes {
			if n := &out.Nodes[j]; n.Claim != "" && n.Pool == p.ID {
				p.Used.Capacity, p.Used.Nodes = p.Used.Capacity.Add(n.Capacity), p.Used.Nodes+1
			}
		}
		p.Used.Capacity.Pods = 0
		out.CountCost(p)
		o, known := w.Pools.Pool(p.ID)
		if !known {
			continue
		}
		rules := translate.Policy(o, shares[p.ID].Nodes, out.Now)
		p.Policy.Empty = allowed(p.Policy.Empty, rules.Empty)
		p.Policy.Drifted = allowed(p.Policy.Drifted, rules.Drifted)
		p.Policy.Underutilized = allowed(p.Policy.Underutilized, rules.Underutilized)
	}
}

// allowed is how many nodes may go by the nodes that there would be, unless none may whatever these are.
func allowed(actual, here cluster.Allowance) cluster.Allowance {
	if actual.Closed != "" {
		return actual
	}
	return here
}
