package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// zones adds rows for what must be in each zone because pods are spread.
//
// Every zone in which all pools offer counts as a domain, as it does when pods
// are placed. Proof: let N be the pods that a spread with skew k chooses, those
// that run included, and all of them that wait be under the spread themselves.
// A zone never gets a pod that puts it more than k above the least zone, and
// the least only grows. So a zone gets at least what mustComeTo says of it.
// Whichever pods these are,
// they need at least the least amounts among the group, each resource by
// itself. Different groups are different pods, so their needs add up.
func (c *cover) zones(s *cluster.Snapshot) {
	zones := offeredEverywhere(s)
	if len(zones) < 2 {
		return
	}
	needs := make([]quantity.Resources, len(zones))
	counted := map[*cluster.Shape]bool{}
	for _, g := range spreads(s, zones) {
		if !g.sure || slices.ContainsFunc(g.shapes, func(x *cluster.Shape) bool { return counted[x] }) {
			continue
		}
		for _, x := range g.shapes {
			counted[x] = true
		}
		for z := range zones {
			needs[z] = needs[z].Add(g.least(g.mustComeTo(1 << z)))
		}
	}
	for z, zone := range zones {
		if needs[z].IsZero() {
			continue
		}
		var there quantity.Resources
		for i := range c.nodes {
			if in, _ := c.nodes[i].Labels.Get(cluster.LabelZone); in == zone {
				there = there.Add(c.free[i])
			}
		}
		for i := range s.Instances {
			there = there.Add(s.Instances[i].Allocatable.ClampNegative())
		}
		c.amounts(needs[z].Sub(there), func(x column) bool { return x.zone == zone })
	}
}

// offeredEverywhere returns the zones that all pools offer in; none if pools
// differ, if nodes are in others or if nodes are going away with their pods.
func offeredEverywhere(s *cluster.Snapshot) []string {
	var out []string
	for i, pool := range feasibility.ForPools(s.Pools, s.Daemons) {
		zones := map[string]bool{}
		for _, o := range pool.Options {
			if offering := pool.Offering(o); offering.Available {
				zones[offering.Zone] = true
			}
		}
		list := slices.Sorted(maps.Keys(zones))
		if i > 0 && !slices.Equal(out, list) {
			return nil
		}
		out = list
	}
	for i := range s.Nodes {
		if zone, _ := s.Nodes[i].Labels.Get(cluster.LabelZone); s.Nodes[i].Deleting || !slices.Contains(out, zone) {
			return nil
		}
	}
	return out
}

// spreadGroup is the waiting pods that one spread over zones chooses.
type spreadGroup struct {
	spread    *cluster.Spread
	namespace string
	sure      bool // all pods chosen are under the spread, and may be in every zone
	shapes    []*cluster.Shape
	waiting   []quantity.Resources
	running   []int // by zone
}

func spreads(s *cluster.Snapshot, zones []string) []*spreadGroup {
	known := map[string]*spreadGroup{}
	var out []*spreadGroup
	shapes := s.Shapes()
	for _, shape := range shapes {
		for i := range shape.Spread {
			x := &shape.Spread[i]
			text := spreadText(shape.Namespace, x)
			if x.Soft || x.Key != cluster.LabelZone || known[text] != nil {
				continue
			}
			known[text] = &spreadGroup{spread: x, namespace: shape.Namespace, running: make([]int, len(zones)),
				sure: int(x.MinDomains) <= len(zones) && !x.HonourTaints}
			out = append(out, known[text])
		}
	}
	byShape := map[*cluster.Shape][]*spreadGroup{}
	for _, shape := range shapes {
		for _, g := range out {
			if g.chooses(shape) {
				byShape[shape] = append(byShape[shape], g)
			}
		}
	}
	for i := range s.Waiting {
		for _, g := range byShape[s.Waiting[i].Shape] {
			g.wait(s.Waiting[i].Shape)
		}
	}
	for i := range s.Nodes {
		zone, _ := s.Nodes[i].Labels.Get(cluster.LabelZone)
		for j := range s.Nodes[i].Pods {
			for _, g := range byShape[s.Nodes[i].Pods[j].Shape] {
				g.running[slices.Index(zones, zone)]++
				g.sure = g.sure && !s.Nodes[i].Pods[j].Ending && g.looksAt(s.Nodes[i].Labels)
			}
		}
	}
	return out
}

