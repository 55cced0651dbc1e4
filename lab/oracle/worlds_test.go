package oracle

import (
	"context"
	"slices"
	"testing"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// TestEveryRuleIsAskedFor counts which plugins refuse waiting pods on the
// nodes of the first worlds: a rule that never says no is not tested.
func TestEveryRuleIsAskedFor(t *testing.T) {
	said := map[string]int{}
	for seed := range uint64(150) {
		w := Generate(seed)
		s, err := w.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		st, cancel, err := newStage(context.Background(), w, s, &plan.Plan{}, asChosen)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Waiting {
			for _, v := range st.judge(context.Background(), st.pods[p.Namespace+"/"+p.Name], st.open...) {
				said[v.plugin]++
			}
		}
		cancel()
	}
	for _, plugin := range []string{"", names.NodeUnschedulable, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit,
		names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone,
		names.PodTopologySpread, names.InterPodAffinity, names.DynamicResources} {
		if said[plugin] < 20 {
			t.Errorf("%q decides %d cases of %v, want 20", plugin, said[plugin], said)
		}
	}
	t.Log(said)
}

// TestSeedsAreWorlds: one seed always gives the same world, down to the byte, and a story
// reproduces its world.
func TestSeedsAreWorlds(t *testing.T) {
	for seed := range uint64(6) {
		w := Generate(seed)
		if toYAML(w) != toYAML(Generate(seed)) {
			t.Fatalf("seed %d gives two worlds", seed)
		}
		story, err := Story(context.Background(), w, Disagreement{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(story)
		if err != nil {
			t.Fatal(err)
		}
		if toYAML(again) != toYAML(w) {
			t.Fatalf("seed %d: the story does not give the world back", seed)
		}
	}
}

// TestFalsePlansAreNoticed tampers with plans that are right: a pod that has
// a place is left, or put with one it cannot be with.
func TestFalsePlansAreNoticed(t *testing.T) {
	tests := map[string]struct {
		tamper func(*plan.Plan)
		want   []Kind
	}{
		"a pod that has a place is left": {func(p *plan.Plan) {
			last := p.Placements[len(p.Placements)-1]
			p.Placements = p.Placements[:len(p.Placements)-1]
			p.Unplaced = []plan.Unplaced{{Shape: last.Pod.Shape, Pods: []cluster.Pod{last.Pod}}}
		}, []Kind{Left, Unsold}},
		"all pods go to one node": {func(p *plan.Plan) {
			for i := range p.Placements {
				p.Placements[i].Target = p.Placements[0].Target
			}
		}, []Kind{Refused}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tampered, noticed := 0, 0
			for seed := uint64(0); seed < 150 && tampered < 40; seed++ {
				w := Generate(seed)
				s, err := w.Snapshot(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				p, _ := decided(s)
				if p == nil || len(p.Placements) < 20 {
					continue
				}
				tampered++
				tt.tamper(p)
				found, err := replay(context.Background(), w, s, p, asChosen)
				if err != nil {
					t.Fatal(err)
				}
				if len(found) > 0 && slices.Contains(tt.want, found[0].Kind) {
					noticed++
				}
			}
			if tampered < 10 || noticed < tampered*8/10 {
				t.Errorf("%d of %d false plans were noticed", noticed, tampered)
			}
			t.Logf("%d of %d false plans were noticed", noticed, tampered)
		})
	}
}

// TestOnlyPurposesExcuse leaves pods of right plans where no rule of purpose.go can hold:
// no instance being launched is undecided, and the pod neither spreads nor has volumes.
// Each must be detected.
func TestOnlyPurposesExcuse(t *testing.T) {
	left := 0
	for seed := uint64(0); seed < 300 && left < 10; seed++ { // few worlds will do
		w := Generate(seed)
		s, err := w.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p, _ := decided(s)
		if p == nil || len(p.Placements) == 0 || len(p.Launches) > 0 || slices.ContainsFunc(s.Instances, func(m cluster.Instance) bool { return !m.Launched }) {
			continue
		}
		last := p.Placements[len(p.Placements)-1]
		if len(last.Pod.Shape.Spread) > 0 || len(last.Pod.Shape.Volumes) > 0 {
			continue
		}
		p.Placements = p.Placements[:len(p.Placements)-1]
		p.Unplaced = []plan.Unplaced{{Shape: last.Pod.Shape, Pods: []cluster.Pod{last.Pod}}}
		found, err := replay(context.Background(), w, s, p, asChosen)
		if err != nil {
			t.Fatal(err)
		}
		if left++; len(found) == 0 || found[0].Kind != Left {
			t.Errorf("seed %d: pod %s was left where it could run, and that was excused: %v", seed, last.Pod.Name, found)
		}
	}
	if left < 5 {
		t.Errorf("%d plans were tried, want 5", left)
	}
	t.Logf("%d pods were left", left)
}
