package bench_test

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

func labels(list ...string) constraint.Labels {
	m := map[string]string{}
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return constraint.NewLabels(m)
}

// chosen chooses the pods labelled app=web.
var chosen = cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values("web")})}

func neighbours(apart bool, key string) []cluster.Neighbours {
	return []cluster.Neighbours{{Apart: apart, Key: key, Selector: chosen, Namespaces: []string{"default"}}}
}

func spread(key string) []cluster.Spread {
	return []cluster.Spread{{Key: key, MaxSkew: 1, Selector: chosen}}
}

// nodesOfThreeZones returns four nodes with room for three pods each: two in
// zone a, one each in b and c. The first runs a pod labelled app=web.
func nodesOfThreeZones(running *cluster.Shape) []cluster.Node {
	var out []cluster.Node
	for i, zone := range []string{"a", "a", "b", "c"} {
		name := "node-" + string(rune('0'+i))
		amounts := quantity.Resources{CPU: 3000, Memory: 3 * quantity.GiB, Pods: 3}
		out = append(out, cluster.Node{Name: name, Ready: true, Initialized: true, Allocatable: amounts, Capacity: amounts,
			Labels: labels(cluster.LabelZone, zone, cluster.LabelHostname, name)})
	}
	out[0].Pods = []cluster.Pod{{Namespace: "default", Name: "old", Shape: running, Node: "node-0"}}
	out[3].Taints = []constraint.Taint{{Key: "dedicated", Value: "db", Effect: constraint.NoSchedule}}
	return out
}

// TestVerifyCountsForItself puts pods labelled app=web on nodes by hand, in
// order, beside one that runs on node-0 in zone a.
func TestVerifyCountsForItself(t *testing.T) {
	tests := map[string]struct {
		edit    func(waiting, running *cluster.Shape)
		targets string // the last digit of the node, pod by pod; "-" for unplaced
		want    string // empty: accepted
	}{
		"pods without rules":                     {nil, "0012", ""},
		"a pod too many for the room":            {nil, "000", "no room: cpu"},
		"a pod that is left out":                 {nil, "01-", ""},
		"a taint":                                {nil, "3", "taint dedicated=db:NoSchedule is not tolerated"},
		"a node that does not exist":             {nil, "9", "is not there"},
		"a zone that the pod does not want":      {wants(cluster.LabelZone, "b"), "21", "does not want"},
		"hosts apart":                            {apart(cluster.LabelHostname), "12", ""},
		"a host beside one that runs":            {apart(cluster.LabelHostname), "0", "1 pods are there"},
		"a host beside one placed before":        {apart(cluster.LabelHostname), "112", "1 pods are there"},
		"zones apart":                            {apart(cluster.LabelZone), "2", ""},
		"a zone beside one that runs":            {apart(cluster.LabelZone), "1", "1 pods are there that it must be apart from by topology"},
		"a running pod that keeps others away":   {keptAway, "1", "1 pods are there"},
		"near one that runs, by zone":            {near("web", cluster.LabelZone), "101", ""},
		"far from the one that runs":             {near("web", cluster.LabelZone), "2", "there is no pod that"},
		"near itself where nobody is":            {near("db", cluster.LabelZone), "22", ""},
		"near itself, in two zones":              {near("db", cluster.LabelZone), "21", "there is no pod that"},
		"zones in turn":                          {spreads(cluster.LabelZone, nil), "21", "skew by topology.kubernetes.io/zone would be 2"},
		"zones in turn, a tainted one left out":  {spreads(cluster.LabelZone, honour), "2121", ""},
		"zones in turn, in the wrong order":      {spreads(cluster.LabelZone, honour), "112", "skew"},
		"hosts in turn, a tainted one left out":  {spreads(cluster.LabelHostname, honour), "12012", ""},
		"hosts in turn, one of them twice":       {spreads(cluster.LabelHostname, honour), "11", "skew by kubernetes.io/hostname would be 2"},
		"fewer zones than the least there is to": {spreads(cluster.LabelZone, func(x *cluster.Spread) { honour(x); x.MinDomains = 3 }), "21", "skew"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			size := quantity.Resources{CPU: 1000, Memory: quantity.GiB, Pods: 1}
			running := &cluster.Shape{Namespace: "default", Labels: labels("app", "web"), Requests: size}
			waiting := &cluster.Shape{Namespace: "default", Labels: labels("app", "web"), Requests: size}
			if tt.edit != nil {
				tt.edit(waiting, running)
			}
			s := &cluster.Snapshot{Nodes: nodesOfThreeZones(running)}
			p := plan.Plan{}
			for i, target := range tt.targets {
				pod := cluster.Pod{Namespace: "default", Name: "pod-" + string(rune('a'+i)), Shape: waiting}
				s.Waiting = append(s.Waiting, pod)
				if target == '-' {
					p.Unplaced = append(p.Unplaced, plan.Unplaced{Shape: waiting, Pods: []cluster.Pod{pod}})
					continue
				}
				p.Placements = append(p.Placements, plan.Placement{Pod: pod, On: plan.OnNode, Target: "node-" + string(target)})
			}
			err := bench.Verify(s, &p)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Verify of pods on %s = %v; want %q", tt.targets, err, tt.want)
			}
		})
	}
}

