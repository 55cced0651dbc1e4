package whole_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/fakecloud"
)

// onSpot has the pool launch spot instances alone.
func onSpot(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large", "c5.large"}},
		{Key: api.LabelCapacityType, Operator: "In", Values: []string{"spot"}},
	}
}

// takeBack has the cloud warn of the end of a pod's instance, and returns the pod and
// the claim.
func (w *world) takeBack() (pod corev1.Pod, claim string) {
	w.t.Helper()
	pod = w.allPods()[0]
	for _, c := range w.claims() {
		if c.Status.NodeName == pod.Spec.NodeName {
			w.cloud.Market().Interrupt(translate.InstanceID(c.Status.ProviderID))
			return pod, c.Name
		}
	}
	w.t.Fatalf("no claim has node %s; %s", pod.Spec.NodeName, w.state())
	return pod, ""
}

// started reports whether an instance other than this claim's has joined and started.
func (w *world) started(other string) bool {
	for _, c := range w.claims() {
		if c.Name != other && condition.IsTrue(&c, karpv1.ClaimInitialized) {
			return true
		}
	}
	return false
}

// A spot instance is taken back: its node is closed at once, the instance in its place
// is ordered at once, and the pod stays until that has started.
func TestAPodStaysOnASpotInstanceUntilAnotherHasStarted(t *testing.T) {
	report(t, fakecloud.Options{Seed: 50}, func(t *testing.T, w *world) {
		w.up(1, onSpot, plain)
		pod, claim := w.takeBack()
		w.until(5*time.Second, "the node closed and another machine ordered", func() bool {
			n := w.nodes()
			return len(n) == 1 && translate.HasTaint(&n[0], api.TaintDisrupted) && len(w.liveInstances()) == 2
		})
		w.until(100*time.Second, "the other machine started", func() bool {
			up := w.started(claim)
			if !up && !hasPod(w.allPods(), pod.UID) {
				t.Fatalf("the pod was evicted before another machine had started; %s", w.state())
			}
			return up
		})
		w.until(5*time.Second, "the pod evicted then", func() bool { return !hasPod(w.allPods(), pod.UID) })
		if !w.events.said("DrainWaiting") {
			t.Error("no event says that the drain waits")
		}
		w.until(3*time.Minute, "one machine", func() bool { return w.run(1) && len(w.claims()) == 1 && len(w.instances()) == 1 })
		if n := w.launched(); n != 2 {
			t.Errorf("%d machines were bought, want two", n)
		}
		w.sound()
	})
}

// A pod that may not be disturbed stays on an instance that is taken back until that ends,
// and another instance is ordered for it at once, although it is not evicted: it runs there
// as soon as its node has ended, and nothing is launched twice for it, however late its owner
// makes another. The instance in its place is not taken for an empty one meanwhile,
// although such go at once.
func TestAPodThatMayNotBeDisturbedHasAnotherInstanceBeforeItsOwnEnds(t *testing.T) {
	protect := func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} }
	report(t, fakecloud.Options{Seed: 56}, func(t *testing.T, w *world) {
		w.up(1, func(p *karpv1.NodePool) {
			onSpot(p)
			p.Spec.Disruption.ConsolidateAfter = "0s"
		}, protect)
		pod, claim := w.takeBack()
		warned := time.Now()
		w.until(5*time.Second, "another machine ordered", func() bool { return len(w.liveInstances()) == 2 })
		w.until(110*time.Second, "the other machine started", func() bool { return w.started(claim) })
		w.mu.Lock()
		w.actsEvery = 10 * time.Second
		w.mu.Unlock()
		w.until(3*time.Minute, "the machine ended", func() bool { return len(w.instances()) == 1 })
		if ended := time.Since(warned); ended < 2*time.Minute || !hasPod(w.allPods(), pod.UID) {
			t.Fatalf("the pod is gone %v after the warning, want it to stay until its machine ends; %s",
				ended, w.state())
		}
		w.until(30*time.Second, "the pod on the other machine", func() bool { return w.run(1) && !hasPod(w.allPods(), pod.UID) })
		w.until(time.Minute, "the old node gone", func() bool { return len(w.nodes()) == 1 && len(w.claims()) == 1 })
		time.Sleep(10 * time.Minute)
		if n := w.launched(); n != 2 || !w.run(1) {
			t.Errorf("%d machines were bought, want two; %s", n, w.state())
		}
		w.sound()
	})
}

