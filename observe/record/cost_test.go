package record_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/record"
)

// What is carried out says what the cluster cost before and costs after it: a launch adds its price, and a move takes away
// what it saves.
func TestWhatIsCarriedOutSaysWhatTheClusterCosts(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	clerk := &record.Clerk{Record: &record.Record{}, Now: func() time.Time { return now }}
	clerk.Planned(nil, plan.Plan{CostBefore: 1_000_000}, 0)
	clerk.Launched([]apply.Launched{{
		Launch: plan.Launch{Name: "new-1", Choice: plan.Choice{Price: 96_000, Beside: 4_000, Priced: true}},
		Claim:  &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}},
	}})
	clerk.Moved(apply.Ended{
		Move: plan.Move{Removals: []plan.Removal{{Node: "n1", Claim: "old-1", Reason: plan.Empty}},
			Saves: 250_000}, Gone: []bool{true},
	})
	for about, want := range map[record.Object]record.Costs{
		{Kind: record.Claim, Name: "web-1"}: {Before: 1, After: 1.1},
		{Kind: record.Node, Name: "n1"}:     {Before: 1, After: 0.75},
	} {
		if list := clerk.Record.About(about); len(list) != 1 || list[0].Cost == nil || *list[0].Cost != want {
			t.Errorf("%s: %+v, want costs %+v", about, list, want)
		}
	}
}