func wants(key, value string) func(_, _ *cluster.Shape) {
	return func(waiting, _ *cluster.Shape) {
		waiting.NodeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(value)})}
	}
}

func apart(key string) func(_, _ *cluster.Shape) {
	return func(waiting, _ *cluster.Shape) { waiting.Neighbours = neighbours(true, key) }
}

// keptAway makes the pod that runs ask to be apart by zone.
func keptAway(_, running *cluster.Shape) { running.Neighbours = neighbours(true, cluster.LabelZone) }

// near makes pods want to be near others of their own label; the pod that runs
// is always labelled web.
func near(app, key string) func(_, _ *cluster.Shape) {
	return func(waiting, _ *cluster.Shape) {
		waiting.Labels = labels("app", app)
		waiting.Neighbours = neighbours(false, key)
		waiting.Neighbours[0].Selector = cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(app)})}
	}
}

func spreads(key string, edit func(*cluster.Spread)) func(_, _ *cluster.Shape) {
	return func(waiting, _ *cluster.Shape) {
		waiting.Spread = spread(key)
		if edit != nil {
			edit(&waiting.Spread[0])
		}
	}
}

func honour(x *cluster.Spread) { x.HonourTaints = true }

// TestVerifyRefusesWhatIsNotSo takes plans that are right and breaks them.
func TestVerifyRefusesWhatIsNotSo(t *testing.T) {
	tests := map[string]struct {
		edit func(*plan.Plan)
		want string
	}{
		"a plan as it was made":       {func(*plan.Plan) {}, ""},
		"a pod placed twice":          {func(p *plan.Plan) { p.Placements[1].Pod = p.Placements[0].Pod }, "it is placed on"},
		"a pod forgotten":             {func(p *plan.Plan) { p.Placements = p.Placements[1:] }, "which is not placed there"},
		"a pod on another machine":    {func(p *plan.Plan) { p.Launches[1].Pods = append(p.Launches[1].Pods, p.Launches[0].Pods[0]) }, "which is not placed there"},
		"a choice that is not listed": {func(p *plan.Plan) { p.Launches[0].Choice.Kind = "none" }, "not among the types"},
		"a zone that is not listed":   {func(p *plan.Plan) { p.Launches[0].Choice.Zone = "none" }, "not among the zones"},
		"a pool that is not there":    {func(p *plan.Plan) { p.Launches[0].Pool.Name = "none" }, "is not known"},
		"a type that is too small": {func(p *plan.Plan) {
			l := &p.Launches[0]
			l.Choice.Kind = "type-001"
			l.Requirements = constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values("type-001")})
		}, "no room"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, _, err := bench.Snapshot(bench.Options{Mix: "diverse", Pods: 60, Seed: 4})
			if err != nil {
				t.Fatal(err)
			}
			p := decide.Decide(s, decide.Policy{}, decide.Quick())
			tt.edit(&p)
			if err := bench.Verify(s, &p); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Verify = %v; want %q", err, tt.want)
			}
		})
	}
}
