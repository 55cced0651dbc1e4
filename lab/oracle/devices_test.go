package oracle

import (
	"context"
	"slices"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// TestDevicesAreJudged tampers with plans for pods with ResourceClaims: all of them go to one node, whose devices do
// not do for so many, or one of them is left although there are devices for it.
func TestDevicesAreJudged(t *testing.T) {
	tests := map[string]struct {
		tamper func(p *plan.Plan, claimants []int) bool
		want   []Kind
		plugin string // that says so in half of the cases
		exact  bool   // where plans count devices exactly
	}{
		"all pods with claims on one node": {func(p *plan.Plan, claimants []int) bool {
			for _, i := range claimants {
				to := p.Placements[claimants[0]]
				p.Placements[i].On, p.Placements[i].Target = to.On, to.Target
			}
			return len(claimants) > 4
		}, []Kind{Refused}, names.DynamicResources, false},
		"a pod with a claim is left": {func(p *plan.Plan, claimants []int) bool {
			last := claimants[len(claimants)-1]
			x := p.Placements[last]
			p.Placements = slices.Delete(p.Placements, last, last+1)
			p.Unplaced = []plan.Unplaced{{Shape: x.Pod.Shape, Pods: []cluster.Pod{x.Pod}}}
			return len(x.Pod.Shape.Spread) == 0 && len(x.Pod.Shape.Volumes) == 0
		}, []Kind{Left, Unsold}, "accepted", true},
	}
	ctx, placed, together := context.Background(), 0, 0
	tampered, noticed, byPlugin := map[string]int{}, map[string]int{}, map[string]int{}
	for seed := range uint64(400) {
		w := Generate(seed)
		if len(w.DeviceClasses) == 0 {
			continue
		}
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := decided(s)
		var claimants []int
		targets := map[string]int{}
		for i, x := range p.Placements {
			if len(claimsIn(w, x.Pod)) > 0 {
				claimants = append(claimants, i)
				targets[x.Target]++
			}
		}
		if placed += len(claimants); len(claimants) == 0 {
			continue
		}
		for _, n := range targets {
			if n > 1 {
				together++
			}
		}
		for name, tt := range tests {
			q := *p
			q.Placements = slices.Clone(p.Placements)
			if d := newDevices(w); len(d.slices[""]) > 0 || tt.exact && !d.countExactly(w) || !tt.tamper(&q, claimants) {
				continue
			}
			tampered[name]++
			found, err := replay(ctx, w, s, &q, asChosen)
			if err != nil {
				t.Fatal(err)
			}
			wanted := func(d Disagreement) bool { return slices.Contains(tt.want, d.Kind) }
			if slices.ContainsFunc(found, wanted) {
				noticed[name]++
			}
			if slices.ContainsFunc(found, func(d Disagreement) bool { return d.Plugin == tt.plugin }) {
				byPlugin[name]++
			}
		}
	}
	for name, tt := range tests {
		if tampered[name] < 10 || 10*noticed[name] < 8*tampered[name] || 2*byPlugin[name] < tampered[name] {
			t.Errorf("%s: %d of %d plans were noticed, %d by %s", name, noticed[name], tampered[name],
				byPlugin[name], tt.plugin)
		}
	}
	if placed < 200 || together < 20 {
		t.Errorf("%d pods with claims have a place, and %d nodes have several: want 200 and 20", placed, together)
	}
	t.Logf("%d pods with claims have a place, %d nodes several; of %v false plans %v were noticed, %v by devices",
		placed, together, tampered, noticed, byPlugin)
}

// claimsIn lists the claims of a pod of a plan, by their names in it.
func claimsIn(w *World, p cluster.Pod) (out []string) {
	for _, pod := range w.Pods {
		if pod.Namespace == p.Namespace && pod.Name == p.Name {
			for _, c := range pod.Spec.ResourceClaims {
				out = append(out, c.Name)
			}
		}
	}
	return out
}
