package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/explanation"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// worldsTried is how many random worlds the tests of this file look at.
const worldsTried = 3000

// TestWhatIsAskedForIsEnough changes in random worlds what the nearest pools,
// or the nearest node where there is no pool, are said to need: then at least
// one of the pods without a place must have one.
func TestWhatIsAskedForIsEnough(t *testing.T) {
	rules := map[feasibility.Rule]int{}
	for seed := range uint64(worldsTried) {
		s := someWorld(rand.New(rand.NewPCG(seed, 1)))
		r := NewRun(s, Waiting(s), Options{})
		r.Open()
		r.Proceed()
		for _, g := range r.Waiting {
			if g.Left() == 0 {
				continue
			}
			pods := r.diagnosis.hopeless(g)
			for _, c := range nearestTo(r.diagnosis.aftermath(), &pods) {
				if names := changed(s, c.Pool, c.Node, c.Changes, rules); names == nil {
					continue
				} else if again := Place(names, Options{}); left(&again) >= int(g.Left()) {
					t.Fatalf("seed %d: %d pods of %+v are left though this was changed at %s%s: %s\nnow: %v", seed, left(&again), *g.Shape, c.Pool, c.Node, c.Changes, again.Unplaced)
				}
			}
		}
	}
	for _, rule := range []feasibility.Rule{feasibility.Limit, feasibility.Taint, feasibility.Label, feasibility.Resource, feasibility.Unavailable, feasibility.MinValues} {
		if rules[rule] < 20 {
			t.Errorf("only %d changes of the rule %s were tried: the worlds are too easy", rules[rule], rule)
		}
	}
}

func nearestTo(w *explanation.World, p *explanation.Pods) []explanation.Candidate {
	near := w.NearestPools(p)
	out := near[:min(len(near), 2)]
	if node := w.NearestNode(p); len(w.Pools) == 0 && node.Node != "" {
		out = append(out, node)
	}
	return out
}

func left(r *Result) int {
	n := 0
	for _, u := range r.Unplaced {
		n += len(u.Pods)
	}
	return n
}

// changed returns a copy of the world in which the changes are made; nil where
// one of them cannot be made mechanically.
func changed(s *cluster.Snapshot, pool cluster.PoolID, node string, list feasibility.Changes, rules map[feasibility.Rule]int) *cluster.Snapshot {
	out := *s
	shape := *s.Waiting[0].Shape
	out.Waiting, out.Pools = slices.Clone(s.Waiting), slices.Clone(s.Pools)
	for i := range out.Waiting {
		out.Waiting[i].Shape = &shape
	}
	for _, c := range list {
		rules[c.Rule]++
		switch c.Rule {
		case feasibility.Limit:
			raise(&out, pool, c)
		case feasibility.Taint:
			shape.Tolerations = append(slices.Clone(shape.Tolerations), constraint.Toleration{Key: c.Taint.Key, Value: c.Taint.Value, Effect: c.Taint.Effect})
		case feasibility.Label:
			shape.NodeTerms = without(shape.NodeTerms, c.Key)
		case feasibility.Resource:
			shape.Requests = shape.Requests.With(c.Key, shape.Requests.Get(c.Key)-c.Amount)
		case feasibility.Unavailable:
			offerAll(&out, pool)
		case feasibility.MinValues:
			p, _ := out.Pool(pool)
			p.Requirements = p.Requirements[:0:0]
		default:
			return nil
		}
	}
	return &out
}

func raise(s *cluster.Snapshot, pool cluster.PoolID, c feasibility.Change) {
	p, _ := s.Pool(pool)
	if c.Key == "nodes" {
		n := *p.Limits.Nodes + c.Amount
		p.Limits.Nodes = &n
		return
	}
	p.Limits.Amounts = slices.Clone(p.Limits.Amounts)
	for i := range p.Limits.Amounts {
		if p.Limits.Amounts[i].Name == c.Key {
			p.Limits.Amounts[i].Amount += c.Amount
		}
	}
}

func without(terms []constraint.Requirements, key string) []constraint.Requirements {
	var out []constraint.Requirements
	for _, t := range terms {
		out = append(out, slices.DeleteFunc(slices.Clone(t), func(r constraint.Requirement) bool { return r.Key == key }))
	}
	return out
}

func offerAll(s *cluster.Snapshot, pool cluster.PoolID) {
	p, _ := s.Pool(pool)
	c := &cluster.Catalogue{Revision: p.Catalogue.Revision, Disk: p.Catalogue.Disk, InstanceTypes: slices.Clone(p.Catalogue.InstanceTypes)}
	for k := range c.InstanceTypes {
		c.InstanceTypes[k].Offerings = slices.Clone(c.InstanceTypes[k].Offerings)
		for i := range c.InstanceTypes[k].Offerings {
			c.InstanceTypes[k].Offerings[i].Available = true
		}
	}
	p.Catalogue = c
}

