package whole_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/fakecloud"
)

// oneAtATime lets one node of a pool go at a time, and none for being empty.
func oneAtATime(p *karpv1.NodePool) {
	p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "1"}, {Nodes: "0", Reasons: []karpv1.DisruptionReason{karpv1.ReasonEmpty}}}
}

// isThere reports whether there is a pool of that name.
func (w *world) isThere(pool string) bool {
	w.t.Helper()
	err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: pool}, &karpv1.NodePool{})
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return !apierrors.IsNotFound(err)
}

// of counts the claims of a pool.
func (w *world) of(pool string) (n int) {
	for _, c := range w.claims() {
		if c.Labels[api.LabelNodePool] == pool {
			n++
		}
	}
	return n
}

// drained is what the default pool says of how far its deletion is.
func (w *world) drained() (reason, text string) {
	w.t.Helper()
	if c := condition.Get(w.defaultPool(), karpv1.NodePoolDrained); c != nil {
		return c.Reason, c.Message
	}
	return "", ""
}

// A pool that is deleted gives its nodes up as its budget allows, whether pods
// run on them or not: their pods get instances of another pool first. It goes with
// the last of them, whoever leads meanwhile.
func TestADeletedPoolDrainsByItsBudget(t *testing.T) {
	report(t, fakecloud.Options{Seed: 70}, func(t *testing.T, w *world) {
		c := w.up(4, oneAtATime, plain)
		w.pool("other", nil)
		w.deploy("web", 3, plain)
		w.until(time.Minute, "an empty node", func() bool { return w.run(3) })
		w.delete(w.defaultPool())
		restarted := false
		w.until(30*time.Minute, "the end of the pool", func() bool {
			if n := w.closed() + w.draining(); n > 1 {
				t.Fatalf("%d nodes go at once; %s", n, w.state())
			}
			if running, _ := w.podsRunning(); running < 2 { // the pod of one node is being moved
				t.Fatalf("%d of three pods run; %s", running, w.state())
			}
			if !restarted && w.of("default") == 2 {
				restarted = true
				c.stop()
				w.start(setup{})
			}
			return !w.isThere("default")
		})
		if n := w.of("default"); n > 0 || !restarted {
			t.Errorf("%d claims outlived their pool; restarted %v", n, restarted)
		}
		w.until(time.Minute, "three pods on machines of the other pool", func() bool { return w.run(3) && w.of("other") == 3 })
		if w.launched() != 7 {
			t.Errorf("%d machines were bought, want four and three in their place", w.launched())
		}
		w.sound()
	})
}

// A pool that is deleted says at once, in its condition and in an event, how many nodes are
// left and how long it takes: near to what it took in the end, though a budget in percent
// lets fewer go at once the fewer there are, and pods need their time to end.
func TestADeletedPoolSaysHowLongItTakes(t *testing.T) {
	left := regexp.MustCompile(`^nodes left: 20, going: \d+, allowed now: \d+.*; about (\S+) left`)
	for name, grace := range map[string]time.Duration{"pods that end soon": 5 * time.Second, "pods that take their time": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 76}, func(t *testing.T, w *world) {
				w.up(20, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "20%"}} }, func(p *corev1.Pod) {
					p.Spec.TerminationGracePeriodSeconds = new(int64(grace / time.Second))
					p.Annotations = map[string]string{slowly: "true"}
				})
				w.pool("other", nil)
				w.delete(w.defaultPool())
				began, said := time.Now(), time.Duration(0)
				w.until(time.Minute, "a word on how long it takes", func() bool {
					reason, text := w.drained()
					found := left.FindStringSubmatch(text)
					if found == nil || reason != karpv1.ReasonNodesLeft {
						return false
					}
					said, _ = time.ParseDuration(found[1])
					return w.events.said("NodesLeft: nodes left: 20, going: ") && w.events.said("; all at once: kubectl annotate nodepool default daemok.sh/delete=fast")
				})
				w.until(5*time.Hour, "the end of the pool", func() bool { return !w.isThere("default") })
				if took := time.Since(began); said < took/2 || said > 2*took {
					t.Errorf("it said that it takes %v, and it took %v", said, took)
				}
				w.sound()
			})
		})
	}
}

