package whole_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/roll"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
)

// command is a way in which nodes are let go.
type command struct {
	before func(w *world) *controller // brings the world to where nothing is to do
	cause  func(w *world)             // of the command
	done   func(w *world) bool        // it is carried out, and all pods run
}

// old are the names of the claims that there are now; renewed reports that none
// of them is left and n pods run, on as many instances.
func (w *world) renewal(n int) func() bool {
	old := w.claimNames()
	return func() bool {
		return w.renewed(old) && w.run(n) && len(w.claims()) == n && len(w.liveInstances()) == n
	}
}

// ofCores makes pods that want so much.
func ofCores(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
}

// isOpenOn reports whether n pods run on one instance of a type, which is open to
// pods, and nothing else is left.
func (w *world) isOpenOn(kind string, n int) bool {
	instances := w.instances()
	return len(instances) == 1 && instances[0].Kind == kind && w.run(n) && len(w.claims()) == 1 && len(w.nodes()) == 1 && w.renewed(nil)
}

var one = form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}}

func otherImage(w *world) {
	w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: one.settings.Groups}})
}

// commands are all kinds of them but those that a scale-down gives.
func commands() map[string]*command {
	var renewed func() bool
	isRenewed := func(*world) bool { return renewed() }
	two := func(s setup, change func(*karpv1.NodePool)) func(*world) *controller {
		return func(w *world) *controller {
			w.classes.change(one)
			c := w.upWith(s, 2, change, plain)
			renewed = w.renewal(2)
			return c
		}
	}
	return map[string]*command{
		"nodes are too old":  {two(setup{}, mayLive("30m")), func(*world) {}, isRenewed},
		"nodes have drifted": {two(setup{}, nil), otherImage, isRenewed},
		"nodes go first at the limit": {two(setup{}, func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
			p.Annotations = map[string]string{api.AnnotationDriftAtLimit: api.DeleteFirst}
		}), otherImage, isRenewed},
		"a pool is rolled": {two(setup{}, nil), func(w *world) {
			pools, err := roll.Pools(context.Background(), w.hand, translate.Generations{translate.NodePools()}, "nodepool", "default")
			if err == nil {
				err = roll.Start(context.Background(), w.hand, pools, true, time.Now().Add(time.Second))
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}, isRenewed},
		"claims are deleted by hand": {two(setup{}, nil), func(w *world) {
			for _, c := range w.claims() {
				w.delete(&c)
			}
		}, isRenewed},
		"the cloud takes machines back": {two(setup{}, nil), func(w *world) {
			for _, m := range w.liveInstances() {
				w.cloud.Market().Interrupt(m.ID)
			}
		}, isRenewed},
		"a node is unhealthy": {two(setup{}, isRepaired("Ready=5m")), func(w *world) { w.fallSilent(w.nodes()[0]) }, func(w *world) bool {
			return len(w.claims()) == 2 && len(w.liveInstances()) == 2 && w.launched() == 3 && w.run(2)
		}},
		"a pool is deleted": {func(w *world) *controller {
			w.pool("other", func(p *karpv1.NodePool) { p.Spec.Weight = new(int32(1)) })
			return two(setup{}, func(p *karpv1.NodePool) { p.Spec.Weight = new(int32(10)) })(w)
		}, func(w *world) { w.delete(w.defaultPool()) }, func(w *world) bool { return renewed() && !w.isThere("default") }},
		"pods have room elsewhere": {func(w *world) *controller {
			w.pool("default", nil)
			c := w.start(setup{})
			w.deploy("a", 1, ofCores("500m"))
			w.deploy("big", 1, plain)
			w.until(5*time.Minute, "two pods on a node", func() bool { return w.run(2) && len(w.nodes()) == 1 })
			w.deploy("big", 2, plain)
			w.deploy("b", 1, ofCores("500m"))
			w.until(5*time.Minute, "four pods on two nodes", func() bool { return w.run(4) && len(w.nodes()) == 2 })
			return c
		}, func(w *world) { w.deploy("big", 0, plain) }, func(w *world) bool { return w.isOpenOn("m5.large", 2) }},
		"a cheaper machine will do": {func(w *world) *controller {
			w.pool("default", func(p *karpv1.NodePool) {
				p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "m5.xlarge"}
			})
			c := w.start(setup{})
			w.deploy("a", 1, ofCores("500m"))
			w.deploy("big", 1, ofCores("3"))
			w.until(5*time.Minute, "two pods on a node", func() bool { return w.run(2) && len(w.nodes()) == 1 })
			return c
		}, func(w *world) { w.deploy("big", 0, plain) }, func(w *world) bool { return w.isOpenOn("m5.large", 1) }},
	}
}

// carryOut has a command be carried out by a controller that dies, and others
// after it, and returns how many calls the first made for it.
func (w *world) carryOut(what *command, dieAt int, after bool) (calls int) {
	w.t.Helper()
	c := what.before(w)
	began := len(c.ordeal.made())
	c.ordeal.dieAfter(dieAt, after)
	done := make(chan struct{})
	go w.watchman(done)
	defer close(done)
	what.cause(w)
	w.until(40*time.Minute, "the end of it", func() bool {
		if c.ordeal.isKilled() {
			c.done.Wait()
			w.story.add(fmt.Sprintf("the controller died at %s", c.ordeal.last()))
			c = w.start(setup{})
		}
		return what.done(w)
	})
	calls = len(c.ordeal.made()) - began
	stable := w.claimNames()
	time.Sleep(3 * time.Minute)
	if now := w.claimNames(); !slices.Equal(now, stable) || !what.done(w) {
		w.t.Errorf("it did not last: claims were %v and are %v; %s", stable, now, w.state())
	}
	w.sound()
	return calls
}

// Whatever is the reason for which nodes go, the controller dies before or after
// one of its writes and calls of the cloud, and another begins with an empty
// memory: in the end it is as without a death. No node stays closed, no instance
// is left over, and none goes before those in its place have started.
func TestDeathAtAnyCallOfEachKindOfCommand(t *testing.T) {
	const some = 3 // of the calls
	for name, what := range commands() {
		t.Run(name, func(t *testing.T) {
			calls := 0
			report(t, fakecloud.Options{Seed: 41}, func(_ *testing.T, w *world) { calls = w.carryOut(what, 0, false) })
			if calls < some {
				t.Fatalf("it took %d calls only", calls)
			}
			for k := 1; k <= calls; k++ {
				for _, after := range []bool{false, true} {
					if !tried(k, calls/some, after) {
						continue
					}
					t.Run(fmt.Sprintf("%d, after it %v", k, after), func(t *testing.T) {
						report(t, fakecloud.Options{Seed: 41}, func(_ *testing.T, w *world) { w.carryOut(what, k, after) })
					})
				}
			}
		})
	}
}
