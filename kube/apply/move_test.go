package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

// report runs a story about a yard in virtual time.
func report(t *testing.T, nodes int, story func(t *testing.T, y *yard)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, nodes)
		ctx, stop := context.WithCancel(context.Background())
		var people sync.WaitGroup
		people.Go(func() { y.live(ctx) })
		defer func() { stop(); people.Wait() }()
		story(t, y)
	})
}

// carryOut lets an applier carry a plan out while something else happens.
func (y *yard) carryOut(p plan.Plan, meanwhile func()) {
	y.t.Helper()
	a := y.applier(nil)
	a.Move(context.Background(), y.snapshot(), p, y)
	if meanwhile != nil {
		meanwhile()
	}
	a.Wait()
	time.Sleep(5 * time.Second) // for the people to see to what was left
}

// SC-355: moves do not wait for each other, and one that fails holds no other up.
func TestMovesGoOnAtOnce(t *testing.T) {
	report(t, 3, func(t *testing.T, y *yard) {
		all, p := y.move(plan.Drifted, 3, 3).Moves[0], plan.Plan{}
		for i := range all.Removals {
			p.Moves = append(p.Moves, plan.Move{Removals: all.Removals[i : i+1], Launches: all.Launches[i : i+1]})
		}
		y.carryOut(p, func() {
			y.pod("late", "n-1", nil)
			time.Sleep(translate.StabilizeFor + startsAfter + 5*time.Second)
			if got, want := y.state(), "default-new-1 default-new-3 old-1"; got != want {
				t.Errorf("after the time for one: %s, want %s", got, want)
			}
		})
	})
}

// SC-357: many moves may take longer.
func TestTheTimeoutGrowsWithTheNumberOfMoves(t *testing.T) {
	for moves, want := range map[int]time.Duration{1: 10 * time.Minute, 7_500: 10 * time.Minute, 15_000: 20 * time.Minute, 100_000: time.Hour} {
		if got := timeout(moves); got != want {
			t.Errorf("one of %d moves may take %v, want %v", moves, got, want)
		}
	}
}

// TestAInstanceComesBeforeTheNodesGo: SC-354 nothing is launched before the scheduler has seen that
// the nodes are closed, and nothing deleted before the instances in their place have started.
func TestAInstanceComesBeforeTheNodesGo(t *testing.T) {
	report(t, 3, func(t *testing.T, y *yard) {
		began := time.Now()
		y.carryOut(y.move(plan.Drifted, 2, 2), func() {
			time.Sleep(translate.StabilizeFor - time.Millisecond)
			if got, want := y.state(), "old-0 old-1 old-2 | old-0 says why it is to go, old-1 says why it is to go, n-0 is closed, n-1 is closed"; got != want {
				t.Errorf("after %v: %s; want %s", time.Since(began), got, want)
			}
			if c := condition.Get(&y.claims()[0], karpv1.ClaimDisruptionReason); c.Status != "True" || c.Reason != "Drifted" {
				t.Errorf("claim old-0 says %+v, want that it is to go as Drifted", c)
			}
			time.Sleep(2 * time.Second)
			made := y.replacements()
			if len(made) != 2 || made[0].Annotations[api.AnnotationReplaces] != "old-0,old-1" || made[0].Annotations[api.AnnotationStage] != "waiting/2" {
				t.Errorf("after %v these machines are on order: %+v, want two that replace two", time.Since(began), made)
			}
			time.Sleep(startsAfter - 2*time.Second)
			if got := y.state(); !strings.Contains(got, "old-0 old-1") {
				t.Errorf("after %v, before the machines have started: %s", time.Since(began), got)
			}
		})
		if got, want := y.state(), "default-new-1 default-new-2 old-2"; got != want {
			t.Errorf("in the end: %s, want %s", got, want)
		}
		if e := y.ended[0]; len(y.ended) != 1 || e.Err != nil || !e.Replaces || !e.Gone[0] || !e.Gone[1] || len(y.launched) != 2 {
			t.Errorf("told of %+v and %d machines, want one move with two nodes gone for two machines", y.ended, len(y.launched))
		}
		if stage := y.replacements()[0].Annotations[api.AnnotationStage]; stage != "done" {
			t.Errorf("the stage is %q in the end", stage)
		}
	})
}

