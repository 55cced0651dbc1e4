package whole_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/store"
)

func cores(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }

// up brings n pods to n instances.
func (w *world) up(n int, change func(*karpv1.NodePool), pods func(*corev1.Pod)) *controller {
	w.t.Helper()
	return w.upWith(setup{}, n, change, pods)
}

func (w *world) upWith(s setup, n int, change func(*karpv1.NodePool), pods func(*corev1.Pod)) *controller {
	w.t.Helper()
	w.pool("default", change)
	c := w.start(s)
	w.deploy("web", n, pods)
	w.until(5*time.Minute, "pods running", func() bool { return w.run(n) })
	w.until(time.Minute, "initialised nodes", func() bool {
		for _, node := range w.nodes() {
			if node.Labels[api.LabelInitialized] != "true" {
				return false
			}
		}
		return true
	})
	w.sound()
	return c
}

func plain(*corev1.Pod) {}

func TestADrainWaitsForTheBudgetOfItsPods(t *testing.T) {
	report(t, fakecloud.Options{Seed: 20}, func(t *testing.T, w *world) {
		w.up(1, nil, plain)
		w.server.BlockEvictions(func(*corev1.Pod) bool { return true })
		first := w.allPods()[0].UID
		w.delete(&w.claims()[0])
		time.Sleep(10 * time.Minute)
		if pods := w.allPods(); !hasPod(pods, first) {
			t.Fatalf("the protected pod was evicted; %s", w.state())
		}
		if !w.events.said("FailedDraining") {
			t.Error("no event says that the drain is held up")
		}
		w.server.BlockEvictions(nil)
		w.until(5*time.Minute, "the pod on another machine", func() bool { return w.run(1) && !hasPod(w.allPods(), first) })
		w.until(3*time.Minute, "the old machine gone", func() bool { return len(w.instances()) == 1 && len(w.claims()) == 1 && len(w.nodes()) == 1 })
		w.sound()
	})
}

func hasPod(pods []corev1.Pod, uid any) bool {
	for _, p := range pods {
		if p.UID == uid && p.DeletionTimestamp == nil {
			return true
		}
	}
	return false
}

func TestADeadlineEndsTheDrainOfProtectedPods(t *testing.T) {
	protect := func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} }
	report(t, fakecloud.Options{Seed: 21}, func(t *testing.T, w *world) {
		w.up(1, func(p *karpv1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = "10m" }, protect)
		first := w.allPods()[0].UID
		w.delete(&w.claims()[0])
		began := time.Now()
		time.Sleep(9*time.Minute + 45*time.Second)
		if !hasPod(w.allPods(), first) {
			t.Fatalf("the protected pod was removed %v before the deadline; %s",
				10*time.Minute-time.Since(began), w.state())
		}
		w.until(time.Minute, "the pod removed at the deadline", func() bool { return !hasPod(w.allPods(), first) })
		if took := time.Since(began); took > 10*time.Minute+5*time.Second {
			t.Errorf("the pod was removed after %v, want the 10 minutes of the deadline", took)
		}
		w.until(5*time.Minute, "the pod elsewhere, the old machine gone", func() bool { return w.run(1) && len(w.instances()) == 1 })
		w.sound()
	})
}

func TestAProtectedPodHoldsItsNodeForEverWithoutADeadline(t *testing.T) {
	protect := func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} }
	report(t, fakecloud.Options{Seed: 22}, func(t *testing.T, w *world) {
		w.up(1, nil, protect)
		first := w.allPods()[0].UID
		w.delete(&w.claims()[0])
		time.Sleep(6 * time.Hour)
		if !hasPod(w.allPods(), first) {
			t.Errorf("the protected pod is gone; %s", w.state())
		}
		if n := len(w.liveInstances()); n != 1 {
			t.Errorf("%d machines, want the one: nothing may be bought for a pod that stays", n)
		}
	})
}

// SC-269: whatever is deleted by hand, its instance goes and its pods come back on
// another.
func TestWhatIsDeletedByHandGoesWhole(t *testing.T) {
	for what, remove := range map[string]func(w *world){
		"a claim": func(w *world) { w.delete(&w.claims()[0]) },
		"a node":  func(w *world) { w.delete(&w.nodes()[0]) },
		"a machine, at the cloud": func(w *world) {
			if _, err := w.cloud.Terminate(context.Background(), w.liveInstances()[0].ID); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 23}, func(t *testing.T, w *world) {
				w.up(2, nil, plain)
				remove(w)
				w.until(10*time.Minute, "two pods on two machines, one new", func() bool {
					return w.launched() == 3 && w.run(2) && len(w.instances()) == 2 && len(w.claims()) == 2 && len(w.nodes()) == 2
				})
				w.sound()
			})
		})
	}
}

