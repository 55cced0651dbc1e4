package whole_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/decide"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// The instance for a large pod has room for small ones too, and takes none, though it joins before
// theirs: it is nominated for the large one, and no second large instance is launched.
func TestAInstanceForALargePodIsNotTakenBySmallOnes(t *testing.T) {
	report(t, fakecloud.Options{Seed: 78}, func(t *testing.T, w *world) {
		const small, large = "m5.large", "m5.4xlarge"
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{small, large}
		})
		w.deploy("small", 6, ofCores("1500m"))
		w.deploy("large", 1, ofCores("15"))
		w.start(setup{policy: decide.Policy{Nominated: true}})
		w.until(10*time.Minute, "all pods running", func() bool { return w.run(7) })
		joined, last := w.nodesOf(large)[0].CreationTimestamp.Time, time.Time{}
		for _, n := range w.nodesOf(small) {
			if n.CreationTimestamp.After(last) {
				last = n.CreationTimestamp.Time
			}
		}
		if !joined.Before(last) || w.launched() != 7 {
			t.Errorf("the large node joined %s before the last small one, and %d machines were bought; want some time, and 7; %s", last.Sub(joined), w.launched(), w.state())
		}
		w.sound()
	})
}
