package whole_test

import (
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// hours gives a pool a schedule. The time of these stories begins at midnight, UTC.
func hours(text string) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) { p.Annotations = map[string]string{api.AnnotationHours: text} }
}

// closedFromOneToTwo has no nodes from 1:00 to 2:00.
const closedFromOneToTwo = `changes: [{at: "0 1 * * *", nodes: 0}, {at: "0 2 * * *", nodes: 3}]`

// A pool whose hours are over is emptied, and its pods wait until it opens again: nothing but the clock says so.
func TestAPoolOutsideItsHoursHasNoNodes(t *testing.T) {
	report(t, fakecloud.Options{Seed: 94}, func(t *testing.T, w *world) {
		w.pool("default", hours(closedFromOneToTwo))
		w.start(setup{})
		w.deploy("web", 3, plain)
		w.until(10*time.Minute, "pods on nodes", func() bool { return w.run(3) })
		time.Sleep(45 * time.Minute)
		if !w.run(3) || len(w.nodes()) == 0 {
			t.Fatalf("the pool was emptied before its hours were over; %s", w.state())
		}
		w.until(20*time.Minute, "no node", func() bool { return w.empty() })
		time.Sleep(20 * time.Minute)
		if running, _ := w.podsRunning(); running > 0 || !w.empty() {
			t.Fatalf("nodes were launched outside the hours of their pool; %s", w.state())
		}
		if !w.events.said("daemok.sh/hours, until 2000-01-01T02:00:00Z") {
			t.Error("no event of the pods names the annotation, and when the pool opens again")
		}
		w.until(time.Hour, "pods on nodes again", func() bool { return w.run(3) })
		w.sound()
	})
}

// Drains respect PodDisruptionBudgets: a node whose pod may not be evicted stays, and goes once it may.
func TestAPoolOutsideItsHoursWaitsForPodDisruptionBudgets(t *testing.T) {
	report(t, fakecloud.Options{Seed: 95}, func(t *testing.T, w *world) {
		w.pool("default", hours(closedFromOneToTwo))
		w.start(setup{})
		w.deploy("web", 1, plain)
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		budget.Spec.MinAvailable = new(intstr.FromInt32(1))
		budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		w.create(budget)
		w.until(10*time.Minute, "a pod on a node", func() bool { return w.run(1) })
		time.Sleep(75 * time.Minute)
		if !w.run(1) {
			t.Fatalf("a pod was evicted against its budget; %s", w.state())
		}
		w.delete(budget)
		w.until(15*time.Minute, "no node", func() bool { return w.empty() })
		w.sound()
	})
}

// A static pool keeps the number that its hours say, and what spec.replicas says before the first of them.
func TestAStaticPoolFollowsItsHours(t *testing.T) {
	report(t, fakecloud.Options{Seed: 96}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			keeps(2, 0)(p)
			hours(closedFromOneToTwo)(p)
		})
		w.start(setup{})
		w.until(5*time.Minute, "three nodes", func() bool { return w.has(3) })
		w.until(70*time.Minute, "no node", func() bool { return w.has(0) })
		w.until(70*time.Minute, "three nodes again", func() bool { return w.has(3) })
		p := w.defaultPool()
		edit(w, p, func(p *karpv1.NodePool) { p.Annotations = nil })
		w.until(10*time.Minute, "as many as its replicas", func() bool { return w.has(2) })
	})
}

// Hours that cannot be read launch nothing and remove nothing, and the pool says why.
func TestHoursThatCannotBeReadKeepWhatThereIs(t *testing.T) {
	report(t, fakecloud.Options{Seed: 97}, func(t *testing.T, w *world) {
		w.up(1, nil, plain)
		p := w.defaultPool()
		edit(w, p, hours(`changes: [{at: "at nine", nodes: 0}]`))
		w.scale("more", 9)
		time.Sleep(2 * time.Hour)
		if running, _ := w.podsRunning(); running < 1 || len(w.nodes()) != 1 {
			t.Errorf("%d nodes of a pool whose hours cannot be read, want the one it had; %s",
				len(w.nodes()), w.state())
		}
		if !w.story.reports("daemok.sh/hours") {
			t.Errorf("nothing says that the hours cannot be read; %s", w.state())
		}
	})
}

// A static pool whose hours cannot be read keeps the nodes that it has, however many its replicas are.
func TestAStaticPoolWhoseHoursCannotBeReadKeepsItsNodes(t *testing.T) {
	report(t, fakecloud.Options{Seed: 100}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			keeps(1, 0)(p)
			hours(`changes: [{at: "0 0 * * *", nodes: 3}]`)(p)
		})
		w.start(setup{})
		w.until(5*time.Minute, "three nodes", func() bool { return w.has(3) })
		edit(w, w.defaultPool(), hours(`changes: [{at: "TZ=Europe/Berlin", nodes: 0}]`))
		time.Sleep(time.Hour)
		if !w.has(3) || w.launched() != 3 {
			t.Errorf("%d nodes and %d launches, want three of each; %s", len(w.nodes()), w.launched(), w.state())
		}
	})
}

// A buffer keeps capacity for as many pods as its hours say, whatever its spec says, and its nodes are empty when it
// keeps none.
func TestABufferFollowsItsHours(t *testing.T) {
	report(t, fakecloud.Options{Seed: 99}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		b := w.buffer("spare", 1, nil)
		edit(w, b, func(b *v1beta1.CapacityBuffer) {
			b.Annotations = map[string]string{
				api.AnnotationHours: `changes: [{at: "0 1 * * *", replicas: 0}, {at: "0 2 * * *", replicas: 3}]`}
		})
		w.start(setup{})
		w.until(10*time.Minute, "three nodes", func() bool { return w.has(3) })
		time.Sleep(40 * time.Minute)
		if !w.has(3) {
			t.Fatalf("nodes of a buffer went before its hours changed; %s", w.state())
		}
		w.until(30*time.Minute, "no node", func() bool {
			return w.empty() && w.saysOf("spare", served, "False BufferEmpty")
		})
		w.until(time.Hour, "three nodes again", func() bool { return w.has(3) && w.saysOf("spare", served, fits+"3") })
		b = w.bufferNow("spare")
		edit(w, b, func(b *v1beta1.CapacityBuffer) { b.Annotations[api.AnnotationHours] = "at nine" })
		w.until(time.Minute, "what is wrong with the hours", func() bool {
			return w.saysOf("spare", resolves, "False ResolutionFailed metadata.annotations[daemok.sh/hours]")
		})
	})
}
