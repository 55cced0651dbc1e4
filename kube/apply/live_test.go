package apply

import (
	"errors"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Gracefully, old nodes go within the budget of drifted ones.
func TestOldNodesGoWithinTheBudgetForDrift(t *testing.T) {
	now := time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC)
	id := cluster.PoolID{Kind: translate.KindProvisioner, Name: "default"}
	for budget, want := range map[string]bool{"0": false, "1": true} {
		p := &livePool{at: now, nodes: []cluster.Node{{Name: "n", Claim: "c", Pool: id, Ready: true}}, byClaim: map[string]int{"c": 0}}
		p.object.ID, p.object.Renew = id, time.Hour
		p.object.Disruption.Budgets = []karpv1.Budget{{Nodes: "0", Reasons: []karpv1.DisruptionReason{karpv1.ReasonEmpty}}, {Nodes: budget, Reasons: []karpv1.DisruptionReason{karpv1.ReasonDrifted}}}
		if err := p.take(&request{Removal: plan.Removal{Node: "n", Claim: "c", Pool: id, Reason: plan.Expired}}); (err == nil) != want {
			t.Errorf("with a budget of %s it was told %v", budget, err)
		}
	}
}

// What a Provisioner and its nodes say once more before one of them goes.
func TestNodesOfAProvisionerAreLookedAtOnceMore(t *testing.T) {
	now := time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC)
	aged := func(by time.Duration) cluster.Node { return cluster.Node{CreatedAt: now.Add(-by)} }
	id := cluster.PoolID{Kind: translate.KindProvisioner, Name: "default"}
	tests := map[string]struct {
		reason plan.RemovalReason
		policy karpv1.ConsolidationPolicy
		node   cluster.Node
		goes   bool
	}{
		"a node is consolidated":                            {plan.Underutilized, karpv1.ConsolidateWhenEmptyOrUnderutilized, cluster.Node{}, true},
		"it is not to be by now":                            {plan.Underutilized, karpv1.ConsolidateWhenEmptyOrUnderutilized, cluster.Node{DoNotConsolidate: true}, false},
		"nor where it is empty":                             {plan.Empty, karpv1.ConsolidateWhenEmptyOrUnderutilized, cluster.Node{DoNotConsolidate: true}, false},
		"but after the time for which empty nodes are kept": {plan.Empty, karpv1.ConsolidateWhenEmpty, cluster.Node{DoNotConsolidate: true}, true},
		"one is as old as the Provisioner has nodes become": {plan.Expired, karpv1.ConsolidateWhenEmpty, aged(time.Hour), true},
		"one is not, since it may become older by now":      {plan.Expired, karpv1.ConsolidateWhenEmpty, aged(time.Hour - time.Second), false},
		"and where it has drifted":                          {plan.Drifted, karpv1.ConsolidateWhenEmptyOrUnderutilized, cluster.Node{DoNotConsolidate: true}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.node.Name, tt.node.Claim, tt.node.Pool, tt.node.Ready = "n", "c", id, true
			p := &livePool{at: now, nodes: []cluster.Node{tt.node}, byClaim: map[string]int{"c": 0}}
			p.object.ID, p.object.Renew = id, time.Hour
			p.object.Disruption = karpv1.Disruption{ConsolidationPolicy: tt.policy, Budgets: []karpv1.Budget{{Nodes: "1"}}}
			err := p.take(&request{Removal: plan.Removal{Node: "n", Claim: "c", Pool: id, Reason: tt.reason}})
			if (err == nil) != tt.goes || err != nil && !errors.Is(err, ErrChanged) {
				t.Errorf("it was told %v; want it to go: %v", err, tt.goes)
			}
		})
	}
}