// No instance joins in time: the pod is evicted while it has time to end, and runs
// again in the end.
func TestAPodLeavesASpotInstanceInTimeWhereNoOtherComes(t *testing.T) {
	report(t, fakecloud.Options{Seed: 51}, func(t *testing.T, w *world) {
		w.up(1, onSpot, plain)
		w.cloud.Market().SetNeverJoin(1)
		pod, _ := w.takeBack()
		began := time.Now()
		w.until(3*time.Minute, "the pod evicted", func() bool { return !hasPod(w.allPods(), pod.UID) })
		if took := time.Since(began); took < 99*time.Second || took > 103*time.Second {
			t.Errorf("the pod was evicted after %v, want 100 s: 120 less 5 that it may take to end and 15", took)
		}
		w.cloud.Market().SetNeverJoin(0)
		w.until(40*time.Minute, "one machine", func() bool { return w.run(1) && len(w.claims()) == 1 && len(w.instances()) == 1 })
		w.sound()
	})
}

// The instance ends before it was said to: none waits for that moment any more.
func TestAInstanceThatEndsEarlyIsWaitedForNoLonger(t *testing.T) {
	report(t, fakecloud.Options{Seed: 52}, func(t *testing.T, w *world) {
		w.up(1, onSpot, plain)
		pod, claim := w.takeBack()
		time.Sleep(5 * time.Second)
		if !hasPod(w.allPods(), pod.UID) {
			t.Fatalf("the pod was evicted at once; %s", w.state())
		}
		for _, c := range w.claims() {
			if c.Name == claim {
				w.cloud.Market().Terminate(translate.InstanceID(c.Status.ProviderID), "Client.UserInitiatedShutdown")
			}
		}
		w.until(5*time.Second, "the pod evicted", func() bool { return !hasPod(w.allPods(), pod.UID) })
		w.until(5*time.Minute, "one machine", func() bool { return w.run(1) && len(w.claims()) == 1 && len(w.instances()) == 1 })
		w.sound()
	})
}

// A pool that asks for it has an instance replaced that the cloud recommends to replace:
// within its budgets, and after the instance in its place has started.
func TestAInstanceIsReplacedOnRecommendation(t *testing.T) {
	report(t, fakecloud.Options{Seed: 53}, func(t *testing.T, w *world) {
		w.up(2, func(p *karpv1.NodePool) {
			onSpot(p)
			p.Annotations = map[string]string{api.AnnotationRebalance: api.RebalanceReplace}
			p.Spec.Disruption.ConsolidateAfter = "Never"
			p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "0"}}
		}, plain)
		time.Sleep(time.Hour)
		done := make(chan struct{})
		go w.watchman(done)
		defer close(done)
		pod := w.allPods()[0]
		for _, c := range w.claims() {
			if c.Status.NodeName == pod.Spec.NodeName {
				w.cloud.Market().Recommend(translate.InstanceID(c.Status.ProviderID))
			}
		}
		time.Sleep(5 * time.Minute)
		if !hasPod(w.allPods(), pod.UID) || w.launched() != 2 {
			t.Fatalf("a machine was replaced against its budget; %s", w.state())
		}
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "1"}} })
		w.until(5*time.Minute, "the pod on another machine", func() bool {
			return !hasPod(w.allPods(), pod.UID) && w.run(2) && len(w.claims()) == 2 && len(w.instances()) == 2
		})
		time.Sleep(time.Hour)
		if n := len(w.liveInstances()); n != 2 {
			t.Errorf("%d machines, want the two", n)
		}
		w.sound()
	})
}

// The cloud takes all instances back at once, and pods take a while to come back: those
// in their place are not taken for empty ones meanwhile, although such go at once. So too
// where owners make a few pods at a time, and kube-scheduler gives these the places that
// were launched for others.
func TestAStormLaunchesNothingTwice(t *testing.T) {
	for name, slow := range map[string]struct {
		every time.Duration
		most  int
	}{"all come back at once": {time.Second, 0}, "they come one by one": {10 * time.Second, 1}, "they come a few at a time": {20 * time.Second, 3}} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 57}, func(t *testing.T, w *world) {
				const n = 16
				w.up(n, func(p *karpv1.NodePool) {
					onSpot(p)
					p.Spec.Disruption.ConsolidateAfter = "0s"
				}, plain)
				old := w.claimNames()
				w.mu.Lock()
				w.actsEvery, w.actsMost, w.contrary = slow.every, slow.most, true
				w.mu.Unlock()
				for _, m := range w.liveInstances() {
					w.cloud.Market().Interrupt(m.ID)
				}
				w.until(10*time.Minute, "all machines replaced", func() bool { return w.renewed(old) && w.run(n) && len(w.instances()) == n })
				time.Sleep(5 * time.Minute)
				if launched := w.launched(); launched != 2*n || !w.run(n) {
					t.Errorf("%d machines were bought in all, want %d; %s", launched, 2*n, w.state())
				}
				w.sound()
			})
		})
	}
}

