package termination

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// A pod that load balancers send to by way of its node stays until they have
// stopped; others leave at once.
func TestAPodStaysUntilLoadBalancersHaveLetGoOfItsNode(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.run("edge", leaves, nil, map[string]string{api.AnnotationDeregistration: "90s"})
		w.run("web", leaves, nil, nil)
		began := time.Now()
		w.leave(10*time.Second, "the other pod ending", func() bool { return len(w.pods("web")) == 0 })
		node := &corev1.Node{}
		if w.get(leaves, node); node.Labels[api.LabelExcludeFromBalancer] == "" {
			t.Error("load balancers were not told")
		}
		w.leave(3*time.Minute, "the pod ending", func() bool { return len(w.pods("edge")) == 0 })
		if took := time.Since(began); took < 90*time.Second || took > 95*time.Second {
			t.Errorf("the pod was evicted after %v, want 90 s", took)
		}
		if !w.reported.has("stays until load balancers have deregistered the node") {
			t.Error("no event reports what the drain waits for")
		}
		w.leave(3*time.Minute, "the node gone", w.gone)
	})
}

// The instance of an emptied node stays as long as its pool says, for what load balancers
// still send through it; a new controller goes on counting.
func TestAInstanceStaysUntilLoadBalancersHaveLetGoOfIt(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.pool(map[string]string{api.AnnotationDeregistration: "5m"})
		w.run("web", leaves, nil, nil)
		began := time.Now()
		w.leave(10*time.Second, "the pod ending", func() bool { return len(w.pods("web")) == 0 })
		w.leave(10*time.Minute, "the machine given back", func() bool { return w.cloud.ends["i-"+leaves] > 0 })
		if took := time.Since(began); took < 5*time.Minute || took > 5*time.Minute+2*time.Second {
			t.Errorf("the machine was given back after %v, want 5 min", took)
		}
		w.leave(3*time.Minute, "the node gone", w.gone)
	})
}

func TestADeadlineEndsTheWaitForLoadBalancers(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.pool(map[string]string{api.AnnotationDeregistration: "10m"})
		w.due(2 * time.Minute)
		w.run("edge", leaves, nil, map[string]string{api.AnnotationDeregistration: "10m"})
		began := time.Now()
		w.leave(5*time.Minute, "the machine given back", func() bool { return w.cloud.ends["i-"+leaves] > 0 })
		if took := time.Since(began); took < 110*time.Second || took > 125*time.Second {
			t.Errorf("the machine was given back after %v, want 2 min", took)
		}
		if !w.reported.has("TerminationGracePeriodExpiring") {
			t.Error("no event tells of the deadline")
		}
	})
}

// due gives the node that leaves a claim whose drain must be over then.
func (w *town) due(in time.Duration) {
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
		ObjectMeta: metav1.ObjectMeta{Name: leaves, Finalizers: []string{api.FinalizerTermination},
			Annotations: map[string]string{api.AnnotationTerminationTimestamp: time.Now().Add(in).Format(time.RFC3339)}}}
	c.Status.ProviderID = "aws:///a/i-" + leaves
	w.create(c)
}

var keepReady = map[string]string{api.AnnotationKeepReady: "true"}

func TestTheLastReadyPodOfAServiceWaitsForAnother(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.service("web")
		rs := w.deployment("web", 2, keepReady, nil)
		w.run("web", leaves, rs, keepReady)
		w.run("web", leaves, rs, keepReady)
		w.watch("web")
		w.readyAfter = 2 * time.Minute
		w.leave(10*time.Minute, "the node gone", w.gone)
		if w.fewest["web"] != 1 {
			t.Errorf("at the worst moment %d pods were ready, want 1", w.fewest["web"])
		}
		if !w.reported.has("it is the last ready pod of Service web") {
			t.Error("no event reports what the drain waits for")
		}
	})
}

