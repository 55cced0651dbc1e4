package planner

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/apply"
)

// taking is an applier that records for which pods each plan launches instances.
type taking struct {
	refusing
	world *oneWaits
	plans *[]string
}

// Launch has the instances be being launched from then on.
func (a taking) Launch(_ context.Context, s *cluster.Snapshot, p plan.Plan) (out []apply.Launched) {
	counts := map[string]int{}
	next := *a.world.s
	for _, l := range p.Launches {
		for _, pod := range l.Pods {
			counts[pod.Namespace]++
		}
		name := fmt.Sprintf("%s-of-%d", l.Name, len(*a.plans))
		next.Instances = append(next.Instances, cluster.Instance{Claim: name, Pool: l.Pool, LaunchedFor: l.Pods, Requirements: l.Requirements,
			Allocatable: l.Requests, Capacity: l.Requests, CreatedAt: s.Now, Planned: true})
		out = append(out, apply.Launched{Launch: l})
	}
	next.Revision++
	next.Sort()
	a.world.s = &next
	*a.plans = append(*a.plans, fmt.Sprintf("greedy %d small %d", counts["greedy"], counts["small"]))
	return out
}

// A tenant has hundreds of pods of as many shapes that keep apart: the small tenant's
// instance is launched by the first plan, and the plans for the rest follow at once.
func TestASmallTenantDoesNotWaitForALargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		text.WriteString("snapshot 7 2026-11-21T04:00:00Z\ncatalogue c1 1\nkind m5.large cpu=2 memory=8Gi pods=29\n  offer us-west-2a on-demand 0.096\npool NodePool/default catalogue=c1\n")
		for i := range 900 {
			fmt.Fprintf(&text, "shape s%d namespace=greedy cpu=%dm memory=1Gi\n  labels app=greedy\n  spread kubernetes.io/hostname skew=1\n    select app In greedy\nwaiting greedy/p%03d shape=s%d uid=g%d\n", i, 100+i, i, i, i)
		}
		text.WriteString("shape web namespace=small cpu=500m memory=1Gi\nwaiting small/web shape=web uid=small\n")
		s, err := scenario.Parse(text.String())
		if err != nil {
			t.Fatal(err)
		}
		world, plans := &oneWaits{s}, []string{}
		p := &Planner{
			Source: world, Ledger: world, Listener: world, Applier: taking{world: world, plans: &plans},
			Effort: Effort{Of: func(*cluster.Snapshot) decide.Effort { return decide.Quick() }},
			Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(plans) < 3 || !strings.HasSuffix(plans[0], " small 1") || strings.HasPrefix(plans[0], "greedy 900") {
			t.Errorf("machines are launched for %q; want the small tenant in the first of several plans", plans)
		}
	})
}
