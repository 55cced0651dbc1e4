package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

func simulatorOf(s *cluster.Snapshot) *removal.Simulator {
	return removal.New(s, removal.Taken{}, place.Options{})
}

// removals lists which nodes go for what.
func removals(x *disruption.Search) (out []string) {
	for _, m := range x.Moves {
		for _, r := range m.Removals {
			out = append(out, fmt.Sprint(r.Node, " ", r.Reason))
		}
	}
	slices.Sort(out)
	return out
}

// On random clusters, what was found is found again where nothing has changed, with
// fewer questions, and what kept the other nodes is remembered. Of nodes that
// came to carry do-not-disrupt since, or are gone, nothing goes, and neither does
// what was not found before.
func TestWhatWasFoundIsLookedAtAgain(t *testing.T) {
	moved, missed, questions, less := 0, 0, int64(0), int64(0)
	for seed := range uint64(400) {
		s := town(rand.New(rand.NewPCG(seed, 5)))
		o := disruption.Options{SpotToSpot: seed%2 == 0}
		first := disruption.New(s, nil, simulatorOf(s), o)
		first.Finish()
		again := disruption.Again(s, nil, simulatorOf(s), o, first.Found())
		again.Finish()
		before, after := removals(first), removals(again)
		moved, questions, less = moved+len(before), questions+first.Questions, less+again.Questions
		for _, r := range before {
			if !slices.Contains(after, r) {
				missed++
			}
		}
		for _, r := range after {
			if !slices.Contains(before, r) {
				t.Errorf("seed %d: %s goes, which was not found before", seed, r)
			}
		}
		if a, b := len(first.Kept)+len(before), len(again.Kept)+len(after); a != b {
			t.Errorf("seed %d: of %d nodes it was said what becomes of them, and of %d when looked at again", seed, a, b)
		}
		for _, wrong := range wrongs(s, again) {
			t.Errorf("seed %d: %s\n%s", seed, wrong, printed(again))
		}
		later := *s
		later.Nodes = slices.Clone(s.Nodes)
		for i := range later.Nodes {
			later.Nodes[i].DoNotDisrupt = true
		}
		held := disruption.Again(&later, nil, simulatorOf(&later), o, first.Found())
		held.Finish()
		for _, m := range held.Moves {
			if r := m.Removals[0]; r.Reason != plan.Expired {
				t.Errorf("seed %d: %s goes for being %s, and carries do-not-disrupt by now", seed, r.Node, r.Reason)
			}
		}
	}
	t.Logf("%d nodes went, %d of them did not when looked at again; %d questions, and %d again", moved, missed, questions, less)
	if moved < 100 || missed*20 > moved || less > questions {
		t.Error("that is too much, or the clusters show nothing")
	}
}