// TestWhatIsNoLongerSoEndsAMove: SC-314, SC-352 whatever changes between the plan and the deletion,
// before instances are launched or while they start: all nodes stay, open to pods, no instance is
// left, and a new plan is asked for.
func TestWhatIsNoLongerSoEndsAMove(t *testing.T) {
	changes := map[string]func(y *yard){
		"a pod came": func(y *yard) { y.pod("late", "n-1", nil) },
		"a pod came that nothing creates again": func(y *yard) {
			y.pod("late", "n-1", func(p *corev1.Pod) { p.OwnerReferences = nil })
		},
		"a pod of a Job came that fails with it": func(y *yard) { y.job("late", "n-1", 0) },
		"the ReplicaSet of its pods left them behind": func(y *yard) {
			edited(y, "default", "a-1", &corev1.Pod{}, func(p *corev1.Pod) { p.OwnerReferences = nil })
		},
		"all nodes are frozen": func(y *yard) {
			y.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}})
		},
		"a policy has no open window": func(y *yard) { y.create(night("23:00")) },
		"a policy is not understood": func(y *yard) {
			p := night("23:00")
			p.Spec.Windows[0].TimeZone = "Mars/Olympus"
			y.create(p)
		},
		"a pod must not be disturbed": func(y *yard) {
			edited(y, "default", "a-1", &corev1.Pod{}, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
		},
		"a pod of a DaemonSet must not be disturbed": func(y *yard) {
			y.pod("daemon", "n-1", func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
				p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "1h"}
			})
		},
		"a budget of pods is used up": func(y *yard) { y.allowEvictions(0) },
		"a budget of pods was changed and not looked at since": func(y *yard) {
			edited(y, "default", "web", &policyv1.PodDisruptionBudget{}, func(g *policyv1.PodDisruptionBudget) { g.Spec.MaxUnavailable = &intstr.IntOrString{IntVal: 1} })
		},
		"pods have a second budget": func(y *yard) {
			g := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "all"}}
			g.Spec.Selector = &metav1.LabelSelector{}
			y.create(g)
			y.status(g, func() { g.Status.DisruptionsAllowed, g.Status.ObservedGeneration = 5, g.Generation })
		},
		"a pod is the last ready one of a Service, and is to wait for another": func(y *yard) {
			y.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}})
			p := &corev1.Pod{}
			edited(y, "default", "a-1", p, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationKeepReady: "true"} })
			y.status(p, func() {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			})
		},
		"a pod is the only one of a Service that is there, and more are wanted": func(y *yard) {
			y.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"only": "a-1"}}})
			set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2))}}
			y.create(set)
			p := &corev1.Pod{}
			edited(y, "default", "a-1", p, func(p *corev1.Pod) {
				p.Labels, p.Annotations = map[string]string{"app": "web", "only": "a-1"}, map[string]string{api.AnnotationKeepReady: "true"}
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: set.UID, Controller: new(true)}}
			})
			y.status(p, func() {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			})
		},
		"a node must not be disturbed": func(y *yard) {
			edited(y, "", "n-1", &corev1.Node{}, func(n *corev1.Node) { n.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
		},
		"somebody opened a node": func(y *yard) { edited(y, "", "n-1", &corev1.Node{}, func(n *corev1.Node) { n.Spec.Taints = nil }) },
		"users lowered the budget": func(y *yard) {
			edited(y, "", "default", &karpv1.NodePool{}, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "1"}} })
		},
	}
	for name, change := range changes {
		for when, after := range map[string]time.Duration{"before machines are ordered": translate.StabilizeFor / 2, "while they start": translate.StabilizeFor + startsAfter/2 + 4*time.Second} {
			t.Run(name+" "+when, func(t *testing.T) {
				report(t, 3, func(t *testing.T, y *yard) {
					y.carryOut(y.move(plan.Underutilized, 2, 2), func() { time.Sleep(after); change(y) })
					y.gaveUp()
					if !errors.Is(y.ended[0].Err, ErrChanged) {
						t.Errorf("the move ended with %v", y.ended[0].Err)
					}
					if ordered := len(y.launched) > 0; ordered != (after > translate.StabilizeFor) {
						t.Errorf("machines were ordered: %v", ordered)
					}
				})
			})
		}
	}
}

