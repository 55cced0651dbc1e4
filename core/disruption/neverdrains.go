package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// neverDrains says of a node that its drain would never end though all of its pods have places: a
// PodDisruptionBudget lets only so many go at a time, and where these are to run they may not while
// others are left on the node, which rules of kube-scheduler count until its last pod is gone;
// empty: it would end. Rules about hosts are examined, each workload by itself.
func (x *safety) neverDrains(c *candidate, a *place.Result) string {
	groups := map[*cluster.Shape][]cluster.Pod{}
	for _, p := range c.moving {
		if p.Evictable() && len(p.Shape.Spread)+len(p.Shape.Neighbours) > 0 && p.PDBs != "" && !strings.Contains(p.PDBs, ",") {
			groups[p.Shape] = append(groups[p.Shape], *p)
		}
	}
	for _, p := range c.moving {
		pods := groups[p.Shape]
		pdb := x.pdbs[[2]string{p.Namespace, p.PDBs}]
		if pods == nil || pdb == nil || pdb.Allowed == 0 || int64(len(pods)) <= pdb.Allowed {
			continue
		}
		delete(groups, p.Shape)
		if rule := x.stalled(c, pods, pdb.Allowed, a); rule != "" {
			return fmt.Sprintf("its drain would not end: PodDisruptionBudget %s/%s allows %d at a time of %d pods like %s to be gone, and with %s they find no place while others are left here; let it allow more%s",
				p.Namespace, p.PDBs, pdb.Allowed, len(pods), p.Name, rule, wayOut(rule))
		}
	}
	return ""
}

const (
	spreadRule = "their spread over hosts"
	nearRule   = "their pod affinity over hosts"
)

func wayOut(rule string) string {
	if rule == spreadRule {
		return ", or have the spread honour taints (nodeTaintsPolicy: Honor)"
	}
	return ""
}

// stalled names the rule by which the pods of one shape do not all get away.
func (x *safety) stalled(c *candidate, pods []cluster.Pod, most int64, a *place.Result) string {
	shape := pods[0].Shape
	for i := range shape.Spread {
		s := &shape.Spread[i]
		if s.Soft || s.HonourTaints || s.Key != cluster.LabelHostname || !s.Selector.Matches(shape.Labels) {
			continue
		}
		e := x.exodus(c, pods, most, a, s.Selector)
		if e.stuck(func(t *refuge, least int) bool { return t.count+1-least <= int(s.MaxSkew) }) {
			return spreadRule
		}
	}
	for i := range shape.Neighbours {
		n := &shape.Neighbours[i]
		if n.Apart || n.Weight > 0 || n.Volume || n.Key != cluster.LabelHostname || !n.Selector.Matches(shape.Labels) ||
			!n.AllNamespaces && !slices.Contains(n.Namespaces, shape.Namespace) {
			continue
		}
		e := x.exodus(c, pods, most, a, n.Selector)
		if e.stuck(func(t *refuge, _ int) bool { return t.count > 0 }) {
			return nearRule
		}
	}
	return ""
}

// exodus is the pods of a node on their way, as far as their numbers go.
type exodus struct {
	left, out, most int // pods still on the node, evicted without a place yet, and how many may be so
	refuges         []*refuge
}

// refuge is a node, or an instance to come, with so many pods of a class and room for some
// more.
type refuge struct {
	count, room int
	meant       bool // the plan has pods go there, so that it is a host that counts
}

// exodus begins with all pods on the node, and with the places that the plan has
// in mind; any other node that is open and has room is one as well.
func (x *safety) exodus(c *candidate, pods []cluster.Pod, most int64, a *place.Result, chosen cluster.Selector) *exodus {
	e := &exodus{left: len(pods), most: int(most)}
	meant := map[[2]string]*refuge{}
	for _, p := range a.Placements {
		if !slices.ContainsFunc(pods, func(o cluster.Pod) bool { return o.Namespace == p.Pod.Namespace && o.Name == p.Pod.Name }) {
			continue
		}
		key := [2]string{string(p.On), p.Target}
		if meant[key] == nil {
			meant[key] = &refuge{meant: true}
			e.refuges = append(e.refuges, meant[key])
		}
		meant[key].room++
	}
	for i := range x.snapshot.Nodes {
		n := &x.snapshot.Nodes[i]
		if i == c.at || n.Deleting || !n.Ready || x.gone[i] {
			continue
		}
		count := 0
		used := pods[0].Shape.Requests
		for j := range n.Pods {
			o := &n.Pods[j]
			used = used.Add(o.Takes())
			if o.Namespace == pods[0].Namespace && !o.Ending && chosen.Matches(o.Shape.Labels) {
				count++
			}
		}
		if t := meant[[2]string{string(plan.OnNode), n.Name}]; t != nil {
			t.count = count
		} else if used.FitsIn(n.Allocatable) {
			e.refuges = append(e.refuges, &refuge{count: count, room: 1})
		}
	}
	slices.SortStableFunc(e.refuges, func(a, b *refuge) int { return cmp.Compare(a.count, b.count) })
	return e
}

// stuck lets pods go as they may, and reports whether none can any more while some are left. allows
// reports whether one more may come to a refuge where a host has so few at the least.
func (e *exodus) stuck(allows func(t *refuge, least int) bool) bool {
	for e.left > 0 {
		if e.out == e.most {
			return true
		}
		e.left, e.out = e.left-1, e.out+1
		for e.out > 0 && e.stabilize(allows) {
			e.out--
		}
	}
	return false
}

// stabilize gives one pod a place.
func (e *exodus) stabilize(allows func(t *refuge, least int) bool) bool {
	least := e.left
	for _, t := range e.refuges {
		if t.meant {
			least = min(least, t.count)
		}
	}
	for _, t := range e.refuges {
		if t.room > 0 && allows(t, least) {
			t.room, t.count = t.room-1, t.count+1
			return true
		}
	}
	return false
}