// A Provisioner goes as a NodePool does: one node at a time where none says otherwise, and
// none where its annotation says so, which it tells with the way out.
func TestADeletedProvisionerDrainsByItsBudget(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.five(setup{})
		w.pool("other", nil)
		w.annotate(w.provisionerNow("default"), api.AnnotationBudgets, "0")
		w.delete(w.provisionerNow("default"))
		says := func(reason string, words ...string) bool {
			c := condition.Get(w.provisionerNow("default"), karpv1.NodePoolDrained)
			return c != nil && c.Reason == reason && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(c.Message, word) })
		}
		w.until(time.Minute, "a word on the budget", func() bool {
			return says(karpv1.ReasonNodesStay, "nodes left: 5, going: 0, allowed now: 0; ", "(budget nodes: 0), which holds for ever; ", "kubectl annotate --overwrite provisioner default daemok.sh/budgets=1") &&
				w.events.said("NodesStay: nodes left: 5, ")
		})
		time.Sleep(time.Hour)
		if running, _ := w.podsRunning(); running != 5 || len(w.claims()) != 5 {
			t.Fatalf("something moved; %s", w.state())
		}
		w.annotate(w.provisionerNow("default"), api.AnnotationBudgets, "1")
		w.until(time.Minute, "a word on how long it takes", func() bool {
			return says(karpv1.ReasonNodesLeft, "nodes left: 5, ", "; about ", "kubectl annotate provisioner default daemok.sh/delete=fast") && w.events.said("NodesLeft: nodes left: 5, ")
		})
		w.until(time.Hour, "the end of the Provisioner", func() bool {
			if n := w.closed() + w.draining(); n > 1 {
				t.Fatalf("%d nodes go at once; %s", n, w.state())
			}
			return apierrors.IsNotFound(w.hand.Get(t.Context(), client.ObjectKey{Name: "default"}, &v1alpha5.Provisioner{}))
		})
		w.until(5*time.Minute, "the pods elsewhere", func() bool { return w.run(5) && w.of("other") > 0 && w.of("other") == len(w.claims()) })
		w.sound()
	})
}

// Where no other pool can take its pods, the node of a deleted pool stays, and the
// pool says why and what to do about it; when there is one it goes.
func TestADeletedPoolWaitsForAPlaceForItsPods(t *testing.T) {
	report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
		w.up(2, nil, plain)
		w.delete(w.defaultPool())
		stays := func() bool {
			reason, text := w.drained()
			return reason == karpv1.ReasonNodesStay && strings.Contains(text, "no place for its pods: ") &&
				strings.Contains(text, "nodes left: 2, going: 0, allowed now: 2") && strings.Contains(text, "kubectl annotate nodepool default daemok.sh/delete=fast")
		}
		w.until(2*time.Minute, "a word on why nothing goes", stays)
		time.Sleep(time.Hour)
		if !stays() || !w.run(2) || w.launched() != 2 || !w.events.said("NodesStay") {
			_, text := w.drained()
			t.Fatalf("after an hour it says %q; %s", text, w.state())
		}
		w.pool("other", nil)
		w.until(15*time.Minute, "the end of the pool", func() bool { return !w.isThere("default") })
		w.until(time.Minute, "the pods elsewhere", func() bool { return w.run(2) && w.of("other") == 2 })
		w.sound()
	})
}

// What a budget of none keeps stays when its pool is deleted, and the pool says
// that it is the budget.
func TestADeletedPoolWaitsForItsBudget(t *testing.T) {
	report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
		w.up(2, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "0"}} }, plain)
		w.pool("other", nil)
		w.delete(w.defaultPool())
		w.until(time.Minute, "a word on the budget", func() bool {
			reason, text := w.drained()
			return reason == karpv1.ReasonNodesStay && strings.Contains(text, "allowed now: 0; no more may go: ") && strings.Contains(text, "(budget nodes: 0), which holds for ever; ") &&
				strings.Contains(text, "in spec.disruption.budgets: kubectl edit nodepool default") && w.events.said("NodesStay")
		})
		time.Sleep(time.Hour)
		if !w.run(2) || w.launched() != 2 {
			t.Fatalf("something moved; %s", w.state())
		}
		w.lowerBudget("1")
		w.until(15*time.Minute, "the end of the pool", func() bool { return !w.isThere("default") })
		w.sound()
	})
}

// By its annotation a deleted pool takes its instances with it at once, whatever
// budgets say, and whether it carries it before or is given it later.
func TestADeletedPoolTakesItsInstancesWithIt(t *testing.T) {
	fast := func(p *karpv1.NodePool) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, api.AnnotationDelete, api.DeleteFast)
	}
	for name, remove := range map[string]func(*world){
		"it carries the annotation": func(w *world) {
			edit(w, w.defaultPool(), fast)
			w.until(time.Second, "no finalizer", func() bool { return len(w.defaultPool().Finalizers) == 0 })
			w.delete(w.defaultPool())
		},
		"the annotation comes later": func(w *world) {
			w.delete(w.defaultPool())
			time.Sleep(10 * time.Minute)
			if !w.run(2) {
				w.t.Fatalf("it did not wait; %s", w.state())
			}
			edit(w, w.defaultPool(), fast)
		},
	} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 24}, func(t *testing.T, w *world) {
				w.up(2, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "0"}} }, plain)
				remove(w)
				w.until(5*time.Minute, "an empty cluster", func() bool { return !w.isThere("default") && w.empty() })
				if running, all := w.podsRunning(); running != 0 || all != 2 {
					t.Errorf("%d of %d pods run, want two waiting", running, all)
				}
			})
		})
	}
}