// A pod that the plan had a place for returns no more when its Job has failed as often as
// it may since.
func TestAJobThatFailedAsOftenAsItMayEndsAMove(t *testing.T) {
	for failed, goes := range map[int32]bool{5: true, 6: false} {
		report(t, 3, func(t *testing.T, y *yard) {
			y.job("batch", "n-1", 6)
			y.carryOut(y.move(plan.Underutilized, 2, 2), func() {
				time.Sleep(translate.StabilizeFor / 2)
				j := &batchv1.Job{}
				if err := y.hand.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "batch"}, j); err != nil {
					t.Fatal(err)
				}
				y.status(j, func() { j.Status.Failed = failed })
			})
			if goes != (y.ended[0].Err == nil) || !goes && !errors.Is(y.ended[0].Err, ErrChanged) {
				t.Errorf("with %d of 6 pods failed the move ended with %v", failed, y.ended[0].Err)
			}
		})
	}
}

// A claim that never expires goes gracefully at its age: what its pods, their budgets or a freeze
// forbid holds it up, as it does other nodes.
func TestANodeThatGoesAtItsAgeInGoodOrderIsNotForced(t *testing.T) {
	for name, change := range map[string]func(y *yard){
		"a pod must not be disturbed": func(y *yard) {
			edited(y, "default", "a-0", &corev1.Pod{}, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotEvict: "true"} })
		},
		"a budget of pods is used up": func(y *yard) { y.allowEvictions(0) },
		"a node must not be disturbed": func(y *yard) {
			edited(y, "", "n-0", &corev1.Node{}, func(n *corev1.Node) { n.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
		},
		"its pool replaces none at that age": func(*yard) {},
	} {
		for instances, want := range map[int]string{0: "old-0 old-1", 1: "old-0 old-1"} {
			t.Run(fmt.Sprintf("%s, machines in its place: %d", name, instances), func(t *testing.T) {
				report(t, 2, func(t *testing.T, y *yard) {
					y.launchedWith(0, func(c *karpv1.NodeClaimSpec) { c.ExpireAfter = karpv1.Never })
					y.carryOut(y.move(plan.Expired, 1, instances), func() { time.Sleep(translate.StabilizeFor / 2); change(y) })
					if got := y.state(); got != want || !errors.Is(y.ended[0].Err, ErrChanged) {
						t.Errorf("in the end: %s, want %s; told of %+v", got, want, y.ended)
					}
				})
			})
		}
	}
}

// A node past its age goes whatever its users say, but not by a clock that came into doubt
// after the plan was made.
func TestANodePastItsAgeStaysByAClockInDoubt(t *testing.T) {
	for _, instances := range []int{0, 1} {
		report(t, 2, func(t *testing.T, y *yard) {
			y.launchedWith(0, func(c *karpv1.NodeClaimSpec) { c.ExpireAfter = "1s" })
			y.carryOut(y.move(plan.Expired, 1, instances), func() {
				time.Sleep(translate.StabilizeFor / 2)
				y.mu.Lock()
				defer y.mu.Unlock()
				y.doubt = "the clock is two hours ahead"
			})
			if got := y.state(); got != "old-0 old-1" || !errors.Is(y.ended[0].Err, ErrChanged) {
				t.Errorf("%d machines in its place; in the end: %s; told of %+v", instances, got, y.ended)
			}
		})
	}
}

// night is a policy whose window is for one hour in the night.
func night(start string) *v1alpha1.DisruptionPolicy {
	return &v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"},
		Spec: v1alpha1.DisruptionPolicySpec{Windows: []v1alpha1.Window{{Start: start, Duration: "1h"}}}}
}

// gaveUp checks that all is as it was, and that a new plan is asked for.
func (y *yard) gaveUp() {
	y.t.Helper()
	if got, want := y.state(), "old-0 old-1 old-2"; got != want {
		y.t.Errorf("in the end: %s, want %s", got, want)
	}
	if len(y.ended) != 1 || y.ended[0].Err == nil || y.ended[0].Gone[0] || y.again < 1 {
		y.t.Fatalf("told of %+v and asked for a plan %d times, want one move that was given up", y.ended, y.again)
	}
}

