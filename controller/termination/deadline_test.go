package termination

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// has changes a pod that is there.
func (w *town) has(p *corev1.Pod, change func(*corev1.Pod)) {
	w.t.Helper()
	before := p.DeepCopy()
	change(p)
	if err := w.hand.Patch(w.t.Context(), p, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// SC-272: a protected pod holds its node up to the deadline. A critical pod, whose turn
// would come after it, is evicted early enough to have its whole grace period.
func TestADeadlineHoldsForPodsWhoseTurnHasNotCome(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.due(15 * time.Minute)
		w.has(w.run("web", leaves, nil, nil), annotated("true"))
		w.has(w.run("dns", leaves, nil, nil), func(p *corev1.Pod) {
			critical(p)
			p.Spec.TerminationGracePeriodSeconds = new(int64(600))
		})
		began := time.Now()
		w.leave(20*time.Minute, "the critical pod ending", func() bool { return w.here("dns") == 0 })
		if took := time.Since(began); took < 5*time.Minute || took > 5*time.Minute+2*time.Second {
			t.Errorf("the critical pod was told after %v, want 10 min before the 15 are over", took)
		}
		if w.here("web") != 1 {
			t.Error("the protected pod has gone before its time")
		}
		w.leave(20*time.Minute, "the protected pod ending", func() bool { return w.here("web") == 0 })
		if took := time.Since(began); took < 14*time.Minute+30*time.Second || took > 14*time.Minute+32*time.Second {
			t.Errorf("the protected pod was told after %v, want half a minute before the 15 are over", took)
		}
	})
}

// A deadline that has come by a clock that is in doubt has not come: the pod is asked by
// way of the eviction API until the clock is right, and neither is the instance ended
// because a pod seems to be ending for long.
func TestNoDeadlineComesByAClockInDoubt(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.doubt = "the clock is two hours ahead"
		w.due(time.Minute)
		w.has(w.run("web", leaves, nil, nil), annotated("true"))
		w.attach("data", "data", leaves)
		ended := func() bool { return w.cloud.ends["i-"+leaves] > 0 }
		began := time.Now()
		w.leave(time.Hour, "half an hour to pass", func() bool { return time.Since(began) > 30*time.Minute })
		if w.here("web") != 1 || ended() {
			t.Errorf("%d protected pods are left, machine ended: %v", w.here("web"), ended())
		}
		w.doubt = ""
		w.leave(2*time.Minute, "the machine given back", ended)
	})
}

// SC-274: a volume that is never detached keeps the instance up to the deadline.
func TestADeadlineEndsTheWaitForVolumes(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.due(10 * time.Minute)
		w.attach("data", "data", leaves)
		w.run("web", leaves, nil, nil)
		began := time.Now()
		w.leave(15*time.Minute, "the machine given back", func() bool { return w.cloud.ends["i-"+leaves] > 0 })
		if took := time.Since(began); took < 10*time.Minute-time.Second || took > 10*time.Minute+2*time.Second {
			t.Errorf("the machine was given back after %v, want 10 min", took)
		}
	})
}
