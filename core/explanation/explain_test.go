package explanation_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/explanation"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/topology"
)

// nothing is what a search found out that found no place at all.
type nothing struct{ torn *explanation.Torn }

func (nothing) OfferingSets() []topology.Spot { return nil }
func (nothing) Launchable() []topology.Spot   { return nil }
func (nothing) Roomy() []topology.Spot        { return nil }

func (n nothing) Torn() (explanation.Torn, bool) {
	if n.torn == nil {
		return explanation.Torn{}, false
	}
	return *n.torn, true
}

var resources = []string{quantity.NameCPU, quantity.NameMemory}

// world has the pools and nodes, and no rule that examines other pods.
func world(pools []cluster.Pool, nodes ...cluster.Node) *explanation.World {
	s := &cluster.Snapshot{Pools: pools, Nodes: nodes}
	out := &explanation.World{Snapshot: s, Board: topology.NewBoard(), Placed: iter.Seq[explanation.Placed](func(func(explanation.Placed) bool) {}), Resources: resources}
	for _, n := range nodes {
		out.Targets = append(out.Targets, explanation.Target{Name: n.Name, Node: true, Free: []int64{50, int64(quantity.GiB)}})
	}
	for _, p := range feasibility.ForPools(s.Pools, nil) {
		out.Pools = append(out.Pools, explanation.Pool{Pool: p,
			TooFew: func(bitset.Set) feasibility.Changes { return nil },
		})
	}
	return out
}

// pool has instance types of four cores.
func pool(name string, taints ...constraint.Taint) cluster.Pool {
	size := quantity.Resources{CPU: 4000, Memory: 16 * quantity.GiB, Pods: 20}
	instanceType := cluster.InstanceType{Name: "m.xlarge", Capacity: size, Allocatable: size,
		Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand, Price: 1000, Priced: true, Available: true}}}
	return cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: name}, Taints: taints,
		Labels:    constraint.NewLabels(map[string]string{"karpenter.sh/nodepool": name}),
		Catalogue: &cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{instanceType}}}
}

func asks(cpu quantity.MilliCPU) *cluster.Shape {
	return &cluster.Shape{Namespace: "d", Requests: quantity.Resources{CPU: cpu, Memory: quantity.GiB, Pods: 1}}
}

func wants(key string, values ...string) *cluster.Shape {
	out := asks(100)
	out.NodeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(values...)})}
	return out
}

func without(key string) *cluster.Shape {
	out := asks(100)
	none, _ := constraint.NewSet(constraint.DoesNotExist)
	out.NodeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: key, Set: none})}
	return out
}

func TestReasons(t *testing.T) {
	db := constraint.Taint{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}
	claimed := asks(100)
	claimed.Volumes = []cluster.Volume{{Claim: "d/data", Exclusive: true}}
	user := cluster.Node{Name: "n", Pods: []cluster.Pod{{Namespace: "d", Name: "first", Shape: claimed}}}
	held := world([]cluster.Pool{pool("a")}, user)
	held.Held = map[string]bool{"d/data": true}
	tired := world([]cluster.Pool{pool("a")})
	tired.Exhausted = true
	torn := &explanation.Torn{Pods: 3, Others: []string{"d/y", "d/z"}, Need: []int64{5000, 0}, Largest: "m.xlarge", Has: []int64{4000, 0}}
	limited := &explanation.Torn{Pods: 2, Others: []string{"d/y"}, Need: []int64{3000, int64(quantity.GiB)}, Has: []int64{4000, int64(16 * quantity.GiB)}, Limits: true}
	few := *limited
	few.TooFew = "minValues of size is 2, and only one value has room"

	tests := map[string]struct {
		world *explanation.World
		shape *cluster.Shape
		torn  *explanation.Torn
		want  string
	}{
		"neither pool nor node":         {world(nil), asks(100), nil, "no pool exists, and there is no node"},
		"no pool, and a node too small": {world(nil, cluster.Node{Name: "n", Ready: true, Initialized: true}), asks(100), nil, "the nearest node is n: " + feasibility.Missing(quantity.NameCPU, 100, 50).Text},
		"a rule that nobody can keep":   {world(nil), &cluster.Shape{Unable: "it asks for what is not there"}, nil, "it asks for what is not there"},
		"nodes chosen by name":          {world([]cluster.Pool{pool("a")}), wants(cluster.LabelHostname, "n7"), nil, "nodes of certain names alone"},
		"nodes outside every pool": {world([]cluster.Pool{pool("a")}, cluster.Node{Name: "n", Ready: true, Initialized: true}), without("karpenter.sh/nodepool"), nil,
			plan.Outside + " (karpenter.sh/nodepool doesnotexist), so nothing is launched for it; the nearest node is n: " + feasibility.Missing(quantity.NameCPU, 100, 50).Text},
		"the label of Provisioners": {world([]cluster.Pool{pool("a"), pool("c12")}), wants("karpenter.sh/provisioner-name", "c12"), nil,
			"it asks for karpenter.sh/provisioner-name=c12, the label of Provisioners, and there is none: nodes of NodePools have karpenter.sh/nodepool, so select karpenter.sh/nodepool=c12"},
		"a pool's name misspelt":           {world([]cluster.Pool{pool("batch")}), wants("karpenter.sh/nodepool", "bacth"), nil, "did you mean batch?"},
		"too large for any machine":        {world([]cluster.Pool{pool("a")}), asks(9000), nil, "NodePool/a: no type has room for cpu 9 (most: 4)"},
		"the pool with fewer changes":      {world([]cluster.Pool{pool("b", db), pool("a")}), asks(9000), nil, "NodePool/a: no type has room"},
		"a claim for one pod":              {held, claimed, nil, "ReadWriteOncePod and d/first uses it"},
		"no effort left":                   {tired, asks(100), nil, "the effort for this plan was used up"},
		"together too large for a host":    {world([]cluster.Pool{pool("a")}), asks(100), torn, "share a host with 2 pods (d/y, d/z): together they need cpu 5, and the largest instance type for them, m.xlarge, has cpu 4"},
		"together too large for a limit":   {world([]cluster.Pool{pool("a")}), asks(100), limited, "with d/y: together they need cpu 3 and memory 1Gi, and the limits of the pools"},
		"together too large for minValues": {world([]cluster.Pool{pool("a")}), asks(100), &few, "together they need cpu 3 and memory 1Gi, and for that minValues of size is 2"},
		"everything fits, rules of others": {world([]cluster.Pool{pool("a")}), asks(100), nil, "no place keeps the rules of all pods in this plan"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := fmt.Sprint(tt.world.Reasons([]explanation.Pods{{Shape: tt.shape, Need: []int64{int64(tt.shape.Requests.CPU), 0}, Rules: &topology.Rules{}, Search: nothing{tt.torn}}}))
			if !strings.Contains(got, tt.want) {
				t.Errorf("Reasons() = %s, want %q in it", got, tt.want)
			}
		})
	}
}

