package apply

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

// SC-649: What a pool says of its minimum by now, and which of its nodes are on demand by now, is looked at once more
// before a node goes.
func TestTheMinimumOfOnDemandNodesIsLookedAtOnceMore(t *testing.T) {
	id, on, spot := translate.NodePools().ID("default"), cluster.OnDemand, cluster.Spot
	comes := func(option cluster.Option) unit {
		return unit{Move: plan.Move{Launches: []plan.Launch{{Pool: id, Requirements: constraint.NewRequirements(
			constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(string(option))})}}}}
	}
	has := func(options ...cluster.Option) []cluster.Option { return options }
	came := unit{ordered: true, claims: []string{"c1"}}
	for name, tt := range map[string]struct {
		least  string
		reason plan.RemovalReason
		nodes  []cluster.Option // of which the first goes
		unit   unit
		goes   bool
	}{
		"no minimum":                       {"", plan.Empty, has(on, spot), unit{}, true},
		"enough are left":                  {"1", plan.Empty, has(on, on, spot), unit{}, true},
		"by now too few would be":          {"2", plan.Empty, has(on, on, spot), unit{}, false},
		"a share":                          {"50%", plan.Underutilized, has(on, spot), unit{}, false},
		"too few are there as it is":       {"3", plan.Underutilized, has(on, on, spot), unit{}, false},
		"a spot node":                      {"2", plan.Underutilized, has(spot, on), unit{}, true},
		"it cannot be read":                {"many", plan.Empty, has(on, on), unit{}, false},
		"another is to come":               {"1", plan.Drifted, has(on, spot), comes(on), true},
		"a spot instance is to come":       {"1", plan.Drifted, has(on, spot), comes(spot), false},
		"another has come":                 {"2", plan.Drifted, has(on, on, spot), came, true},
		"a spot instance has come":         {"1", plan.Drifted, has(on, spot), came, false},
		"a surplus node":                   {"1", plan.Overprovisioned, has(on, spot), unit{}, false},
		"a surplus node, enough are left":  {"1", plan.Overprovisioned, has(on, on, spot), unit{}, true},
		"a surplus node, spot is the rest": {"1", plan.Overprovisioned, has(spot, on), unit{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &livePool{at: time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC), byClaim: map[string]int{}}
			p.object.ID = id
			p.object.Disruption = karpv1.Disruption{Budgets: []karpv1.Budget{{Nodes: "100%"}}}
			if tt.least != "" {
				p.object.Annotations = map[string]string{api.AnnotationOnDemandMinimum: tt.least}
			}
			if tt.reason == plan.Overprovisioned {
				p.object.Replicas = new(int64(1))
			}
			for i, option := range tt.nodes {
				n := cluster.Node{Name: fmt.Sprintf("n%d", i), Claim: fmt.Sprintf("c%d", i), Pool: id,
					Ready: true, Initialized: true,
					Labels: constraint.NewLabels(map[string]string{cluster.LabelCapacityType: string(option)})}
				p.byClaim[n.Claim], p.nodes = i, append(p.nodes, n)
			}
			tt.unit.Removals = []plan.Removal{{Node: "n0", Claim: "c0", Pool: id, Reason: tt.reason}}
			err := p.take(&request{Removal: tt.unit.Removals[0], unit: &tt.unit})
			if (err == nil) != tt.goes || err != nil && !errors.Is(err, ErrChanged) {
				t.Errorf("the answer is %v; want it to go: %v", err, tt.goes)
			}
		})
	}
}

// An instance that is yet to be launched may turn out to be unavailable, so that no on-demand node goes for it before.
func TestAnOnDemandNodeWaitsForAnInstanceToBeLaunched(t *testing.T) {
	y, ctx := newYard(t, 2), context.Background()
	edited(y, "", "default", &karpv1.NodePool{}, func(p *karpv1.NodePool) {
		p.Annotations = map[string]string{api.AnnotationOnDemandMinimum: "1"}
	})
	for name, option := range map[string]string{"n-0": "on-demand", "n-1": "spot"} {
		edited(y, "", name, &corev1.Node{}, func(n *corev1.Node) { n.Labels[api.LabelCapacityType] = option })
	}
	comes := &karpv1.NodeClaim{Spec: store.ClaimSpec()}
	comes.Name, comes.Labels = "comes", map[string]string{api.LabelNodePool: "default"}
	y.create(comes)
	id := translate.NodePools().ID("default")
	u := &unit{Move: plan.Move{Removals: []plan.Removal{{Node: "n-0", Claim: "old-0", Pool: id, Reason: plan.Empty}}}}
	goes := func() bool {
		p, err := y.applier(nil).readPool(ctx, id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.take(&request{Removal: u.Removals[0], unit: u}) == nil
	}
	if goes() {
		t.Error("the only on-demand node goes while another waits to be launched")
	}
	edited(y, "", "comes", comes, func(c *karpv1.NodeClaim) { c.Labels[api.LabelCapacityType] = "on-demand" })
	y.status(comes, func() { comes.Status.ProviderID = "aws:///a/i-comes" })
	if !goes() {
		t.Error("it stays once the other one is launched")
	}
}

// A pool that is being deleted keeps no minimum.
func TestNodesOfADeletedPoolGoWhateverItsMinimum(t *testing.T) {
	id := translate.NodePools().ID("default")
	for notReady, goes := range map[string]bool{cluster.PoolDeleting: true, "": false} {
		p := mixed(id)
		p.object.NotReady = notReady
		u := &unit{Move: plan.Move{Removals: []plan.Removal{{Node: "n0", Claim: "c0", Pool: id, Reason: plan.Drifted}}}}
		if err := p.take(&request{Removal: u.Removals[0], unit: u}); (err == nil) != goes {
			t.Errorf("not ready since %q, the answer is %v; want it to go: %v", notReady, err, goes)
		}
	}
}

// mixed is a pool with a minimum of one, an on-demand node n0 and a spot node.
func mixed(id cluster.PoolID) *livePool {
	p := &livePool{byClaim: map[string]int{"c0": 0}, nodes: []cluster.Node{
		{Name: "n0", Claim: "c0", Pool: id, Ready: true, Initialized: true,
			Labels: constraint.NewLabels(map[string]string{cluster.LabelCapacityType: string(cluster.OnDemand)})},
		{Name: "n1", Claim: "c1", Pool: id, Ready: true, Initialized: true}}}
	p.object.ID = id
	p.object.Disruption = karpv1.Disruption{Budgets: []karpv1.Budget{{Nodes: "100%"}}}
	p.object.Annotations = map[string]string{api.AnnotationOnDemandMinimum: "1"}
	return p
}

// A drifted node goes before the instance in its place comes as long as its pool says so, whatever its minimum.
func TestADriftedNodeGoesFirstWhateverTheMinimum(t *testing.T) {
	id := translate.NodePools().ID("default")
	for first, goes := range map[string]bool{api.DeleteFirst: true, "": false} {
		p := mixed(id)
		if first != "" {
			p.object.Annotations[api.AnnotationDriftAtLimit] = first
		}
		u := &unit{Move: plan.Move{Removals: []plan.Removal{{Node: "n0", Claim: "c0", Pool: id, Reason: plan.Drifted}}}}
		if err := p.take(&request{Removal: u.Removals[0], unit: u}); (err == nil) != goes {
			t.Errorf("with %q the answer is %v; want it to go: %v", first, err, goes)
		}
	}
}