// TestInstancesThatDoNotComeEndAMove: SC-350, SC-351 one that cannot be launched does so at once,
// one that does not start after ten minutes.
func TestInstancesThatDoNotComeEndAMove(t *testing.T) {
	for name, trouble := range map[string]func(y *yard){
		"sold out":  func(y *yard) { y.unavailable["default-new-2"] = true },
		"not to be": func(y *yard) { y.neverUp = true },
	} {
		t.Run(name, func(t *testing.T) {
			report(t, 3, func(t *testing.T, y *yard) {
				trouble(y)
				y.carryOut(y.move(plan.Underutilized, 2, 2), nil)
				y.gaveUp()
				if !errors.Is(y.ended[0].Err, ErrNoReplacement) {
					t.Errorf("the move ended with %v", y.ended[0].Err)
				}
			})
		})
	}
}

// TestWhatIsNoMatterDoesNotEndAMove: what the plan does not depend on may change.
func TestWhatIsNoMatterDoesNotEndAMove(t *testing.T) {
	protect := func(y *yard) {
		edited(y, "default", "a-0", &corev1.Pod{}, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"} })
		y.allowEvictions(0)
	}
	tests := map[string]struct {
		reason    plan.RemovalReason
		instances int
		change    func(y *yard)
		claim     func(c *karpv1.NodeClaimSpec) // what the node that goes was launched with; may be nil
	}{
		"pods that went": {plan.Underutilized, 1, func(y *yard) { _ = y.hand.Delete(context.Background(), &y.pods()[0], client.GracePeriodSeconds(0)) }, nil},
		"a pod of a DaemonSet": {plan.Underutilized, 1, func(y *yard) {
			y.pod("daemon", "n-0", func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
			})
		}, nil},
		"a pod that nothing creates again, on a drifted node": {plan.Drifted, 1, func(y *yard) {
			y.pod("one-off", "n-0", func(p *corev1.Pod) { p.OwnerReferences = nil })
		}, nil},
		"a pod of a Job that fails with it, on a drifted node": {plan.Drifted, 1, func(y *yard) { y.job("one-off", "n-0", 0) }, nil},
		"a pod that its user lets end": {plan.Underutilized, 1, func(y *yard) {
			y.pod("one-off", "n-0", func(p *corev1.Pod) {
				p.OwnerReferences, p.Annotations = nil, map[string]string{api.AnnotationDoNotDisrupt: "false"}
			})
		}, nil},
		"a claim whose status was written": {plan.Underutilized, 1, func(y *yard) {
			c := y.claims()[0]
			y.status(&c, func() { c.Status.LastPodEventTime = metav1.Now() })
		}, nil},
		"pods that hold up a drifted node, where they have a term": {plan.Drifted, 1, func(y *yard) {
			protect(y)
		}, func(c *karpv1.NodeClaimSpec) { c.TerminationGracePeriod = "1h" }},
		"pods that a budget keeps for ever, on a drifted node where they have a term": {plan.Drifted, 1, func(y *yard) {
			edited(y, "default", "web", &policyv1.PodDisruptionBudget{}, func(g *policyv1.PodDisruptionBudget) {
				g.Spec.MaxUnavailable = new(intstr.FromInt32(0))
			})
			y.allowEvictions(0)
			y.pod("late", "n-0", nil)
		}, func(c *karpv1.NodeClaimSpec) { c.TerminationGracePeriod = "1h" }},
		"pods that hold up a node that is too old": {plan.Expired, 1, protect, nil},
		"a freeze, for a node that is too old by now": {plan.Expired, 1, func(y *yard) {
			y.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}})
		}, func(c *karpv1.NodeClaimSpec) { c.ExpireAfter = "1s" }},
		"a policy without an open window, for a node that is too old": {plan.Expired, 1, func(y *yard) { y.create(night("23:00")) }, nil},
		"a policy for other pools": {plan.Underutilized, 1, func(y *yard) {
			other := night("23:00")
			other.Spec.NodePools = &v1alpha1.NodePoolSelection{Names: []string{"other"}}
			y.create(other)
		}, nil},
		"a budget, for a node that is too old": {plan.Expired, 1, func(y *yard) {
			edited(y, "", "default", &karpv1.NodePool{}, func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "0"}} })
		}, nil},
		"a new pod, for a node that is too old and cannot be replaced": {plan.Expired, 0, func(y *yard) { y.pod("late", "n-0", nil); protect(y) }, nil},
		"pods that are not ready and need not be": {plan.Underutilized, 1, func(y *yard) {
			y.allowEvictions(0)
			edited(y, "default", "web", &policyv1.PodDisruptionBudget{}, func(g *policyv1.PodDisruptionBudget) {
				always := policyv1.AlwaysAllow
				g.Spec.UnhealthyPodEvictionPolicy = &always
			})
			for _, p := range y.pods() {
				y.status(&p, func() {
					p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
				})
			}
		}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, 2, func(t *testing.T, y *yard) {
				if tt.claim != nil {
					y.launchedWith(0, tt.claim)
				}
				y.carryOut(y.move(tt.reason, 1, tt.instances), func() { time.Sleep(time.Second); tt.change(y) })
				want := map[int]string{0: "old-1", 1: "default-new-1 old-1"}[tt.instances]
				if got := y.state(); got != want || y.ended[0].Err != nil {
					t.Errorf("in the end: %s, want %s; told of %+v", got, want, y.ended)
				}
			})
		})
	}
}

