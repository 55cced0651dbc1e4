package termination

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

// refused has evictions fail for as long as a test says, and counts them.
func (w *town) refused(why error) (asked *int, allow func()) {
	asked, open := new(int), false
	w.fault = func(c store.Call) (before, after error) {
		if c.Verb != store.Evict || open {
			return nil, nil
		}
		*asked++
		return why, nil
	}
	return asked, func() { open = true }
}

// An eviction that budgets refuse is asked for a second later, then less and less
// often, and at last every ten seconds. SC-264: so is one of a pod that several
// budgets are about, which the API calls an error of its own.
func TestARefusedEvictionIsAskedForLessAndLessOften(t *testing.T) {
	for name, why := range map[string]error{
		"a budget":    apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0),
		"two budgets": apierrors.NewInternalError(errors.New("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")),
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				asked, allow := w.refused(why)
				w.run("web", leaves, nil, nil)
				over := func(length time.Duration) func() bool {
					end := time.Now().Add(length)
					return func() bool { return time.Now().After(end) }
				}
				w.leave(time.Hour, "ten seconds", over(10*time.Second))
				if *asked != 4 {
					t.Errorf("asked %d times in the first ten seconds, want 4: at once, and after 1, 3 and 7 s", *asked)
				}
				*asked = 0
				w.on(time.Hour, "half an hour", over(30*time.Minute))
				if *asked < 150 || *asked > 190 {
					t.Errorf("asked %d times in half an hour, want every ten seconds", *asked)
				}
				if !w.reported.has("FailedDraining: pod default/web-1 may not be evicted now: ") || len(w.pods("web")) != 1 {
					t.Errorf("%d pods are left, want 1; told %q", len(w.pods("web")), w.reported.texts)
				}
				allow()
				w.on(time.Minute, "the pod ending", func() bool { return len(w.pods("web")) == 0 })
			})
		})
	}
}

// The API refuses an eviction in the same words where a PodDisruptionBudget allows none now
// and where it never does. It is not asked for the latter until that has changed: which
// budget it is, why, and what helps is said.
func TestAnEvictionThatIsNeverAllowedIsNotAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		status policyv1.PodDisruptionBudgetStatus
		want   string
	}{
		"its controller cannot work out how many pods there are to be": {policyv1.PodDisruptionBudgetStatus{Conditions: []metav1.Condition{{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "jobs.batch does not implement the scale subresource"}}},
			"FailedDraining: pod default/web-1 is never evicted: PodDisruptionBudget default/web never allows an eviction: its condition DisruptionAllowed says that the sync failed " +
				"(jobs.batch does not implement the scale subresource); for pods whose controller cannot be scaled, such as those of Jobs, or that have none, set minAvailable to a number"},
		"all pods must be available": {policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 9, ExpectedPods: 1,
			DesiredHealthy: 1, CurrentHealthy: 1},
			"FailedDraining: pod default/web-1 is never evicted: PodDisruptionBudget default/web never allows an eviction: maxUnavailable is 10%, which is 1 of 1 pods"},
		"too few are available now": {policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 9, ExpectedPods: 20,
			DesiredHealthy: 18, CurrentHealthy: 18},
			"FailedDraining: pod default/web-1 may not be evicted now: Cannot evict pod as it would violate the pod's disruption budget."},
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				asked, allow := w.refused(apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0))
				budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
					Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
					MaxUnavailable: new(intstr.FromString("10%")), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
				w.create(budget)
				budget.Status = tt.status
				if err := w.hand.Status().Update(t.Context(), budget); err != nil {
					t.Fatal(err)
				}
				w.run("web", leaves, nil, nil)
				w.leave(time.Hour, "a word on it", func() bool { return w.reported.has("FailedDraining") })
				never := strings.Contains(tt.want, "is never evicted")
				if !w.reported.has(tt.want) || never != (*asked == 0) {
					t.Errorf("asked %d times and told %q, want %q", *asked, w.reported.texts, tt.want)
				}
				allow()
				budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 9, ExpectedPods: 20,
					DesiredHealthy: 18, CurrentHealthy: 20, DisruptionsAllowed: 2}
				if err := w.hand.Status().Update(t.Context(), budget); err != nil {
					t.Fatal(err)
				}
				w.on(time.Minute, "the pod ending", func() bool { return len(w.pods("web")) == 0 })
			})
		})
	}
}

// A pod whose namespace is being deleted cannot be evicted: that is neither an error nor
// reported, and it ends with its namespace.
func TestAPodWhoseNamespaceGoes(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-1",
			errors.New("unable to create new content in namespace default because it is being terminated"))
		forbidden.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		asked, _ := w.refused(forbidden)
		w.run("web", leaves, nil, nil)
		r, node := w.start(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: leaves}}
		if err := r.evict(t.Context(), &departure{node: node}, &w.pods("web")[0]); err != nil || *asked != 1 {
			t.Errorf("asked %d times, want 1: %v", *asked, err)
		}
		if r.mayRetry(w.pods("web")[0].UID) || len(w.reported.texts) != 0 {
			t.Errorf("asked again at once, or told %q", w.reported.texts)
		}
	})
}

// SC-271, SC-275: a pod that went, or that another has taken the name of, is no
// trouble, and the other is not evicted in its place.
func TestAnEvictionIsOfOnePod(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		r, node := w.start(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: leaves}}
		gone := pod("web-1")
		gone.UID = "gone"
		for _, what := range []string{"is gone", "has a namesake"} {
			if err := r.evict(t.Context(), &departure{node: node}, &gone); err != nil {
				t.Errorf("evicting a pod that %s: %v", what, err)
			}
			w.run("web", leaves, nil, nil)
		}
		if len(w.pods("web")) != 2 || w.reported.has("Evicted") {
			t.Errorf("%d pods are left, want 2; told %q", len(w.pods("web")), w.reported.texts)
		}
	})
}