// The owner of an interruptible reservation takes it back: an instance is launched beside the
// reservation at once, and the pod stays until that has started.
func TestAPodStaysOnAReclaimedInstanceUntilAnotherHasStarted(t *testing.T) {
	reportAWS(t, 55, func(t *testing.T, w *world) {
		tags := map[string]string{"team": "web"}
		id := w.aws.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 1, Interruptible: true, Tags: tags})
		edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) {
			c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: tags}}
		})
		w.up(1, func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
				{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large", "c5.large"}},
				{Key: api.LabelCapacityType, Operator: "In", Values: []string{"reserved", "on-demand"}},
			}
		}, plain)
		pod, c := w.allPods()[0], w.claims()[0]
		if c.Labels[api.LabelReservationID] != id || c.Labels[api.LabelReservationInterruptible] != "true" {
			t.Fatalf("the machine is bought as %v, want it from the reservation", c.Labels)
		}
		if warned, err := w.aws.server.Reclaim(id, 0); err != nil || len(warned) != 1 {
			t.Fatalf("Reclaim = %v, %v; want the machine warned", warned, err)
		}
		w.until(110*time.Second, "another machine started", func() bool {
			up := w.started(c.Name)
			if !up && !hasPod(w.allPods(), pod.UID) {
				t.Fatalf("the pod was evicted before another machine had started; %s", w.state())
			}
			return up
		})
		w.until(5*time.Second, "the pod evicted then", func() bool { return !hasPod(w.allPods(), pod.UID) })
		if !w.events.said("CapacityReservationInstanceInterrupted") {
			t.Error("no event says that the capacity is taken back")
		}
		w.until(3*time.Minute, "one machine", func() bool { return w.run(1) && len(w.claims()) == 1 && len(w.instances()) == 1 })
		if now := w.claims()[0]; now.Labels[api.LabelCapacityType] != "on-demand" || w.launched() != 2 {
			t.Errorf("the pod runs on a machine bought as %s, of %d in all; want one on demand beside the reservation",
				now.Labels[api.LabelCapacityType], w.launched())
		}
		w.sound()
	})
}

// A NodeClaim names all reservations that would do: where one turns out to be full it has a
// instance of another, and no more is asked of one than it has.
func TestANodeClaimHasAnyOfTheReservationsThatWouldDo(t *testing.T) {
	for name, tt := range map[string]struct {
		pods  int
		fault string // of the first CreateFleet
	}{
		"each has room for one of two machines": {2, ""},
		"one is full by then":                   {1, "ReservationCapacityExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			reportAWS(t, 56, func(t *testing.T, w *world) {
				tags := map[string]string{"team": "web"}
				var ids []string
				for range 2 {
					ids = append(ids, w.aws.server.AddReservation(reservation.CapacityReservation{Type: "m5.large", Zone: "us-east-1a", Count: 1, Targeted: true, Tags: tags}))
				}
				slices.Sort(ids)
				edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) {
					c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: tags}}
				})
				w.pool("default", func(p *karpv1.NodePool) {
					p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
						{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large"}},
						{Key: api.LabelCapacityType, Operator: "In", Values: []string{"reserved", "on-demand"}},
					}
				})
				w.start(setup{})
				w.until(5*time.Minute, "a pool that is ready", w.poolIsReady)
				if tt.fault != "" {
					w.aws.server.Fault("CreateFleet", 1, tt.fault)
				}
				w.scale("web", tt.pods)
				w.until(5*time.Minute, "pods running", func() bool { return w.run(tt.pods) })
				var from []string
				for _, c := range w.claims() {
					from = append(from, c.Labels[api.LabelReservationID])
					at := slices.IndexFunc(c.Spec.Requirements, func(r karpv1.Requirement) bool { return r.Key == api.LabelReservationID })
					if at < 0 || !slices.Equal(c.Spec.Requirements[at].Values, ids) {
						t.Errorf("NodeClaim %s requires %+v, want any of %v", c.Name, c.Spec.Requirements, ids)
					}
				}
				want := ids[len(ids)-tt.pods:] // the later by name where the first is full
				if slices.Sort(from); !slices.Equal(from, want) {
					t.Errorf("the machines are from %v, want %v; %s", from, want, w.state())
				}
				if w.events.said("InsufficientCapacityError") != (tt.fault != "") {
					t.Errorf("an event of short capacity: %v; want it where EC2 refused alone",
						w.events.said("InsufficientCapacityError"))
				}
				w.sound()
			})
		})
	}
}
