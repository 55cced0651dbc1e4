package whole_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

// SC-236: timeout with a node counts from when its instance was launched.
func TestAInstanceThatNeverRegistersIsReplaced(t *testing.T) {
	report(t, fakecloud.Options{Seed: 2}, func(t *testing.T, w *world) {
		w.cloud.Market().SetNeverJoin(1)
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 1)
		w.until(time.Minute, "a machine", func() bool { return len(w.liveInstances()) == 1 })
		first := w.liveInstances()[0].ID
		w.cloud.Market().SetNeverJoin(0)
		w.until(14*time.Minute, "patience", func() bool { return time.Since(w.story.began) > 14*time.Minute })
		if now := w.liveInstances(); len(now) != 1 || now[0].ID != first {
			t.Errorf("machines after 14 minutes: %v, want %s alone", now, first)
		}
		w.until(5*time.Minute, "the pod running elsewhere", func() bool { return w.run(1) })
		if !w.events.said("node role is not mapped") {
			t.Error("no event names the mapping of the node role as a likely cause")
		}
		w.until(2*time.Minute, "the first machine gone", func() bool {
			return len(w.instances()) == 1 && w.instances()[0].ID != first
		})
		w.sound()
	})
}

// unavailable makes every zone's m5.large of an option short.
func (w *world) unavailable(options ...market.Option) (restock func()) {
	return w.onlyIn("", 0, options...)
}

// onlyIn is unavailable, but for so many in one zone.
func (w *world) onlyIn(zone string, n int, options ...market.Option) (restock func()) {
	var pools []market.Pool
	for _, zone := range []string{"a", "b", "c", "d", "e", "f"} {
		for _, option := range options {
			pools = append(pools, market.Pool{Kind: "m5.large", Zone: "us-east-1" + zone, Option: option})
		}
	}
	for _, p := range pools {
		has := 0
		if p.Zone == "us-east-1"+zone {
			has = n
		}
		w.cloud.Market().SetCapacity(p, has, 0)
	}
	return func() {
		for _, p := range pools {
			w.cloud.Market().Restock(p)
		}
	}
}

func bothOptions(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements[1].Values = []string{"spot", "on-demand"}
}

func TestWhatSpotIsShortOfIsLaunchedOnDemandAtOnce(t *testing.T) {
	report(t, fakecloud.Options{Seed: 3}, func(t *testing.T, w *world) {
		w.pool("default", bothOptions)
		w.start(setup{})
		w.unavailable(market.Spot)
		w.scale("web", 2)
		w.until(15*time.Second, "two machines", func() bool { return len(w.liveInstances()) == 2 })
		w.until(5*time.Minute, "two pods running", func() bool { return w.run(2) })
		w.sound()
	})
}

func TestWhenNothingIsToBeHadPodsWaitAndGetTheirInstancesLater(t *testing.T) {
	report(t, fakecloud.Options{Seed: 4}, func(t *testing.T, w *world) {
		w.pool("default", bothOptions)
		c := w.start(setup{})
		restock := w.unavailable(market.Spot, market.OnDemand)
		w.scale("web", 2)
		time.Sleep(10 * time.Minute)
		if w.launched() != 0 || !w.events.said("InsufficientCapacityError") {
			t.Errorf("bought %d machines; want none, and an event", w.launched())
		}
		if calls := count(c.ordeal.made(), "Launch"); calls > 60 {
			t.Errorf("asked %d times in 10 minutes, want a back-off", calls)
		}
		if n := w.ids.Load(); len(w.claims()) > 2 || n > 60 {
			t.Errorf("%d claims now and %d in 10 minutes for two pods, want a back-off", len(w.claims()), n)
		}
		restock()
		w.until(8*time.Minute, "two pods running", func() bool { return w.run(2) })
		w.sound()
	})
}