// A pool without nodes goes at once, and so does one whose orders have not become
// instances: nothing is launched for it any more.
func TestADeletedPoolWithoutInstancesGoesAtOnce(t *testing.T) {
	report(t, fakecloud.Options{Seed: 73}, func(t *testing.T, w *world) {
		cut, open := closedFor(reasons["purchases are refused"])
		w.pool("default", nil)
		w.start(setup{through: cut})
		time.Sleep(time.Minute)
		w.delete(w.defaultPool())
		w.until(time.Second, "the end of a pool without nodes", func() bool { return !w.isThere("default") })
		w.pool("default", nil)
		w.deploy("web", 2, plain)
		w.until(5*time.Minute, "orders", func() bool { return len(w.claims()) > 0 })
		w.delete(w.defaultPool())
		w.until(time.Minute, "the end of a pool without machines", func() bool { return !w.isThere("default") && w.empty() })
		open()
		time.Sleep(10 * time.Minute)
		if w.launched() > 0 {
			t.Errorf("%d machines were bought for a pool that is gone", w.launched())
		}
	})
}

// An instance whose node never starts does not keep its pool, since none runs there:
// it is taken back at once. One that a pod runs on all the same stays.
func TestADeletedPoolDoesNotWaitForInstancesThatNeverStart(t *testing.T) {
	agent := corev1.Taint{Key: "example.com/agent", Effect: corev1.TaintEffectNoSchedule}
	for name, used := range map[string]bool{"nobody runs there": false, "a pod runs there that tolerates what others do not": true} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 74}, func(t *testing.T, w *world) {
				w.pool("default", func(p *karpv1.NodePool) { p.Spec.Template.Spec.StartupTaints = []corev1.Taint{agent} })
				w.start(setup{})
				w.deploy("web", 1, plain)
				w.until(5*time.Minute, "a node that waits for its agent", func() bool {
					claims := w.claims()
					return len(claims) == 1 && condition.IsTrue(&claims[0], karpv1.ClaimRegistered)
				})
				if used {
					w.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "early"}, Spec: corev1.PodSpec{NodeName: w.nodes()[0].Name}})
				}
				w.delete(w.defaultPool())
				if !used {
					w.until(2*time.Minute, "the end of the pool", func() bool { return !w.isThere("default") && w.empty() })
					return
				}
				time.Sleep(10 * time.Minute)
				if running, _ := w.podsRunning(); !w.isThere("default") || running != 1 {
					t.Errorf("the pod was disturbed; %s", w.state())
				}
			})
		})
	}
}

// A pool that is deleted without what it owns leaves its nodes as they are.
func TestAPoolThatLeavesItsNodesBehindGoesAtOnce(t *testing.T) {
	report(t, fakecloud.Options{Seed: 74}, func(t *testing.T, w *world) {
		w.up(2, nil, plain)
		w.pool("other", nil)
		before := w.claimNames()
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Finalizers = append(p.Finalizers, metav1.FinalizerOrphanDependents) })
		for _, c := range w.claims() { // as the garbage collector does
			edit(w, &c, func(c *karpv1.NodeClaim) { c.OwnerReferences = nil })
		}
		w.delete(w.defaultPool())
		w.until(time.Second, "no finalizer but the collector's", func() bool {
			return slices.Equal(w.defaultPool().Finalizers, []string{metav1.FinalizerOrphanDependents})
		})
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Finalizers = nil })
		time.Sleep(time.Hour)
		if now := w.claimNames(); !slices.Equal(now, before) || !w.run(2) {
			t.Errorf("claims are %v, were %v; %s", now, before, w.state())
		}
	})
}

// Pods that must not be disturbed keep their node in a deleted pool as well.
func TestADeletedPoolWaitsForPodsThatMustNotBeDisturbed(t *testing.T) {
	report(t, fakecloud.Options{Seed: 75}, func(t *testing.T, w *world) {
		w.up(1, nil, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
		w.pool("other", nil)
		w.delete(w.defaultPool())
		w.until(2*time.Minute, "a word on the pod", func() bool {
			_, text := w.drained()
			return strings.Contains(text, "carries do-not-disrupt")
		})
		pod := w.allPods()[0]
		time.Sleep(time.Hour)
		if !hasPod(w.allPods(), pod.UID) {
			t.Fatalf("the pod is gone; %s", w.state())
		}
		edit(w, &pod, func(p *corev1.Pod) { p.Annotations = nil })
		w.until(15*time.Minute, "the end of the pool", func() bool { return !w.isThere("default") })
		w.sound()
	})
}
