package whole_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/test/fakecloud"
)

// jumpy is the clock of a controller's node: it is off by so long.
type jumpy struct{ by atomic.Int64 }

func (j *jumpy) jump(by time.Duration) { j.by.Store(int64(by)) }

func (j *jumpy) clock() *apiclock.Clock {
	began := time.Now()
	return &apiclock.Clock{
		Wall:   func() time.Time { return time.Now().Add(time.Duration(j.by.Load())) },
		Steady: func() time.Duration { return time.Since(began) },
	}
}

// The clock of the controller's node jumps two hours ahead, or back, while nodes may live for
// one, an instance boots, and a node drains that has an hour for it. Nothing of all that is
// over, and it is said where users look. When the clock is right again the instance joins,
// the drain has its hour, and nodes are replaced at their age.
func TestAClockThatJumpsEndsNothing(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": 2 * time.Hour, "behind": -2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) { w.jumps(by) })
		})
	}
}

func (w *world) jumps(by time.Duration) {
	w.t.Helper()
	j := &jumpy{}
	w.deploy("daemok", 1, func(p *corev1.Pod) {
		p.Namespace, p.Spec.Containers[0].Resources.Requests = "kube-system", corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	})
	w.pool("default", func(p *karpv1.NodePool) {
		p.Spec.Template.Spec.ExpireAfter, p.Spec.Template.Spec.TerminationGracePeriod = "1h", "1h"
	})
	w.until(time.Second, "a pod of the controller", func() bool { return len(w.allPods()) == 1 })
	c := w.start(setup{clock: j.clock(), pod: "daemok-1"})
	w.deploy("web", 2, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
	w.until(10*time.Minute, "two pods running", func() bool { return w.webRuns(2) && len(w.nodes()) == 2 })
	w.joinsAfter = map[string]time.Duration{}
	for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
		w.joinsAfter[zone] = 10 * time.Minute
	}
	w.scale("late", 1)
	w.until(time.Minute, "an instance that boots", func() bool { return w.launched() == 3 })
	leaves := w.nodes()[0]
	for _, pod := range w.allPods() {
		if pod.Name == "daemok-1" && pod.Spec.NodeName == leaves.Name {
			leaves = w.nodes()[1]
		}
	}
	w.delete(&leaves)
	time.Sleep(time.Minute)

	j.jump(by)
	time.Sleep(8 * time.Minute)
	if !w.webRuns(2) || w.launched() != 3 || len(w.liveInstances()) != 3 || len(w.claims()) != 3 {
		w.t.Errorf("something ended or was launched by the wrong clock: %s", w.state())
	}
	if says := condition.Get(w.defaultPool(), karpv1.NodePoolDisruptionBlocked); says == nil || says.Reason != karpv1.ReasonClockDiffers || !strings.Contains(says.Message, "2h0m0s") {
		w.t.Errorf("the pool says %+v", says)
	}
	if !w.events.said("ClockDiffers: No node is disrupted and no NodeClaim given up: the clock of this controller is 2h0m0s") || !w.story.reports("the clock is in doubt") {
		w.t.Error("neither an event nor the log says so")
	}
	if lines := c.reports("daemok_clock_ahead_seconds"); len(lines) != 1 || !strings.Contains(lines[0], "7200") && !strings.Contains(lines[0], "7199") {
		w.t.Errorf("metric: %v", lines)
	}

	j.jump(0)
	w.until(4*time.Minute, "the instance that booted to join", func() bool { return w.webRuns(3) })
	w.until(time.Minute+10*time.Second, "the pool to say no more of the clock", func() bool {
		return condition.Get(w.defaultPool(), karpv1.NodePoolDisruptionBlocked) == nil
	})
	if w.launched() != 3 || len(w.liveInstances()) != 3 {
		w.t.Errorf("something ended or was launched though nothing was due: %s", w.state())
	}
	w.until(150*time.Minute, "nodes replaced at their age, and the drain over in its time", func() bool {
		return w.webRuns(3) && w.launched() >= 6 && w.gone(leaves)
	})
	w.sound()
}

// webRuns reports whether n pods of workloads run.
func (w *world) webRuns(n int) bool {
	for _, p := range w.allPods() {
		if p.Namespace == "default" && p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			n--
		}
	}
	return n == 0
}

// gone reports whether the node is no more.
func (w *world) gone(n corev1.Node) bool {
	for _, o := range w.nodes() {
		if o.UID == n.UID {
			return false
		}
	}
	return true
}
