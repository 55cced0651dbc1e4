package whole_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

// keeps makes a pool static, with so many nodes and a limit of them; none where that is 0.
func keeps(replicas, limit int64) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) {
		p.Spec.Replicas = &replicas
		if limit > 0 {
			p.Spec.Limits = corev1.ResourceList{"nodes": *resource.NewQuantity(limit, resource.DecimalSI)}
		}
	}
}

// scaleNodes is kubectl scale nodepool.
func (w *world) scaleNodes(pool string, replicas int64) {
	w.t.Helper()
	p := &karpv1.NodePool{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: pool}, p); err != nil {
		w.t.Fatal(err)
	}
	edit(w, p, func(p *karpv1.NodePool) { p.Spec.Replicas = &replicas })
}

// has reports whether there are so many nodes, all initialised, and as many claims and instances.
func (w *world) has(n int) bool {
	ready := 0
	for _, c := range w.claims() {
		if condition.IsTrue(&c, karpv1.ClaimInitialized) && c.DeletionTimestamp == nil {
			ready++
		}
	}
	return ready == n && len(w.claims()) == n && len(w.nodes()) == n && len(w.liveInstances()) == n
}

// A static pool has as many nodes as its replicas, whatever runs on them: neither pods nor the lack of them change that.
func TestAStaticPoolKeepsItsNumber(t *testing.T) {
	report(t, fakecloud.Options{Seed: 80}, func(t *testing.T, w *world) {
		w.pool("default", keeps(3, 0))
		w.start(setup{})
		w.until(5*time.Minute, "three nodes", func() bool { return w.has(3) })
		time.Sleep(time.Hour)
		if !w.has(3) || w.launched() != 3 {
			t.Fatalf("empty nodes of a static pool did not stay; %s", w.state())
		}
		w.scaleNodes("default", 5)
		w.until(5*time.Minute, "five nodes", func() bool { return w.has(5) })
		w.scale("web", 20)
		time.Sleep(10 * time.Minute)
		if running, all := w.podsRunning(); running == 0 || running == all || !w.has(5) || w.launched() != 5 {
			t.Fatalf("%d of %d pods run, want some, and five nodes; %s", running, all, w.state())
		}
		w.scale("web", 1)
		time.Sleep(time.Minute)
		w.scaleNodes("default", 1)
		w.until(10*time.Minute, "one node", func() bool { return w.has(1) })
		if !w.run(1) || w.story.reports("event Evicted") {
			t.Errorf("a node with a pod went, where others had none; %s", w.state())
		}
		w.scaleNodes("default", 0)
		w.until(10*time.Minute, "no node", func() bool { return w.has(0) })
		w.sound()
	})
}

// Limits are never exceeded, and what is missing comes when they allow it.
func TestAStaticPoolStopsAtItsLimit(t *testing.T) {
	report(t, fakecloud.Options{Seed: 81}, func(t *testing.T, w *world) {
		w.pool("default", keeps(4, 2))
		w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		time.Sleep(10 * time.Minute)
		if w.launched() != 2 {
			t.Fatalf("launched %d instances, where limits.nodes is 2", w.launched())
		}
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) { keeps(4, 4)(p) })
		w.until(5*time.Minute, "four nodes", func() bool { return w.has(4) })
	})
}

// Drifted nodes are replaced one for one, the instance first, within the budget and the limit.
func TestDriftedNodesOfAStaticPoolAreReplacedOneForOne(t *testing.T) {
	report(t, fakecloud.Options{Seed: 82}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		w.pool("default", func(p *karpv1.NodePool) {
			keeps(3, 4)(p)
			p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "2"}}
		})
		w.start(setup{})
		w.scale("web", 2)
		w.until(5*time.Minute, "three nodes", func() bool { return w.has(3) && w.run(2) })
		old := w.claimNames()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		w.until(40*time.Minute, "three other nodes", func() bool {
			open := 0
			for _, n := range w.nodes() {
				if n.DeletionTimestamp == nil && !n.Spec.Unschedulable {
					open++
				}
			}
			if len(w.liveInstances()) > 4 || open < 3 {
				t.Errorf("%d instances where limits.nodes is 4, and %d nodes where the pool keeps 3; %s",
					len(w.liveInstances()), open, w.state())
			}
			return w.renewed(old) && w.has(3) && w.run(2)
		})
		if w.launched() != 6 {
			t.Errorf("launched %d instances for three nodes and three replacements", w.launched())
		}
		w.sound()
	})
}

// A node that is lost, by whatever cause, is replaced at once.
func TestLostNodesOfAStaticPoolComeBack(t *testing.T) {
	causes := map[string]func(w *world){
		"a claim is deleted":                           func(w *world) { w.delete(&w.claims()[0]) },
		"a spot warning":                               func(w *world) { w.cloud.Market().Interrupt(w.liveInstances()[0].ID) },
		"a node is unhealthy":                          func(w *world) { w.fallSilent(w.nodes()[0]) },
		"nodes are older than their pool lets them be": func(w *world) { time.Sleep(70 * time.Minute) },
	}
	for name, happens := range causes {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 83}, func(_ *testing.T, w *world) {
				w.pool("default", func(p *karpv1.NodePool) {
					keeps(2, 0)(p)
					isRepaired("Ready=5m")(p)
					p.Spec.Template.Spec.ExpireAfter = "1h"
				})
				w.start(setup{})
				w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
				happens(w)
				w.until(20*time.Minute, "two nodes, of which one at least is new", func() bool { return w.has(2) && w.launched() > 2 })
				w.sound()
			})
		})
	}
}

