package whole_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// A pod that would come back larger keeps its large node: a smaller one would be too small for the next. That holds
// while a VerticalPodAutoscaler sets what it recommends, and no longer.
func TestPodsMoveWithWhatIsRecommendedForThem(t *testing.T) {
	report(t, fakecloud.Options{Seed: 98}, func(t *testing.T, w *world) {
		v := &vpav1.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		v.Spec.TargetRef = &vpav1.Target{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web"}
		v.Status.Recommendation = &vpav1.Recommendation{ContainerRecommendations: []vpav1.ContainerRecommendation{
			{ContainerName: "main", Target: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6")}}}}
		w.create(v)
		w.aloneOnALargeNodeOf(setup{}, func() {
			w.deploy("web", 1, plain)
			set := w.replicaSet("web", 1)
			edit(w, set, func(s *appsv1.ReplicaSet) { s.Spec.Template.Spec = w.deployments["web"].template.Spec })
		})
		first := w.claimNames()
		time.Sleep(30 * time.Minute)
		if len(w.still(first)) != len(first) {
			t.Fatalf("the node was replaced by one that is too small for what is recommended; %s", w.state())
		}
		edit(w, v, func(v *vpav1.VerticalPodAutoscaler) {
			v.Spec.UpdatePolicy = &vpav1.UpdatePolicy{UpdateMode: vpav1.ModeOff}
		})
		w.until(30*time.Minute, "a smaller node in its place", func() bool {
			return len(w.still(first)) == 0 && w.run(1)
		})
		w.sound()
	})
}