func count(calls []string, prefix string) (n int) {
	for _, c := range calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

// SC-231, SC-244: what the cloud refuses.
func TestARefusalIsSaidAndTriedAgain(t *testing.T) {
	report(t, fakecloud.Options{Seed: 5}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		w.cloud.Inject(fakecloud.Fault{Call: fakecloud.CallLaunch, Chance: 1, Err: &cloud.RefusedError{Reason: "Unauthorized", Cause: "ec2:CreateFleet"}})
		w.scale("web", 1)
		w.until(time.Minute, "a condition that names the right that lacks", func() bool {
			for _, c := range w.claims() {
				if l := condition.Get(&c, karpv1.ClaimLaunched); l != nil && l.Reason == "Unauthorized" && strings.Contains(l.Message, "ec2:CreateFleet") {
					return true
				}
			}
			return false
		})
		w.cloud.Heal()
		w.until(5*time.Minute, "the pod running", func() bool { return w.run(1) })
		w.sound()
		if w.launched() != 1 {
			t.Errorf("bought %d machines for one pod", w.launched())
		}
	})
}

func TestThrottledCallsAreRepeatedNotMultiplied(t *testing.T) {
	report(t, fakecloud.Options{Seed: 6}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		c := w.start(setup{})
		w.cloud.Inject(fakecloud.Fault{Call: fakecloud.CallLaunch, Chance: 1, Err: &cloud.ThrottledError{Call: "CreateFleet"}})
		w.scale("web", 3)
		time.Sleep(2 * time.Minute)
		if n := count(c.ordeal.made(), "Launch"); n < 3 || n > 20 {
			t.Errorf("%d launches tried in two throttled minutes, want a back-off", n)
		}
		w.cloud.Heal()
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		w.sound()
		if w.launched() != 3 {
			t.Errorf("bought %d machines for three pods", w.launched())
		}
	})
}

func TestAClassThatIsNotReadyHoldsUpItsPoolAlone(t *testing.T) {
	report(t, fakecloud.Options{Seed: 7}, func(t *testing.T, w *world) {
		w.classes.set("no subnet matches its terms")
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 1)
		time.Sleep(time.Minute)
		pools := &karpv1.NodePoolList{}
		w.list(pools)
		if ready := condition.Get(&pools.Items[0], karpv1.NodePoolClassReady); ready == nil || ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, "no subnet") {
			t.Errorf("the pool says of its class: %+v", ready)
		}
		if w.launched() != 0 || len(w.claims()) != 0 || !w.events.said("no subnet matches its terms") {
			t.Errorf("want no purchase and an event that says why; %s", w.state())
		}
		w.classes.set("")
		edit(w, &pools.Items[0], func(p *karpv1.NodePool) { p.Labels = map[string]string{"looked": "again"} })
		w.until(5*time.Minute, "the pod running", func() bool { return w.run(1) })
		w.sound()
	})
}

// SC-11: a launch that gets no answer must not hold up those of other pools.
func TestALaunchThatHangsDelaysNoOther(t *testing.T) {
	report(t, fakecloud.Options{Seed: 8}, func(t *testing.T, w *world) {
		w.pool("slow", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{"c5.large"}
		})
		w.pool("fast", nil)
		w.start(setup{hang: func(r cloud.LaunchRequest) bool { return r.Options[0].Kind == "c5.large" }})
		w.deploy("stuck", 1, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: "slow"} })
		time.Sleep(10 * time.Second)
		w.deploy("web", 2, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelNodePool: "fast"} })
		w.until(4*time.Minute, "two pods running", func() bool { running, _ := w.podsRunning(); return running == 2 })
		w.scale("web", 0)
		w.until(4*time.Minute, "the two machines gone", func() bool { return len(w.instances()) == 0 })
	})
}

func TestLimitsHoldWhilePlansRace(t *testing.T) {
	report(t, fakecloud.Options{Seed: 9}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: cores(4)}
		})
		w.start(setup{lag: fixed(5 * time.Second)})
		for i := range 6 {
			w.scale(fmt.Sprintf("web%d", i), 1)
			time.Sleep(time.Second)
			if n := len(w.claims()); n > 2 {
				t.Fatalf("%d machines of 2 cores ordered under a limit of 4", n)
			}
		}
		for range 200 {
			time.Sleep(time.Second)
			if n := len(w.claims()); n > 2 {
				t.Fatalf("%d machines of 2 cores ordered under a limit of 4", n)
			}
		}
		if running, _ := w.podsRunning(); running != 2 {
			t.Errorf("%d pods run, want 2; %s", running, w.state())
		}
		w.sound()
	})
}