// A reason names the rule that is hardest to satisfy, where there is one.
func TestReasonsNameTheirRule(t *testing.T) {
	torn := &explanation.Torn{Pods: 3, Others: []string{"d/y", "d/z"}, Need: []int64{5000, 0}, Largest: "m.xlarge", Has: []int64{4000, 0}}
	limited := world([]cluster.Pool{pool("a")})
	limited.Pools[0].TooFew = func(bitset.Set) feasibility.Changes {
		return feasibility.Changes{feasibility.NewChange(feasibility.Limit, "cpu", 1, "limit"), feasibility.NewChange(feasibility.MinValues, "size", 1, "minValues")}
	}
	db := constraint.Taint{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}
	tests := map[string]struct {
		world *explanation.World
		shape *cluster.Shape
		torn  *explanation.Torn
		want  feasibility.Rule
	}{
		"unable":        {world(nil), &cluster.Shape{Unable: "it asks for what is not there"}, nil, feasibility.Unable},
		"a host name":   {world([]cluster.Pool{pool("a")}), wants(cluster.LabelHostname, "n7"), nil, feasibility.Label},
		"a misspelling": {world([]cluster.Pool{pool("batch")}), wants("karpenter.sh/nodepool", "bacth"), nil, feasibility.Label},
		"another name":  {world([]cluster.Pool{pool("batch")}), wants("karpenter.sh/nodepool", "nothing-like-it"), nil, feasibility.Label},
		"too large":     {world([]cluster.Pool{pool("a")}), asks(9000), nil, feasibility.Resource},
		"a taint":       {world([]cluster.Pool{pool("b", db)}), asks(100), nil, feasibility.Taint},
		"of two":        {limited, asks(100), nil, feasibility.MinValues},
		"one host":      {world([]cluster.Pool{pool("a")}), asks(100), torn, feasibility.Topology},
		"no pool":       {world(nil), asks(100), nil, feasibility.Yes},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.world.Reasons([]explanation.Pods{{Shape: tt.shape, Need: []int64{int64(tt.shape.Requests.CPU), 0}, Rules: &topology.Rules{}, Search: nothing{tt.torn}}})[0][0]
			if got.Rule != string(tt.want) {
				t.Errorf("rule %q of %q, want %q", got.Rule, got.Text, tt.want)
			}
		})
	}
}

// Pools far away are summed up, and how many they are is not what the reasons are about.
func TestWhatIsSummedUpIsNoTopic(t *testing.T) {
	reasons := func(pools int) plan.Unplaced {
		var all []cluster.Pool
		for i := range pools {
			all = append(all, pool(fmt.Sprintf("p%02d", i)))
		}
		u := plan.Unplaced{}
		u.Reasons = world(all).Reasons([]explanation.Pods{{Shape: asks(9000), Need: []int64{9000, 0}, Rules: &topology.Rules{}, Search: nothing{}}})[0]
		return u
	}
	ten, eleven := reasons(10), reasons(11)
	if !strings.Contains(ten.Why(), "2 more pools need more changes") || !strings.Contains(eleven.Why(), "3 more pools need more changes") {
		t.Fatalf("reasons are %q and %q, want further pools in both", ten.Why(), eleven.Why())
	}
	if ten.Topic() != eleven.Topic() || !strings.Contains(ten.Topic(), "no type has room") {
		t.Errorf("topics are %q and %q, want the same, of the near pools", ten.Topic(), eleven.Topic())
	}
}

// A caller that asks for very many gets an answer for each, and the work is bounded.
func TestReasonsForVeryMany(t *testing.T) {
	list := slices.Repeat([]explanation.Pods{{Shape: asks(9000), Need: []int64{9000, 0}, Rules: &topology.Rules{}, Search: nothing{}}}, 201)
	got := world([]cluster.Pool{pool("a")}).Reasons(list)
	if len(got) != 201 || !strings.Contains(got[199][0].Text, "no type has room") || !strings.Contains(got[200][0].Text, "200 pod groups at a time") {
		t.Errorf("Reasons() of 201 = %d reasons, then %v and %v", len(got), got[len(got)-2], got[len(got)-1])
	}
}