// Where no instance can be had a static pool goes on trying, and has what it lacks once it can. A pool that is deleted
// launches nothing in place of its nodes.
func TestAStaticPoolWaitsForCapacity(t *testing.T) {
	report(t, fakecloud.Options{Seed: 86}, func(t *testing.T, w *world) {
		w.pool("default", keeps(2, 0))
		restock := w.unavailable(market.OnDemand)
		w.start(setup{})
		time.Sleep(20 * time.Minute)
		if w.launched() > 0 {
			t.Fatalf("launched %d instances, where none can be had", w.launched())
		}
		restock()
		w.until(10*time.Minute, "two nodes", func() bool { return w.has(2) })
		w.delete(w.defaultPool())
		w.until(30*time.Minute, "no node", w.empty)
		if w.launched() != 2 {
			t.Errorf("launched %d instances for two nodes of a pool that is deleted", w.launched())
		}
		w.sound()
	})
}

// A scale-down goes on under PodDisruptionBudgets: the node that is too many drains as they allow.
func TestAScaleDownOfAStaticPoolRespectsPDBs(t *testing.T) {
	report(t, fakecloud.Options{Seed: 84}, func(t *testing.T, w *world) {
		w.pdbs("web", intstr.FromInt32(0))
		w.pool("default", keeps(2, 0))
		w.start(setup{})
		w.scale("web", 2)
		w.until(5*time.Minute, "two pods on two nodes", func() bool { return w.has(2) && w.run(2) })
		w.scaleNodes("default", 1)
		time.Sleep(20 * time.Minute)
		if !w.run(2) || len(w.nodes()) != 2 {
			t.Errorf("pods were evicted that their budget protects; %s", w.state())
		}
	})
}

// With its feature gate off a static pool gets no nodes and keeps those that it has, and says so.
func TestAStaticPoolWithItsFeatureGateOff(t *testing.T) {
	report(t, fakecloud.Options{Seed: 85}, func(t *testing.T, w *world) {
		w.pool("default", keeps(2, 0))
		c := w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		c.stop()
		w.start(setup{policy: decide.Policy{IgnoreReplicas: true}})
		w.scaleNodes("default", 4)
		time.Sleep(10 * time.Minute)
		w.scaleNodes("default", 1)
		time.Sleep(10 * time.Minute)
		if !w.has(2) || w.launched() != 2 {
			t.Errorf("a static pool changed although it is off; %s", w.state())
		}
		if c := condition.Get(w.defaultPool(), karpv1.NodePoolNotInEffect); c == nil || c.Status != "True" {
			t.Errorf("condition NotInEffect: %s", condition.Describe(c))
		}
	})
}

// The controller dies at any call of a scale-up and a scale-down: in the end there are as many nodes as asked for, and no
// instance is lost.
func TestDeathWhileAStaticPoolIsScaled(t *testing.T) {
	story := func(w *world, s setup) {
		c := w.start(s)
		followed := func(holds func() bool) func() bool {
			return func() bool {
				if c.ordeal.isKilled() {
					c.done.Wait()
					c = w.start(setup{})
				}
				return holds()
			}
		}
		w.pool("default", keeps(3, 0))
		w.until(20*time.Minute, "three nodes", followed(func() bool { return w.has(3) }))
		w.scaleNodes("default", 1)
		w.until(20*time.Minute, "one node", followed(func() bool { return w.has(1) }))
		w.sound()
	}
	var calls []string
	report(t, fakecloud.Options{Seed: 86}, func(_ *testing.T, w *world) {
		story(w, setup{lag: fixed(60 * time.Millisecond)})
		calls = w.running[0].ordeal.made()
	})
	for i, call := range calls {
		for _, after := range []bool{false, true} {
			if !tried(i+1, 3, after) {
				continue
			}
			t.Run(fmt.Sprintf("%d %s after=%t", i+1, call, after), func(t *testing.T) {
				report(t, fakecloud.Options{Seed: 86}, func(_ *testing.T, w *world) {
					story(w, setup{dieAt: i + 1, after: after, lag: fixed(60 * time.Millisecond)})
				})
			})
		}
	}
}

// All nodes that a static pool lacks are launched together: the first of them in a call that goes ahead, the others in one.
func TestTwoHundredStaticNodesAreLaunchedTogether(t *testing.T) {
	report(t, fakecloud.Options{Seed: 87}, func(t *testing.T, w *world) {
		c := w.start(setup{})
		w.pool("default", keeps(200, 0))
		w.until(10*time.Minute, "two hundred nodes", func() bool { return w.has(200) })
		launches := 0
		for _, call := range c.ordeal.made() {
			if call == "Launch" {
				launches++
			}
		}
		if launches > 2 {
			t.Errorf("%d calls launched two hundred nodes of one pool, want 2 at most", launches)
		}
	})
}

// Nodes that name a static pool and have lost their NodeClaims count as its own: none is launched in their place, and
// once they are adopted none is too many.
func TestAdoptedNodesCountForAStaticPool(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.pool("default", keeps(3, 0))
		c := w.start(setup{})
		w.until(5*time.Minute, "three nodes", func() bool { return w.has(3) })
		c.stop()
		for _, claim := range w.claims() {
			edit(w, &claim, func(c *karpv1.NodeClaim) { c.Finalizers = nil })
			w.delete(&claim)
		}
		before := w.lives()
		w.start(setup{})
		time.Sleep(5 * time.Minute)
		w.unchanged(before)
		pool := translate.FromNodePool(w.defaultPool())
		w.adoptAll(pool)
		w.until(5*time.Minute, "the nodes are adopted", func() bool { return w.adopted(pool) })
		time.Sleep(5 * time.Minute)
		w.unchanged(before)
		w.scaleNodes("default", 2)
		w.until(10*time.Minute, "two nodes", func() bool { return w.has(2) })
		w.sound()
	})
}
