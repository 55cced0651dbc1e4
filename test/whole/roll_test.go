package whole_test

import (
	"context"
	"slices"
	"testing"
	"time"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/roll"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
)

// TestANodePoolIsRolledUnderItsBudget: all nodes that were there are replaced, one
// at a time as the budget says; paused halfway none goes, and resumed the rest does,
// whoever leads meanwhile.
func TestANodePoolIsRolledUnderItsBudget(t *testing.T) {
	report(t, fakecloud.Options{Seed: 55}, func(t *testing.T, w *world) {
		c := w.up(4, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "1"}} }, plain)
		old := w.claimNames()
		pools := func() []translate.PoolObject {
			list, err := roll.Pools(context.Background(), w.hand, translate.Generations{translate.NodePools()}, "nodepool", "default")
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		asked := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		left := func() (n int) {
			for _, name := range w.claimNames() {
				for _, was := range old {
					if name == was {
						n++
					}
				}
			}
			return n
		}
		time.Sleep(time.Minute)
		asked(roll.Start(context.Background(), w.hand, pools(), true, time.Now()))
		w.until(20*time.Minute, "half of the nodes replaced", func() bool {
			if w.closed()+w.draining() > 1 {
				t.Fatalf("more than one node goes at once: %s", w.state())
			}
			return left() <= 2
		})
		asked(roll.Pause(context.Background(), w.hand, pools(), time.Now()))
		time.Sleep(5 * time.Minute) // one that is going goes on
		rest := left()
		c.stop()
		w.start(setup{})
		time.Sleep(30 * time.Minute)
		if left() != rest || rest == 0 {
			t.Fatalf("%d nodes were left when it was paused, and %d are now", rest, left())
		}
		asked(roll.Resume(context.Background(), w.hand, pools()))
		w.until(20*time.Minute, "all nodes replaced", func() bool { return left() == 0 && w.run(4) && len(w.claims()) == 4 })
		stable := w.claimNames()
		time.Sleep(time.Hour)
		if now := w.claimNames(); !slices.Equal(now, stable) {
			t.Errorf("after the end nodes are still replaced: %v, then %v", stable, now)
		}
		w.sound()
	})
}