// A pod lands on an empty node between the plan to remove it and the removal.
func TestANodeThatIsNeededAfterAllStays(t *testing.T) {
	report(t, fakecloud.Options{Seed: 25}, func(t *testing.T, w *world) {
		w.up(1, nil, plain)
		first := w.nodes()[0].Name
		w.scale("web", 0)
		w.until(2*time.Minute, "the taint", func() bool {
			n := w.nodes()
			return len(n) == 1 && translate.HasTaint(&n[0], api.TaintDisrupted)
		})
		late := &corev1.Pod{}
		late.Namespace, late.Name, late.Labels = "default", "late", map[string]string{"app": "late"}
		late.Spec.NodeName = first
		w.deploy("late", 1, plain)
		w.create(late)
		w.until(10*time.Second, "the taint off again", func() bool {
			n := w.nodes()
			return len(n) == 1 && !translate.HasTaint(&n[0], api.TaintDisrupted)
		})
		time.Sleep(2 * time.Minute)
		if n := w.nodes(); len(n) != 1 || n[0].Name != first || n[0].DeletionTimestamp != nil || w.launched() != 1 {
			t.Errorf("the node with the late pod did not stay; %s", w.state())
		}
		w.sound()
		w.deploy("late", 0, plain)
		w.until(5*time.Minute, "an empty cluster", w.empty)
	})
}

// SC-291: the API fails just when the taint of a node that stays is to come off.
func TestATaintThatCouldNotBeTakenOffAtOnceIsTakenOffLater(t *testing.T) {
	report(t, fakecloud.Options{Seed: 26}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		failing := 0
		w.start(setup{fault: func(c store.Call) (error, error) {
			if failing > 0 && c.Kind == "Node" && c.Verb == store.Change {
				failing--
				return errLost, nil
			}
			return nil, nil
		}})
		w.scale("web", 1)
		w.until(5*time.Minute, "a pod running", func() bool { return w.run(1) })
		w.scale("web", 0)
		w.until(2*time.Minute, "the taint", func() bool { return translate.HasTaint(&w.nodes()[0], api.TaintDisrupted) })
		failing = 1
		late := &corev1.Pod{}
		late.Namespace, late.Name, late.Labels = "default", "late", map[string]string{"app": "late"}
		late.Spec.NodeName = w.nodes()[0].Name
		w.deploy("late", 1, plain)
		w.create(late)
		w.until(time.Minute, "the taint off again", func() bool {
			n := w.nodes()
			return len(n) == 1 && !translate.HasTaint(&n[0], api.TaintDisrupted)
		})
	})
}

func TestOrphansAreCollectedBothWays(t *testing.T) {
	report(t, fakecloud.Options{Seed: 27}, func(t *testing.T, w *world) {
		c := w.up(2, nil, plain)
		c.stop()
		gone := w.claims()[0]
		lost := gone.DeepCopy()
		edit(w, &gone, func(o *karpv1.NodeClaim) { o.Finalizers = nil })
		if err := w.hand.Delete(context.Background(), &gone); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		w.start(setup{})
		w.until(10*time.Minute, "the machine without a claim replaced", func() bool {
			return w.run(2) && len(w.instances()) == 2 && len(w.claims()) == 2
		})
		for _, m := range w.liveInstances() {
			if m.ProviderID == lost.Status.ProviderID {
				t.Errorf("machine %s, whose claim vanished, still runs", m.ID)
			}
		}
		w.sound()
	})
}

// A launch may still be on its way to its claim: a young instance is left
// alone, and an older one that no claim asks for is terminated.
func TestAYoungInstanceWithoutAClaimIsLeftAloneForAWhile(t *testing.T) {
	report(t, fakecloud.Options{Seed: 28}, func(t *testing.T, w *world) {
		w.start(setup{})
		_, err := w.cloud.Launch(context.Background(), cloud.LaunchRequest{
			Class: cloud.Class{ID: "EC2NodeClass/default"}, Token: "t", Batch: "unknown", Count: 1,
			Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand}},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(29 * time.Second)
		if len(w.liveInstances()) != 1 {
			t.Error("a machine of 29 seconds was given back")
		}
		w.until(3*time.Minute, "the orphan gone", func() bool { return len(w.instances()) == 0 })
	})
}

// TestABudgetLoweredInTimeIsHeard: six nodes are about to go at once when a
// user allows one at a time. None goes on the word of the old budget, no node
// that stays is kept closed to pods, and in the end all have gone.
func TestABudgetLoweredInTimeIsHeard(t *testing.T) {
	report(t, fakecloud.Options{Seed: 27}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{lag: fixed(300 * time.Millisecond)})
		w.deploy("web", 6, plain)
		w.until(5*time.Minute, "six pods on six nodes", func() bool { return w.run(6) && len(w.nodes()) == 6 })
		w.scale("web", 0)
		w.until(3*time.Minute, "six nodes marked to go", func() bool { return w.closed() == 6 })
		w.lowerBudget("1")
		most, ended := 0, time.Now().Add(10*time.Minute)
		for ; len(w.claims()) > 0 && time.Now().Before(ended); time.Sleep(50 * time.Millisecond) {
			most = max(most, w.draining())
		}
		if most != 1 {
			t.Errorf("up to %d nodes went at once, want one after the other", most)
		}
		if left := len(w.claims()); left > 0 {
			t.Errorf("%d nodes are left after ten minutes; %s", left, w.state())
		}
	})
}