func TestAFalseStartOfTheMarketIsNoReasonToLaunchTwice(t *testing.T) {
	for _, call := range []fakecloud.Call{fakecloud.CallLaunch, fakecloud.CallTerminate} {
		t.Run("lost replies of "+string(call), func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 10}, func(t *testing.T, w *world) {
				w.pool("default", nil)
				w.start(setup{})
				w.cloud.Inject(fakecloud.Fault{Call: call, Chance: 0.7, After: true, Err: errLost})
				w.scale("web", 4)
				w.until(8*time.Minute, "four pods running", func() bool { return w.run(4) })
				w.sound()
				if w.launched() != 4 {
					t.Errorf("bought %d machines for four pods", w.launched())
				}
				w.scale("web", 0)
				w.until(8*time.Minute, "an empty cluster", w.empty)
			})
		})
	}
}

// New instances are not listed for a while: then the token alone keeps a
// repeated launch from being a second one.
func TestInstancesThatAreNotListedYetAreNotLaunchedTwice(t *testing.T) {
	figures := market.DefaultFigures()
	figures.Visible = market.Spread{Half: 8 * time.Second, Tail: 12 * time.Second}
	report(t, fakecloud.Options{Seed: 14, Figures: figures}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		w.cloud.Inject(fakecloud.Fault{Call: fakecloud.CallLaunch, Nth: 1, After: true, Err: errLost})
		w.scale("web", 3)
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		w.sound()
		if w.launched() != 3 {
			t.Errorf("bought %d machines for three pods", w.launched())
		}
	})
}

// Watches break while the API server restarts, and what they had not
// delivered is lost.
func TestCutWatchesAreMadeUpFor(t *testing.T) {
	report(t, fakecloud.Options{Seed: 11}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{lag: fixed(200 * time.Millisecond)})
		w.scale("web", 3)
		for range 240 {
			time.Sleep(500 * time.Millisecond)
			w.server.CutWatches()
		}
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		w.sound()
		if w.launched() != 3 {
			t.Errorf("bought %d machines for three pods", w.launched())
		}
		w.scale("web", 0)
		w.until(5*time.Minute, "an empty cluster", w.empty)
	})
}

// SC-256: a claim without a pool.
func TestAClaimMadeByHandGetsItsInstance(t *testing.T) {
	report(t, fakecloud.Options{Seed: 12}, func(t *testing.T, w *world) {
		w.start(setup{})
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
		c.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "default"}
		c.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large", "m5.xlarge"}}}
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: cores(3)}
		w.create(c)
		w.until(5*time.Minute, "an initialised node", func() bool {
			all := w.claims()
			return len(all) == 1 && condition.IsTrue(&all[0], karpv1.ClaimInitialized)
		})
		if m := w.liveInstances(); len(m) != 1 || m[0].Kind != "m5.xlarge" {
			t.Errorf("machines %v, want one m5.xlarge, which has 3 cores free", m)
		}
		time.Sleep(10 * time.Minute)
		w.sound()
		if len(w.nodes()) != 1 {
			t.Error("the node of a claim that no pool owns was taken away")
		}
		w.delete(c)
		w.until(5*time.Minute, "an empty cluster", w.empty)
	})
}

// An instance that the cloud takes back while it boots is replaced soon, not
// when its node is overdue.
func TestAInstanceTakenBackWhileItBootsIsReplacedSoon(t *testing.T) {
	report(t, fakecloud.Options{Seed: 13}, func(t *testing.T, w *world) {
		w.cloud.Market().SetNeverJoin(1)
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 1)
		w.until(time.Minute, "a machine on its claim", func() bool {
			c := w.claims()
			return len(c) == 1 && c[0].Status.ProviderID != ""
		})
		w.cloud.Market().SetNeverJoin(0)
		w.cloud.Market().Terminate(w.liveInstances()[0].ID, "Server.SpotInstanceTermination")
		w.until(6*time.Minute, "the pod running on another", func() bool { return w.run(1) })
		w.sound()
		w.until(time.Minute, "one claim", func() bool { return len(w.claims()) == 1 })
	})
}
