// Package share decides which pods are planned first when there are too many for one plan.
//
// No pod waits for the plan of another user's pods. The package promises that pods which must be near
// each other are planned together, that effort is shared by namespace among pods of one priority, and
// that it depends on the snapshot alone. core/decide plans the pods.
package share

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// Effort is what one plan may take, in units of one shape of pods without rules
// about others. A shape with such rules takes as much as ten.
const (
	Effort = 4000
	plain  = 1
	ruled  = 10
)

// Part is what is to be planned now.
type Part struct {
	Snapshot *cluster.Snapshot // with the pods of this plan alone, and those that something is launched for
	Rest     int               // pods that are left for plans after it
}

// Next returns the pods of the next plan. Done are those that plans before it were made for, by
// UID, and whether these have a place on what is there; none: it is the first. What is done is left
// out unless it takes such a place, which is its own until the last plan, or instances are being
// launched for it.
//
// Small lots of pods come first, and each namespace has the same share of the effort. A lot that is
// too much for it waits until the first plan is made. Of pods with different priorities the higher
// one comes first, whatever namespace they belong to.
//
// Cost: linear in pods, where all are planned at once; else shapes with rules about pods near them
// times shapes.
func Next(s *cluster.Snapshot, done map[string]bool, effort int64) Part {
	ordered := withOrder(s)
	var open []cluster.Pod
	for i := range s.Waiting {
		p := &s.Waiting[i]
		if _, planned := done[p.UID]; !planned && !ordered[p.UID] {
			open = append(open, *p)
		}
	}
	lots := lotsOf(open)
	total := int64(0)
	for _, l := range lots {
		total += l.effort
	}
	if total <= effort && len(done) == 0 {
		return Part{Snapshot: s}
	}
	now := map[string]bool{}
	for _, l := range choose(together(lots), effort, len(done) > 0) {
		for _, p := range l.pods {
			now[p.UID] = true
		}
	}
	out := *s
	out.Waiting = nil
	for i := range s.Waiting {
		if uid := s.Waiting[i].UID; ordered[uid] || now[uid] || done[uid] {
			out.Waiting = append(out.Waiting, s.Waiting[i])
		}
	}
	return Part{&out, len(open) - len(now)}
}

// withOrder lists the pods that instances were launched for.
func withOrder(s *cluster.Snapshot) map[string]bool {
	out := map[string]bool{}
	note := func(pods []cluster.Pod) {
		for i := range pods {
			out[pods[i].UID] = true
		}
	}
	for i := range s.Nodes {
		note(s.Nodes[i].LaunchedFor)
	}
	for i := range s.Instances {
		note(s.Instances[i].LaunchedFor)
	}
	return out
}

// lot is pods that are planned together: of one shape, or of several that must be
// near each other.
type lot struct {
	shapes    []*cluster.Shape
	pods      []cluster.Pod
	namespace string
	priority  int32 // the highest
	effort    int64
}

// lotsOf parts pods by shape, in their order.
func lotsOf(pods []cluster.Pod) []*lot {
	var out []*lot
	at := map[*cluster.Shape]*lot{}
	for _, p := range pods {
		l := at[p.Shape]
		if l == nil {
			l = &lot{shapes: []*cluster.Shape{p.Shape}, namespace: p.Namespace, priority: p.Shape.Priority, effort: EffortOf(p.Shape)}
			at[p.Shape] = l
			out = append(out, l)
		}
		l.pods = append(l.pods, p)
	}
	return out
}

// EffortOf is what a plan for pods of the shape takes, in the units of Effort.
func EffortOf(s *cluster.Shape) int64 {
	if len(s.Spread) > 0 || len(s.Neighbours) > 0 {
		return ruled
	}
	return plain
}

// together joins lots whose pods must be near those of others.
func together(lots []*lot) []*lot {
	root := make([]int, len(lots))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	for i, l := range lots {
		for _, n := range l.shapes[0].Neighbours {
			if n.Apart || n.Weight > 0 {
				continue
			}
			for j, other := range lots {
				if seeks(n, other.shapes[0]) {
					a, b := find(i), find(j)
					root[max(a, b)] = min(a, b)
				}
			}
		}
	}
	var out []*lot
	for i, l := range lots {
		if at := find(i); at != i {
			to := lots[at]
			to.shapes, to.pods = append(to.shapes, l.shapes...), append(to.pods, l.pods...)
			to.priority, to.effort = max(to.priority, l.priority), to.effort+l.effort
			continue
		}
		out = append(out, l)
	}
	return out
}

// seeks reports whether pods of the shape are among those that are wanted near.
func seeks(n cluster.Neighbours, s *cluster.Shape) bool {
	_, named := slices.BinarySearch(n.Namespaces, s.Namespace)
	return (n.AllNamespaces || named) && n.Selector.Matches(s.Labels)
}

// choose returns the lots of the next plan: of each priority, the highest first, what fairly
// belongs to each namespace. Below a priority of which some are left no other is planned. Whatever
// it takes, one lot is among them.
func choose(lots []*lot, effort int64, later bool) []*lot {
	slices.SortStableFunc(lots, func(a, b *lot) int { return cmp.Compare(b.priority, a.priority) })
	var out []*lot
	for len(lots) > 0 {
		n := slices.IndexFunc(lots, func(l *lot) bool { return l.priority != lots[0].priority })
		if n < 0 {
			n = len(lots)
		}
		taken, used := fairly(lots[:n], effort)
		out, effort = append(out, taken...), effort-used
		if len(taken) < n {
			if big := largestLeft(lots[:n], taken); len(out) == 0 || later && big.effort > effort+used {
				out = append(out, big)
			}
			break
		}
		lots = lots[n:]
	}
	return out
}

// largestLeft is the largest lot that was not taken.
func largestLeft(lots, taken []*lot) (out *lot) {
	for _, l := range lots {
		if !slices.Contains(taken, l) && (out == nil || l.effort > out.effort) {
			out = l
		}
	}
	return out
}

// fairly gives each namespace the same share of the effort, and what one leaves of
// it to the others: those that need least come first.
func fairly(lots []*lot, effort int64) (out []*lot, used int64) {
	type tenant struct {
		name string
		need int64
		lots []*lot
	}
	var tenants []*tenant
	for _, l := range lots {
		at := slices.IndexFunc(tenants, func(t *tenant) bool { return t.name == l.namespace })
		if at < 0 {
			at, tenants = len(tenants), append(tenants, &tenant{name: l.namespace})
		}
		tenants[at].need += l.effort
		tenants[at].lots = append(tenants[at].lots, l)
	}
	slices.SortStableFunc(tenants, func(a, b *tenant) int { return cmp.Or(cmp.Compare(a.need, b.need), cmp.Compare(a.name, b.name)) })
	for i, t := range tenants {
		share := (effort - used) / int64(len(tenants)-i)
		slices.SortStableFunc(t.lots, func(a, b *lot) int { return cmp.Compare(a.effort, b.effort) })
		for _, l := range t.lots {
			if l.effort > share {
				break
			}
			share, used, out = share-l.effort, used+l.effort, append(out, l)
		}
	}
	return out, used
}