// closed counts the nodes that are closed to pods, but not going yet.
func (w *world) closed() (n int) {
	for _, node := range w.nodes() {
		if node.DeletionTimestamp == nil && translate.HasTaint(&node, api.TaintDisrupted) {
			n++
		}
	}
	return n
}

// draining counts the nodes that are going and whose instance still runs, as budgets
// do: a claim that was withdrawn before it became a node is none.
func (w *world) draining() (n int) {
	for _, c := range w.claims() {
		if c.DeletionTimestamp != nil && condition.IsTrue(&c, karpv1.ClaimInitialized) && !condition.IsTrue(&c, karpv1.ClaimInstanceTerminating) {
			n++
		}
	}
	return n
}

func (w *world) lowerBudget(nodes string) {
	w.t.Helper()
	edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: nodes}} })
}

// Watches are a minute late: the controller takes nodes for empty, or for what
// they were, long after they are not. Nothing goes on the word of that.
func TestNothingGoesOnTheWordOfLateWatches(t *testing.T) {
	protected := func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} }
	report(t, fakecloud.Options{Seed: 42}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{lag: fixed(time.Minute)})
		w.deploy("web", 3, plain)
		w.until(15*time.Minute, "three pods on three nodes", func() bool { return w.run(3) && len(w.nodes()) == 3 })
		time.Sleep(3 * time.Minute)
		w.scale("web", 0)
		w.until(time.Minute, "no pods", func() bool { return w.run(0) })
		time.Sleep(45 * time.Second) // so long plans see none, and others are there by then
		w.deploy("late", 3, protected)
		w.until(10*time.Minute, "three pods that must not be disturbed", func() bool { return w.run(3) })
		first := w.allPods()
		time.Sleep(20 * time.Minute)
		for _, p := range first {
			if !hasPod(w.allPods(), p.UID) {
				t.Errorf("pod %s, which must not be disturbed, is gone; %s", p.Name, w.state())
			}
		}
		if !w.story.reports("did not disrupt a node: the cluster has changed since the plan") {
			t.Error("no node was about to go, so nothing is shown")
		}
	})
}

// Watches are up to a minute late, of each kind by itself, while people scale what
// they run all the time: nothing forbidden happens by that. Pods that must not be
// disturbed, or that a PodDisruptionBudget is about, keep their nodes, and neither a
// pool's budget nor its limits are exceeded.
func TestLateWatchesUnderLoadBreakNoPromise(t *testing.T) {
	var late atomic.Int64
	lag := func(client.Object) time.Duration {
		return time.Duration(draw(44, fmt.Sprint("lag", late.Add(1))) * float64(time.Minute))
	}
	report(t, fakecloud.Options{Seed: 44}, func(t *testing.T, w *world) {
		const nodesMost, atOnce = 12, 2
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{"nodes": cores(nodesMost)}
			p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: fmt.Sprint(atOnce)}}
		})
		pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "guarded"}}
		pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}
		w.create(pdb)
		w.start(setup{lag: lag})
		w.deploy("kept", 2, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
		w.deploy("guarded", 2, ofCores("600m"))
		w.until(20*time.Minute, "what is to stay", func() bool { return w.run(4) })
		stay := w.allPods()
		shown := func() bool {
			return w.story.reports("did not disrupt a node: the cluster has changed since the plan") && w.story.reports("disrupting node(s)")
		}
		for round := 0; round < 12 || !shown(); round++ {
			if round == 100 {
				t.Fatal("no node was let go, or none kept after all: the story shows too little")
			}
			for i := range 3 {
				name := fmt.Sprint("load-", i)
				w.deploy(name, int(4*draw(44, fmt.Sprint(name, round))), ofCores("900m"))
			}
			for range 40 {
				time.Sleep(time.Second)
				w.keepsTo(nodesMost, atOnce)
			}
			for _, p := range stay {
				if !hasPod(w.allPods(), p.UID) {
					t.Fatalf("pod %s is gone, which was to stay; %s", p.Name, w.state())
				}
			}
		}
		for i := range 3 {
			w.deploy(fmt.Sprint("load-", i), 0, plain)
		}
		w.until(40*time.Minute, "few nodes, all of them open", func() bool { return w.run(4) && len(w.claims()) <= 4 && w.renewed(nil) })
		w.sound()
	})
}

// keepsTo checks that there are no more claims, and no more of them on their way
// out, than may be.
func (w *world) keepsTo(nodesMost, atOnce int) {
	w.t.Helper()
	if n := len(w.claims()); n > nodesMost {
		w.t.Fatalf("%d claims where %d nodes may be; %s", n, nodesMost, w.state())
	}
	if n := w.draining(); n > atOnce {
		w.t.Fatalf("%d nodes go at once, and %d may; %s", n, atOnce, w.state())
	}
}