// someWorld has one shape of pods that hardly any pool or node can have.
func someWorld(r *rand.Rand) *cluster.Snapshot {
	s := &cluster.Snapshot{Revision: 1, Now: time.Unix(1e9, 0)}
	shape := someShape(r)
	for i := range 1 + r.IntN(3) {
		s.Waiting = append(s.Waiting, cluster.Pod{Namespace: "d", Name: fmt.Sprintf("p%d", i), Shape: shape, CreatedAt: s.Now})
	}
	for i := range r.IntN(5) {
		s.Pools = append(s.Pools, somePool(r, fmt.Sprintf("pool%d", i)))
	}
	for i := range r.IntN(3) {
		n := cluster.Node{Name: fmt.Sprintf("n%d", i), Claim: fmt.Sprint(i), Ready: true, Initialized: true,
			Labels:      constraint.NewLabels(map[string]string{cluster.LabelZone: zone(r), cluster.LabelArch: "amd64"}),
			Allocatable: quantity.Resources{CPU: quantity.MilliCPU(r.IntN(3000)), Memory: quantity.GiB, Pods: int64(r.IntN(3))}}
		if r.IntN(2) == 0 {
			n.Taints = someTaints(r)
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.Sort()
	return s
}

func zone(r *rand.Rand) string { return string(rune('a' + r.IntN(4))) }

func someTaints(r *rand.Rand) []constraint.Taint {
	out := []constraint.Taint{{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}}
	if r.IntN(2) == 0 {
		out = append(out, constraint.Taint{Key: "gpu", Effect: constraint.NoExecute})
	}
	return out
}

func someShape(r *rand.Rand) *cluster.Shape {
	s := &cluster.Shape{Namespace: "d", Requests: quantity.Resources{CPU: quantity.MilliCPU(100 + r.IntN(12000)), Memory: quantity.Bytes(r.IntN(40)) * quantity.GiB, Pods: 1}}
	if r.IntN(4) == 0 {
		s.Requests = s.Requests.With("nvidia.com/gpu", int64(1+r.IntN(3)))
	}
	for range r.IntN(3) {
		var term constraint.Requirements
		for _, key := range []string{cluster.LabelZone, cluster.LabelArch, "team", "karpenter.sh/nodepool", "example/family"} {
			if r.IntN(3) == 0 {
				term = term.And(constraint.Requirement{Key: key, Set: constraint.Values(map[string][]string{
					cluster.LabelZone: {zone(r), zone(r)}, cluster.LabelArch: {[]string{"amd64", "arm64"}[r.IntN(2)]}, "team": {"a"},
					"karpenter.sh/nodepool": {fmt.Sprintf("pool%d", r.IntN(4)), "pool1"}, "example/family": {[]string{"c", "x"}[r.IntN(2)]}}[key]...)})
			}
		}
		s.NodeTerms = append(s.NodeTerms, term)
	}
	if r.IntN(2) == 0 {
		s.Tolerations = []constraint.Toleration{{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}}
	}
	return s
}

func somePool(r *rand.Rand, name string) cluster.Pool {
	p := cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: name}, Weight: r.IntN(2), Labels: constraint.NewLabels(map[string]string{"karpenter.sh/nodepool": name}),
		Catalogue: someCatalogue(r)}
	if r.IntN(2) == 0 {
		p.Labels = p.Labels.With("team", []string{"a", "b"}[r.IntN(2)])
	}
	if r.IntN(3) == 0 {
		p.Taints = someTaints(r)
	}
	if r.IntN(3) == 0 {
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("a", "b")})
	}
	if r.IntN(3) == 0 {
		any, _ := constraint.NewSet(constraint.Exists)
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: any, MinValues: 1 + r.IntN(4)})
	}
	if r.IntN(2) == 0 {
		p.Limits.Amounts = []quantity.Extended{{Name: quantity.NameCPU, Amount: int64(r.IntN(10000))}, {Name: quantity.NameMemory, Amount: int64(r.IntN(50)) * int64(quantity.GiB)}}
		p.Used.Capacity = quantity.Resources{CPU: quantity.MilliCPU(r.IntN(5000))}
	}
	if n := int64(r.IntN(2)); r.IntN(4) == 0 {
		p.Limits.Nodes, p.Used.Nodes = &n, 1
	}
	return p
}

func someCatalogue(r *rand.Rand) *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: 1}
	for i := range 2 + r.IntN(4) {
		size := 1 << r.IntN(4)
		k := cluster.InstanceType{Name: fmt.Sprintf("k%d", i), Capacity: quantity.Resources{CPU: quantity.MilliCPU(size * 1000), Memory: quantity.Bytes(size*4) * quantity.GiB, Pods: 20}}
		if r.IntN(4) == 0 {
			k.Capacity = k.Capacity.With("nvidia.com/gpu", 1)
		}
		k.Allocatable = k.Capacity
		k.Labels = constraint.NewLabels(map[string]string{cluster.LabelInstanceType: k.Name, cluster.LabelArch: []string{"amd64", "arm64"}[r.IntN(2)], "example/family": []string{"c", "m"}[r.IntN(2)]})
		for z := range 1 + r.IntN(3) {
			zone := string(rune('a' + z))
			k.Offerings = append(k.Offerings, cluster.Offering{Zone: zone, Option: cluster.OnDemand, Price: quantity.MicroUSDPerHour(size * 1000), Priced: true, Available: r.IntN(3) > 0,
				Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: "on-demand"})})
		}
		out.InstanceTypes = append(out.InstanceTypes, k)
	}
	return out
}

// TestReasonsAreShort: whatever the world is like, there is a reason, and one
// that an event can hold.
func TestReasonsAreShort(t *testing.T) {
	for seed := range uint64(worldsTried) {
		s := someWorld(rand.New(rand.NewPCG(seed, 2)))
		for _, u := range Place(s, Options{}).Unplaced {
			if why := u.Why(); why == "" || len(why) > 1024 || strings.Contains(why, "\n") {
				t.Fatalf("seed %d: the reason is %q (%d bytes)", seed, why, len(why))
			}
		}
	}
}
