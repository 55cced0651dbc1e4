package termination

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// ends gives the node that leaves a claim whose instance the cloud takes away.
func (w *town) ends(in time.Duration) time.Time {
	at := time.Now().Add(in).UTC()
	w.create(&karpv1.NodeClaim{Spec: store.ClaimSpec(),
		Status: karpv1.NodeClaimStatus{ProviderID: "aws:///a/i-" + leaves},
		ObjectMeta: metav1.ObjectMeta{Name: leaves, Finalizers: []string{api.FinalizerTermination},
			Annotations: map[string]string{api.AnnotationEnds: at.Format(time.RFC3339)}}})
	return at
}

// plan is what a plan says of the node that leaves: these pods stay.
func (w *town) plan(endsAt time.Time, until time.Duration, stay ...*corev1.Pod) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: leaves, Deleting: true, EndsAt: endsAt}}}
	hold := plan.Hold{Node: leaves, Until: time.Now().Add(until)}
	for _, p := range stay {
		hold.Pods = append(hold.Pods, cluster.Pod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)})
	}
	w.holds.Hold(s, plan.Plan{Holds: []plan.Hold{hold}})
}

// Pods that a plan holds stay, and others go; when it holds them no longer, or at the
// latest moment, they go too.
func TestPodsAreHeldAsThePlanSays(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		end := w.ends(2 * time.Minute)
		a, b := w.run("a", leaves, nil, nil), w.run("b", leaves, nil, nil)
		w.run("c", leaves, nil, nil)
		w.plan(end, 75*time.Second, a, b)
		began := time.Now()
		w.leave(10*time.Second, "the third pod going", func() bool { return w.here("c") == 0 })
		if w.here("a")+w.here("b") != 2 || !w.reported.has("2 pods stay until there is room for them") {
			t.Errorf("pods went that are held, or nobody said so: %q", w.reported.texts)
		}
		w.plan(end, 75*time.Second, b)
		w.leave(10*time.Second, "the first pod going", func() bool { return w.here("a") == 0 })
		w.leave(2*time.Minute, "the second pod going", func() bool { return w.here("b") == 0 })
		if took := time.Since(began); took < 75*time.Second || took > 77*time.Second {
			t.Errorf("the pod was held for %v, want 75 s", took)
		}
	})
}

// No plan has seen the node yet, as after a restart, or it knew another end: pods stay,
// but for daemons, as long as they have time to end.
func TestPodsAreHeldUntilAPlanIsMade(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		end := w.ends(2 * time.Minute)
		w.has(w.run("a", leaves, nil, nil),
			func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(45)) })
		w.run("b", leaves, nil, nil)
		w.plan(end.Add(time.Hour), 0)
		began := time.Now()
		w.leave(2*time.Minute, "both pods going", func() bool { return w.here("a")+w.here("b") == 0 })
		if took := time.Since(began); took < 60*time.Second || took > 62*time.Second {
			t.Errorf("the pods were held for %v, want 60 s: 120 less 45 and 15", took)
		}
	})
}