// TestNodesWithoutInstancesGoOneByOne: SC-356 they wait for nothing but the scheduler, and a node that stays holds no other up.
func TestNodesWithoutInstancesGoOneByOne(t *testing.T) {
	report(t, 4, func(t *testing.T, y *yard) {
		y.carryOut(y.move(plan.Underutilized, 3, 0), func() {
			y.pod("late", "n-1", nil)
			time.Sleep(translate.StabilizeFor + 10*time.Millisecond)
			if got, want := y.state(), "old-1 old-3"; !strings.HasPrefix(got, want) { // it may be open again by now
				t.Errorf("once a scheduler must have seen it: %s, want %s", got, want)
			}
		})
		if got, want := y.state(), "old-1 old-3"; got != want {
			t.Errorf("in the end: %s, want %s", got, want)
		}
		if len(y.ended) != 3 || y.ended[0].Together != 3 || y.ended[0].Replaces {
			t.Errorf("told of %+v, want three moves of one plan", y.ended)
		}
	})
}

// TestNothingIsDeletedUnread: while part of the live state cannot be read, nodes
// stay and it is tried again; when it comes back in time the move goes on, else
// it is undone.
func TestNothingIsDeletedUnread(t *testing.T) {
	for _, kind := range []string{"Node", "ConfigMap", "NodeClaim", "PodList", "PodDisruptionBudgetList", "DisruptionPolicyList", "NodePool", "NodeClaimList", "NodeList"} {
		for name, tt := range map[string]struct {
			from, away time.Duration
			want       string
		}{
			"for a while at first":              {2 * time.Second, 3 * time.Minute, "default-new-1 old-1"},
			"for a while when machines started": {translate.StabilizeFor + startsAfter/2, 3 * time.Minute, "default-new-1 old-1"},
			"for too long":                      {2 * time.Second, 20 * time.Minute, "old-0 old-1"},
			"for too long in the end":           {translate.StabilizeFor + startsAfter/2, 20 * time.Minute, "old-0 old-1"},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				report(t, 2, func(t *testing.T, y *yard) {
					y.carryOut(y.move(plan.Underutilized, 1, 1), func() {
						time.Sleep(tt.from)
						y.set(func() { y.unread = kind })
						time.Sleep(tt.away)
						if got := y.state(); !strings.Contains(got, "old-0 old-1") {
							t.Errorf("while it cannot be read: %s", got)
						}
						if why := y.ledger.Unread()[poolID]; why == "" && tt.away < timeoutMin && kind != "NodeClaim" {
							t.Error("nobody can tell that it cannot be read")
						}
						y.set(func() { y.unread = "" })
					})
					if left := y.ledger.Unread(); len(left) > 0 {
						t.Errorf("in the end there is still %v to be read", left)
					}
					if got := y.state(); got != tt.want {
						t.Errorf("in the end: %s, want %s", got, tt.want)
					}
					if gaveUp := errors.Is(y.ended[0].Err, ErrUnread) || errors.Is(y.ended[0].Err, ErrNoReplacement); y.stuck != 1 && kind != "NodeClaim" || gaveUp != (tt.away > timeoutMin) {
						t.Errorf("told %d times that it is stuck, and of %+v", y.stuck, y.ended)
					}
				})
			})
		}
	}
}

func (y *yard) set(change func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	change()
}