func spreadText(namespace string, x *cluster.Spread) string {
	return fmt.Sprint(namespace, x.MaxSkew, x.MinDomains, x.IgnoreNodeTerms, x.HonourTaints, selectorText(x.Selector))
}

func (g *spreadGroup) chooses(s *cluster.Shape) bool {
	return s.Namespace == g.namespace && g.spread.Selector.Matches(s.Labels)
}

// wait adds a pod that the spread chooses.
func (g *spreadGroup) wait(s *cluster.Shape) {
	if len(g.shapes) == 0 || g.shapes[len(g.shapes)-1] != s {
		g.shapes = append(g.shapes, s)
		g.sure = g.sure && g.binds(s)
	}
	g.waiting = append(g.waiting, s.Requests)
}

// binds reports whether the pod is under the spread itself and may be in every
// zone: where it wants certain nodes, it says so by their pool alone, as all
// pods of the group do.
func (g *spreadGroup) binds(s *cluster.Shape) bool {
	if !slices.EqualFunc(s.NodeTerms, g.shapes[0].NodeTerms, constraint.Requirements.Equal) {
		return false
	}
	under := slices.ContainsFunc(s.Spread, func(x cluster.Spread) bool {
		return !x.Soft && x.Key == cluster.LabelZone && spreadText(s.Namespace, &x) == spreadText(g.namespace, g.spread)
	})
	for _, t := range s.NodeTerms {
		for _, r := range t {
			under = under && r.Key == poolLabel
		}
	}
	return under && len(s.VolumeTerms) == 0
}

// looksAt reports whether the spread counts pods on such nodes. It is asked
// only after all waiting pods were noted.
func (g *spreadGroup) looksAt(node constraint.Labels) bool {
	if len(g.shapes) == 0 || len(g.shapes[0].NodeTerms) == 0 || g.spread.IgnoreNodeTerms {
		return true
	}
	return slices.ContainsFunc(g.shapes[0].NodeTerms, func(t constraint.Requirements) bool {
		_, ok := t.Allow(node)
		return ok
	})
}

// mustComeTo returns how many of the waiting pods the zones of a set get together at least.
//
// Proof: let the least zone end with m pods. Then each zone ends with m at least,
// and with what it has now; and with no more than what it has now or m and the
// skew, whichever is more. So the zones of the set end with no less than the
// first says, and with no less than the second leaves to them.
func (g *spreadGroup) mustComeTo(set uint) int {
	total, now := len(g.waiting), 0
	for z, n := range g.running {
		total += n
		if set>>z&1 == 1 {
			now += n
		}
	}
	out := math.MaxInt
	for m := range total + 1 {
		least, rest := 0, total
		for z, n := range g.running {
			if set>>z&1 == 1 {
				least += max(n, m)
			} else {
				rest -= max(n, m+int(g.spread.MaxSkew))
			}
		}
		out = min(out, max(least, rest))
		if least >= rest {
			break // it only grows from here
		}
	}
	return out - now
}

// least returns the least that n of the waiting pods can ask for.
func (g *spreadGroup) least(n int) quantity.Resources {
	var cpu, memory []int64
	for _, r := range g.waiting {
		cpu, memory = append(cpu, int64(r.CPU)), append(memory, int64(r.Memory))
	}
	slices.Sort(cpu)
	slices.Sort(memory)
	out := quantity.Resources{Pods: int64(n)}
	for i := range n {
		out.CPU += quantity.MilliCPU(cpu[i])
		out.Memory += quantity.Bytes(memory[i])
	}
	return out
}
