// Package retire tells which nodes may leave, now those that have been empty
// for long enough, and which orders of machines are not needed any more.
//
// It promises to stay within what each pool's budgets allow, and to say when
// the next node becomes due. It does not look at pods that wait: the caller
// names the nodes and machines that are needed.
package retire

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
)

// Empty returns the nodes to remove because nothing runs on them: those that
// cost most first, then the oldest, up to the pool's budget, of which nodes
// that are going already or not ready use their share. Needed nodes stay.
func Empty(s *cluster.Snapshot, needed func(node string) bool) []plan.Move {
	left, shares := map[cluster.PoolID]int64{}, Shares(s.Nodes)
	var out []plan.Move
	for _, n := range inOrder(s) {
		pool, due, ok := dueAt(s, n)
		if !ok || due.After(s.Now) || needed(n.Name) {
			continue
		}
		if _, known := left[n.Pool]; !known {
			left[n.Pool] = pool.Policy.Empty.Most - shares[n.Pool].Used
		}
		if left[n.Pool] <= 0 {
			continue
		}
		left[n.Pool]--
		out = append(out, plan.Move{Removals: []plan.Removal{{Node: n.Name, Claim: n.Claim, Pool: n.Pool, Reason: plan.Empty, Note: note(s, n)}}})
	}
	return out
}

// NextDue returns the next moment at which an empty node becomes due for
// removal; ok is false when none will without a change.
func NextDue(s *cluster.Snapshot) (at time.Time, ok bool) {
	for i := range s.Nodes {
		_, due, may := dueAt(s, &s.Nodes[i])
		if may && due.After(s.Now) && (!ok || due.Before(at)) {
			at, ok = due, true
		}
	}
	return at, ok
}

// dueAt returns the moment from which an empty node may go; ok is false for a
// node that may not go for being empty.
func dueAt(s *cluster.Snapshot, n *cluster.Node) (pool *cluster.Pool, at time.Time, ok bool) {
	if n.Claim == "" || n.Deleting || !n.Initialized || n.DoNotDisrupt || n.QuietSince.IsZero() || !IsEmpty(n) {
		return nil, time.Time{}, false
	}
	pool, found := s.Pool(n.Pool)
	if !found || pool.Policy.Never {
		return nil, time.Time{}, false
	}
	return pool, n.QuietSince.Add(pool.Policy.After), true
}

// IsEmpty reports whether the node has no pods beside those of DaemonSets,
// static ones and those that are ending, and none that forbids to disturb it.
// An ending pod that will come back, as a StatefulSet's does, is still there.
func IsEmpty(n *cluster.Node) bool {
	return !slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool {
		if p.DoNotDisrupt && !p.Ending {
			return true
		}
		return p.Returns || !p.Daemon && !p.Mirror && !p.Ending
	})
}

// inOrder lists nodes as they should go: by content, so that new names change
// nothing, and by name only between equal ones.
func inOrder(s *cluster.Snapshot) []*cluster.Node {
	out := make([]*cluster.Node, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = &s.Nodes[i]
	}
	slices.SortStableFunc(out, func(a, b *cluster.Node) int {
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

func note(s *cluster.Snapshot, n *cluster.Node) string {
	return fmt.Sprintf("empty for %s", s.Now.Sub(n.QuietSince).Truncate(time.Second))
}