// SC-269, SC-270: the node of an instance that is gone goes when its kubelet is silent and
// two checks did not find the instance, whatever is on it, or at once when the instance was
// to end by now; its pods go with it, so that their owners make others. One whose kubelet
// still reports is drained like others.
func TestANodeWhoseInstanceIsGone(t *testing.T) {
	tests := map[string]struct {
		ready corev1.ConditionStatus
		ends  bool
		goes  bool
		after time.Duration
	}{
		"is not heard of":                        {corev1.ConditionUnknown, false, true, goneAgain},
		"is ready":                               {corev1.ConditionTrue, false, false, 0},
		"is ready, and its end was known before": {corev1.ConditionTrue, true, true, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				if tt.ends {
					w.ends(0)
				}
				w.has(w.run("web", leaves, nil, nil), annotated("true"))
				w.cloud.endsAt["i-"+leaves] = time.Now()
				node := &corev1.Node{}
				w.get(leaves, node)
				node.Status.Conditions[0].Status = tt.ready
				if err := w.hand.Status().Update(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				hour := func() bool { return time.Since(began) > time.Hour }
				w.leave(2*time.Hour, "the node gone, or an hour", func() bool { return w.gone() || hour() })
				if w.gone() != tt.goes || tt.goes && time.Since(began) > tt.after+time.Second || tt.goes != (w.here("web") == 0) {
					t.Errorf("gone: %v after %v, with %d pods left on it", w.gone(), time.Since(began), w.here("web"))
				}
			})
		})
	}
}

// An instance that runs keeps the pods of its node, protected as they are, though its
// kubelet is silent: whatever keeps the cloud from listing it for a while.
func TestPodsOfAInstanceThatIsNotListedForAWhileStay(t *testing.T) {
	tests := map[string]func(w *town){
		"one look does not find it": func(w *town) { w.cloud.blind = 1 },
		"every second look does not": func(w *town) {
			n := 0
			w.cloud.blindAt = func() bool { n++; return n%2 == 1 }
		},
		"work is shifted away from its zone": func(w *town) {
			w.cloud.blindAt = func() bool { return true }
			w.shifted = func(zoneID string) bool { return zoneID == "a-1" }
		},
		"it is taken over, and not tagged yet": func(w *town) {
			w.cloud.blindAt = func() bool { return true }
			c := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
				ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{api.FinalizerTermination},
					Annotations: map[string]string{api.AnnotationAdopt: "aws:///a/i-" + leaves}}}
			c.Status.ProviderID = "aws:///a/i-" + leaves
			w.create(c)
		},
	}
	for name, hidden := range tests {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				w.has(w.run("web", leaves, nil, nil), annotated("true"))
				node := &corev1.Node{}
				w.get(leaves, node)
				node.Labels = map[string]string{api.LabelZoneID: "a-1"}
				if err := w.hand.Update(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				node.Status.Conditions[0].Status = corev1.ConditionUnknown
				if err := w.hand.Status().Update(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				hidden(w)
				began := time.Now()
				w.leave(time.Hour, "ten minutes", func() bool { return time.Since(began) > 10*time.Minute })
				if w.gone() || w.here("web") != 1 {
					t.Errorf("node gone: %v, with %d pods left on it, whose machine runs", w.gone(), w.here("web"))
				}
			})
		})
	}
}

// SC-259: a node goes that no claim is about, and one that two are about.
func TestANodeGoesWhateverClaimsAreAboutIt(t *testing.T) {
	for claims := range 3 {
		inTown(t, func(t *testing.T, w *town) {
			for i := range claims {
				c := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
					ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Finalizers: []string{api.FinalizerTermination}}}
				c.Status.ProviderID = "aws:///a/i-" + leaves
				w.create(c)
			}
			w.run("web", leaves, nil, nil)
			w.leave(3*time.Minute, "the node gone", w.gone)
			if len(w.pods("web")) > 0 || w.cloud.ends["i-"+leaves] != 1 {
				t.Errorf("with %d claims: %d pods are left, and the machine was ended %d times", claims,
					len(w.pods("web")), w.cloud.ends["i-"+leaves])
			}
		})
	}
}

// Pods that a drain has leave are counted by what their node was chosen for, once each.
func TestPodsThatLeaveAreCounted(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		claim := &karpv1.NodeClaim{}
		condition.Set(claim, karpv1.ClaimDisruptionReason, metav1.ConditionTrue, string(karpv1.ReasonDrifted), "",
			time.Now())
		r, registry := w.start(), prometheus.NewRegistry()
		r.Metrics = observe.NewMetrics(registry, "", "", "", "")
		d := &departure{node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: leaves}}, reason: reasonOf(claim)}
		evicted, removed := w.run("web", leaves, nil, nil), w.run("db", leaves, nil, nil)
		ending := removed.DeepCopy()
		ending.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		if err := errors.Join(r.evict(t.Context(), d, evicted), r.remove(t.Context(), d, removed, time.Second),
			r.remove(t.Context(), d, ending, time.Second)); err != nil {
			t.Fatal(err)
		}
		got, err := scraped.Lines(registry, "karpenter_pods_drained_total")
		if want := []string{"karpenter_pods_drained_total reason=drifted 2"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("counted %q, %v; want %q", got, err, want)
		}
		if reasonOf(nil) != "" || reasonOf(&karpv1.NodeClaim{}) != "" {
			t.Error("a node that no plan chose has a reason")
		}
	})
}
