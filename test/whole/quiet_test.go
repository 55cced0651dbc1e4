package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// TestQuietNodesSaySo: a claim is Consolidatable from the moment when its node
// has been quiet for as long as its pool asks, until the next pod comes.
func TestQuietNodesSaySo(t *testing.T) {
	report(t, fakecloud.Options{Seed: 40}, func(t *testing.T, w *world) {
		small := func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("100m")
		}
		w.up(1, func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = "10m" }, small)
		says := func() *metav1.Condition {
			c := w.claims()[0]
			return condition.Get(&c, karpv1.ClaimConsolidatable)
		}
		quietSince := time.Now()
		w.until(11*time.Minute, "a quiet node", func() bool { return says() != nil })
		if after := says().LastTransitionTime.Sub(quietSince); after > 10*time.Minute+time.Second {
			t.Errorf("it is consolidatable %v after the last pod came, want 10m", after)
		}
		w.deploy("other", 1, small)
		w.until(time.Minute, "two pods running", func() bool { return w.run(2) })
		w.until(15*time.Second, "a node that is not quiet any more", func() bool { return says() == nil })
		if n := len(w.claims()); n != 1 {
			t.Errorf("%d claims, want the one", n)
		}
	})
}

// TestWhatIsNotUnderstoodIsReported: a pod whose protection means nothing, and a
// freeze whose end does, are told of.
func TestWhatIsNotUnderstoodIsReported(t *testing.T) {
	report(t, fakecloud.Options{Seed: 41}, func(t *testing.T, w *world) {
		w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}, Data: map[string]string{"until": "tomorrow"}})
		w.up(1, nil, func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "1d"} })
		w.until(time.Minute, "both events", func() bool { return w.events.said("InvalidDoNotDisrupt") && w.events.said("InvalidFreeze") })
	})
}