// TestANodeThatAUserDeletesKeepsItsInstance: its pods need it.
func TestANodeThatAUserDeletesKeepsItsInstance(t *testing.T) {
	report(t, 2, func(t *testing.T, y *yard) {
		y.carryOut(y.move(plan.Underutilized, 1, 1), func() {
			time.Sleep(translate.StabilizeFor + startsAfter/2)
			_ = y.hand.Delete(context.Background(), &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "old-0"}})
		})
		if got, want := y.state(), "default-new-1 old-1"; got != want || y.ended[0].Err != nil {
			t.Errorf("in the end: %s, want %s; told of %+v", got, want, y.ended)
		}
	})
}

// TestANodeThatIsGoneIsNoTrouble: what has merely changed is not reported as a failure.
func TestANodeThatIsGoneIsNoTrouble(t *testing.T) {
	report(t, 2, func(t *testing.T, y *yard) {
		p := y.move(plan.Underutilized, 1, 0)
		_ = y.hand.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}})
		y.carryOut(p, nil)
		if !errors.Is(y.ended[0].Err, ErrChanged) {
			t.Errorf("told of %+v", y.ended)
		}
	})
}

// TestAInstanceThatPodsUseIsKept: a move is given up when pods run on the instance by then.
func TestAInstanceThatPodsUseIsKept(t *testing.T) {
	report(t, 2, func(t *testing.T, y *yard) {
		y.carryOut(y.move(plan.Underutilized, 1, 1), func() {
			time.Sleep(translate.StabilizeFor + startsAfter/2 + 4*time.Second)
			y.pod("late", "n-0", nil)
			y.pod("early", "n-default-new-1", nil)
		})
		if got, want := y.state(), "default-new-1 old-0 old-1"; got != want {
			t.Errorf("in the end: %s, want %s", got, want)
		}
		if stage := y.replacements()[0].Annotations[api.AnnotationStage]; stage != "kept" {
			t.Errorf("the stage is %q", stage)
		}
	})
}

// TestALostReplyToAnOrderLeavesNoInstance: whether the claim was created is not known for a while.
func TestALostReplyToAnOrderLeavesNoInstance(t *testing.T) {
	report(t, 2, func(t *testing.T, y *yard) {
		a := y.applier(func(c store.Call) (error, error) {
			if c.Verb == store.Create && c.Name == "default-new-2" {
				y.set(func() { y.unread = "NodeClaim" })
				return nil, errors.New("connection reset by peer")
			}
			return nil, nil
		})
		a.Move(context.Background(), y.snapshot(), y.move(plan.Underutilized, 1, 2), y)
		time.Sleep(time.Minute)
		y.set(func() { y.unread = "" })
		a.Wait()
		time.Sleep(5 * time.Second)
		if got, want := y.state(), "old-0 old-1"; got != want {
			t.Errorf("in the end: %s, want %s; %+v", got, want, y.ended)
		}
	})
}

// A node that is empty or underutilized goes by the policy of its pool; another
// goes by none.
func TestMovesReportThePolicyThatTheyFollow(t *testing.T) {
	for reason, want := range map[plan.RemovalReason]karpv1.ConsolidationPolicy{
		plan.Underutilized: karpv1.ConsolidateWhenEmptyOrUnderutilized, plan.Drifted: "",
	} {
		report(t, 2, func(t *testing.T, y *yard) {
			y.carryOut(y.move(reason, 1, 0), nil)
			if e := y.ended[0]; e.Err != nil || e.Policies[0] != want {
				t.Errorf("%s: told of policy %q and %v, want %q", reason, e.Policies[0], e.Err, want)
			}
		})
	}
}

// Of two nodes one has gone when the other cannot: pods of the first need the instances, and so
// these stay.
func TestInstancesStayOnceANodeHasGoneForThem(t *testing.T) {
	report(t, 2, func(t *testing.T, y *yard) {
		a := y.applier(func(c store.Call) (error, error) {
			if c.Verb == store.Delete && c.Name == "old-1" {
				return errors.New("etcdserver: request timed out"), nil
			}
			return nil, nil
		})
		a.Move(context.Background(), y.snapshot(), y.move(plan.Drifted, 2, 2), y)
		a.Wait()
		time.Sleep(5 * time.Second)
		if got, want := y.state(), "default-new-1 default-new-2 old-1"; got != want {
			t.Errorf("in the end: %s, want %s; told of %+v", got, want, y.ended)
		}
	})
}
