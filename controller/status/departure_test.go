package status

import (
	"fmt"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
)

func TestHowFarADeletedPoolIs(t *testing.T) {
	const (
		begin = "snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web\n  allow 1 note=\"budget nodes: 1\"\n"
		a     = "node a claim=a-c pool=NodePool/web ready initialized drifted=NodePoolDeleted\n"
		b     = "node b claim=b-c pool=NodePool/web ready initialized drifted=NodePoolDeleted\n"
		going = "node c claim=c-c pool=NodePool/web ready initialized deleting drifted=NodePoolDeleted\n"
		ends  = "node d claim=d-c pool=NodePool/web ready initialized deleting machine-ends drifted=NodePoolDeleted\n"
		fresh = "node e claim=e-c pool=NodePool/web ready drifted=NodePoolDeleted\n"
		other = "node f claim=f-c pool=NodePool/other ready initialized\n"
	)
	late := map[string]string{"a": "of the 3 nodes of NodePool/web 1 are going or not ready, and no more than 1 may be (budget nodes: 1)",
		"b": "3 nodes of its pools are going or have gone, and the breaker of prod stops at 3"}
	homeless := map[string]string{"a": "no place for its pods", "b": "it carries do-not-disrupt"}
	var fifty strings.Builder
	fifty.WriteString("snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web boot=90s\n  allow 5\n")
	for i := range 50 {
		fmt.Fprintf(&fifty, "node n%02d claim=c%02d pool=NodePool/web ready initialized drifted=NodePoolDeleted\n", i, i)
	}
	budget := func(nodes string) []karpv1.Budget { return []karpv1.Budget{{Nodes: nodes}} }
	tests := map[string]struct {
		world   string
		budgets []karpv1.Budget
		stays   map[string]string
		want    string
		stuck   bool
	}{
		"before the first plan":    {begin + a + b + other, budget("1"), nil, "nodes left: 2, going: 0, allowed now: 1; about 6m0s left", false},
		"while the budget is used": {begin + a + going, budget("1"), nil, "nodes left: 2, going: 1, allowed now: 0; no more may go: of the 2 nodes of NodePool/web 1 are going or not ready, and no more than 1 may be (budget nodes: 1); about 6m0s left", false},
		"while nothing may go":     {begin + a + "freeze \"frozen: audit\"\n", budget("1"), nil, "nodes left: 1, going: 0, allowed now: 0; no more may go: frozen: audit", true},
		"a budget of none, always": {"snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web\n  allow 0 note=\"budget nodes: 0\"\n" + a, budget("0"), nil,
			"nodes left: 1, going: 0, allowed now: 0; no more may go: no node of NodePool/web may go now (budget nodes: 0), which holds for ever", true},
		"a budget of none, until it ends": {"snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web\n  allow 0 note=\"budget nodes: 0\"\n  policy budgets-change=2026-11-21T06:00:00Z\n" + a, budget("0"), nil,
			"nodes left: 1, going: 0, allowed now: 0; no more may go: no node of NodePool/web may go now (budget nodes: 0), until 2026-11-21 06:00 UTC at least", true},
		"fifty nodes, five at once":                           {fifty.String(), budget("5"), nil, "nodes left: 50, going: 0, allowed now: 5; about 23m0s left", false},
		"fifty nodes, a tenth of those that are left at once": {fifty.String(), nil, nil, "nodes left: 50, going: 0, allowed now: 5; about 51m0s left", false},
		"pods that may take their time to end": {begin + "shape web cpu=1\n" + a + "  pod default/web-1 shape=web returns grace=20m\n" + b, budget("1"), nil,
			"nodes left: 2, going: 0, allowed now: 1; about 25m0s left", false},
		"pods without a place":              {begin + a, budget("1"), homeless, "nodes left: 1, going: 0, allowed now: 1; node a stays: no place for its pods", true},
		"more than one that stays":          {begin + a + b, budget("1"), homeless, "nodes left: 2, going: 0, allowed now: 1; node a stays: no place for its pods; others that stay: 1", true},
		"what budgets said of nodes before": {begin + a + b, budget("1"), late, "nodes left: 2, going: 0, allowed now: 1; about 6m0s left", false},
		"a machine that has to end":         {begin + ends, budget("1"), nil, "its last instances are terminating", false},
		"a node that starts":                {begin + fresh, budget("1"), nil, "nodes left: 0, going: 0, allowed now: 1; instances that have not started: 1", false},
		"a machine that starts":             {begin + "machine m pool=NodePool/web launched\n", budget("1"), nil, "nodes left: 0, going: 0, allowed now: 1; instances that have not started: 1", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(tt.world)
			if err != nil {
				t.Fatal(err)
			}
			pool := translate.PoolObject{ID: cluster.PoolID{Kind: "NodePool", Name: "web"}}
			pool.Disruption.Budgets = tt.budgets
			got := departureOf(s, pool, func(node string) string { return tt.stays[node] })
			if got.String() != tt.want || got.stuck() != tt.stuck {
				t.Errorf("got  %s, stuck %v\nwant %s, stuck %v", got.String(), got.stuck(), tt.want, tt.stuck)
			}
		})
	}
}

// What a user can do depends on what keeps the nodes, and on how pools of the generation
// have their budgets.
func TestWhatToDoAboutADeletedPool(t *testing.T) {
	const (
		world = "snapshot 1 2026-11-21T04:00:00Z\npool KIND/web\n  allow MOST note=\"budget nodes: MOST\"\nnode a claim=a-c pool=KIND/web ready initialized drifted=NodePoolDeleted\n"
	)
	tests := map[string]struct {
		world, most, keeps string
		serves             translate.Generation
		want               string
	}{
		"nothing, if they go":         {world, "1", "", translate.NodePools(), "all at once: kubectl annotate nodepool web daemok.sh/delete=fast"},
		"room, where pods have none":  {world, "1", "no place", translate.NodePools(), "the way out is to change that, as by room for its pods in another pool, or all at once: kubectl annotate nodepool web daemok.sh/delete=fast"},
		"a budget of a NodePool":      {world, "0", "", translate.NodePools(), "the way out is a budget that allows more, in spec.disruption.budgets: kubectl edit nodepool web, or all at once: kubectl annotate nodepool web daemok.sh/delete=fast"},
		"a budget of a Provisioner":   {world, "0", "", provisioner.Generation(), "the way out is a budget that allows more: kubectl annotate --overwrite provisioner web daemok.sh/budgets=1, or all at once: kubectl annotate provisioner web daemok.sh/delete=fast"},
		"a breaker":                   {world + "breaker prod most=1 gone=1 pool=NodePool/web\n", "1", "", translate.NodePools(), "the way out is to end that, or all at once: kubectl annotate nodepool web daemok.sh/delete=fast"},
		"what is no budget of a pool": {world + "freeze \"frozen: audit\"\n", "0", "", translate.NodePools(), "the way out is to end that, or all at once: kubectl annotate nodepool web daemok.sh/delete=fast"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(strings.NewReplacer("KIND", tt.serves.Kind, "MOST", tt.most).Replace(tt.world))
			if err != nil {
				t.Fatal(err)
			}
			got := departureOf(s, translate.PoolObject{ID: tt.serves.ID("web")}, func(string) string { return tt.keeps })
			if way := got.way(tt.serves, "web"); way != tt.want {
				t.Errorf("got  %s\nwant %s", way, tt.want)
			}
		})
	}
}
