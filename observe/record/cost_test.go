package record_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/record"
)

// What is carried out says what the cluster cost before and costs after it: a launch adds its price, and each node that
// goes takes away its own, whatever the move saves that it is part of.
func TestWhatIsCarriedOutSaysWhatTheClusterCosts(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	clerk := &record.Clerk{Record: &record.Record{}, Now: func() time.Time { return now }}
	pool := cluster.PoolID{Kind: "NodePool", Name: "default"}
	s := &cluster.Snapshot{Pools: []cluster.Pool{{ID: pool, InstanceCost: 4_000}}, Nodes: []cluster.Node{
		{Name: "n1", Pool: pool, Price: 246_000}, {Name: "n2", Pool: pool, Price: 96_000}, {Name: "n3", Pool: pool}}}
	clerk.Planned(s, plan.Plan{CostBefore: 1_000_000}, 0)
	clerk.Launched([]apply.Launched{{
		Launch: plan.Launch{Name: "new-1", Choice: plan.Choice{Price: 96_000, Beside: 4_000, Priced: true}},
		Claim:  &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}},
	}})
	for _, node := range []string{"n1", "n2", "n3", "n4"} {
		clerk.Moved(apply.Ended{
			Move: plan.Move{Removals: []plan.Removal{{Node: node, Claim: node, Reason: plan.Empty}}, Saves: 350_000},
			Gone: []bool{true},
		})
	}
	for about, want := range map[record.Object]*record.Costs{
		{Kind: record.Claim, Name: "web-1"}: {Before: 1, After: 1.1},
		{Kind: record.Node, Name: "n1"}:     {Before: 1, After: 0.75},
		{Kind: record.Node, Name: "n2"}:     {Before: 1, After: 0.9},
		{Kind: record.Node, Name: "n3"}:     nil, // its price is not known
		{Kind: record.Node, Name: "n4"}:     nil, // it had gone before the plan
	} {
		list := clerk.Record.About(about)
		if len(list) != 1 || (list[0].Cost == nil) != (want == nil) || want != nil && *list[0].Cost != *want {
			t.Errorf("%s: %+v, want costs %+v", about, list, want)
		}
	}
}