// Two nodes that leave at once see each other's pod as the one that is ready,
// unless they decide one after the other.
func TestPodsOfTwoNodesThatLeaveDoNotTakeEachOtherForReady(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.service("web")
		rs := w.deployment("web", 2, keepReady, nil)
		w.run("web", leaves, rs, keepReady)
		w.run("web", stays, rs, keepReady)
		w.watch("web")
		w.fault = func(store.Call) (before, after error) {
			time.Sleep(10 * time.Millisecond)
			return nil,
				nil
		} // as calls take
		r, ctx := w.start(), context.Background()
		reads := make(chan struct{})
		for _, name := range []string{leaves, stays} {
			if err := w.hand.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = r.Reconcile(ctx, name)
				reads <- struct{}{}
			}()
		}
		<-reads
		<-reads
		if n := len(w.pods("web")); n != 1 {
			t.Errorf("%d pods are left, want 1", n)
		}
	})
}

// Pods that waiting does not help, or for which none was asked for, do not wait.
func TestPodsThatNeedNotWaitLeaveAtOnce(t *testing.T) {
	tests := map[string]func(w *town){
		"nobody asked": func(w *town) {
			w.service("web")
			w.run("web", leaves, w.deployment("web", 2, nil, nil), nil)
		},
		"the pod says no where its pool says yes": func(w *town) {
			w.pool(keepReady)
			w.service("web")
			w.run("web", leaves, w.deployment("web", 2, nil, nil), map[string]string{api.AnnotationKeepReady: "false"})
		},
		"no Service has the pod": func(w *town) {
			w.service("other")
			w.run("web", leaves, w.deployment("web", 2, nil, nil), keepReady)
		},
		"it is the only pod that is wanted": func(w *town) {
			w.service("web")
			w.run("web", leaves, w.deployment("web", 1, nil, nil), keepReady)
		},
		"it is nobody's": func(w *town) {
			w.service("web")
			w.run("web", leaves, nil, keepReady)
		},
		"it is not ready itself": func(w *town) {
			w.service("web")
			p := w.run("web", leaves, w.deployment("web", 2, nil, nil), keepReady)
			p.Status.Conditions = nil
			if err := w.hand.Status().Update(context.Background(), p); err != nil {
				w.t.Fatal(err)
			}
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				prepare(w)
				w.readyAfter = -1 // no other pod ever is
				w.leave(3*time.Second, "the pod ending", func() bool { return w.here("web") == 0 })
			})
		})
	}
}

// here counts the pods of an app on the node that leaves that are not ending.
func (w *town) here(app string) int {
	n := 0
	for _, p := range w.pods(app) {
		if p.Spec.NodeName == leaves {
			n++
		}
	}
	return n
}

func TestADeadlineEndsTheWaitForAnotherReadyPod(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.pool(keepReady)
		w.due(5 * time.Minute)
		w.service("web")
		rs := w.deployment("web", 2, nil, nil)
		w.run("web", leaves, rs, nil)
		w.readyAfter = -1
		began := time.Now()
		w.leave(10*time.Minute, "the pod ending", func() bool { return w.here("web") == 0 })
		if took := time.Since(began); took < 4*time.Minute || took > 5*time.Minute {
			t.Errorf("the pod went after %v, want half a minute before 5 min", took)
		}
	})
}

// SC-274: the volumes of pods that leave are waited for, those of pods that stay are
// not, whether their claims were there before or are the pods' own.
func TestVolumesOfPodsThatLeaveAreWaitedFor(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		stay := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
		stay.Spec.NodeName = leaves
		stay.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		stay.Spec.Volumes = []corev1.Volume{
			{Name: "kept",
				VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "kept"}}},
			{Name: "own", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		}
		w.create(stay)
		w.attach("kept", "kept", leaves)
		w.attach("agent-own", "own", leaves)
		w.attach("data", "data", leaves)
		w.attach("elsewhere", "elsewhere", stays)
		w.run("web", leaves, nil, nil)
		w.leave(time.Minute, "the wait for a volume",
			func() bool { return w.reported.has("AwaitingVolumeDetachment: 1 volumes are still attached") })
		if w.cloud.ends["i-"+leaves] > 0 {
			t.Error("the machine was given back with a volume attached")
		}
		if err := w.hand.Delete(context.Background(), w.attachment("data")); err != nil {
			t.Fatal(err)
		}
		w.leave(2*time.Minute, "the node gone", w.gone)
	})
}
