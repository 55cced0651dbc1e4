package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Nodes keep a GiB more from pods than anybody knows, as an image of one's own may. The pod
// that an instance was launched for does not fit it: the instance says so, the same type is not launched
// for the pod again, and the pod gets a larger one.
func TestANodeThatIsTooSmallIsNotLaunchedAgain(t *testing.T) {
	reportAWS(t, 71, func(t *testing.T, w *world) {
		w.keeps = quantity.Resources{Memory: quantity.GiB}
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "m5.xlarge"}
		})
		w.start(setup{})
		w.deploy("web", 1, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("6600Mi")
		})
		reported := false
		w.until(20*time.Minute, "the pod running", func() bool {
			for _, c := range w.claims() {
				is := condition.Get(&c, karpv1.ClaimConsistentStateFound)
				reported = reported || is != nil && is.Reason == karpv1.ReasonConsistencyCheckFailed
			}
			return w.run(1)
		})
		if !reported {
			t.Error("no claim tells that its node has too little memory")
		}
		launched, kinds := w.launched(), map[string]bool{}
		for _, m := range w.cloud.Market().Machines() {
			kinds[m.Pool.Kind] = true
		}
		if launched != 2 || len(kinds) != 2 {
			t.Errorf("bought %d machines of %d types, want one of each of two; %s", launched, len(kinds), w.state())
		}
		time.Sleep(10 * time.Minute) // the first instance has gone
		w.deploy("web", 2, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("6600Mi")
		})
		w.until(20*time.Minute, "two pods running", func() bool { return w.run(2) })
		if more := w.launched() - launched; more != 1 {
			t.Errorf("bought %d machines for the second pod, want one: what was learnt holds; %s", more, w.state())
		}
	})
}
