package whole_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// hasRecommendations reports whether a VerticalPodAutoscaler comes in the trouble, changes its mind, and evicts pods.
func hasRecommendations(u draws) bool { return u("recommended") < 0.3 }

// recommends has the VerticalPodAutoscaler of a deployment recommend so many cores.
func (w *world) recommends(name, cores string) {
	w.t.Helper()
	says := &vpav1.Recommendation{ContainerRecommendations: []vpav1.ContainerRecommendation{
		{ContainerName: "main", Target: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)}}}}
	v := &vpav1.VerticalPodAutoscaler{}
	err := w.hand.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, v)
	switch {
	case apierrors.IsNotFound(err):
		v.Namespace, v.Name, v.Labels = "default", name, map[string]string{withWebhook: ""}
		v.Spec.TargetRef = &vpav1.Target{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name}
		v.Status.Recommendation = says
		w.create(v)
	case err != nil:
		w.t.Error(err)
	default:
		edit(w, v, func(v *vpav1.VerticalPodAutoscaler) { v.Status.Recommendation = says })
	}
}

// evictsOne deletes a pod of the deployment that requests something else than is recommended, as
// VerticalPodAutoscaler's updater does: another comes with what is recommended.
func (w *world) evictsOne(name string) {
	for _, p := range w.podsOf(name) {
		again := p.DeepCopy()
		w.recommendedFor(w.t.Context(), again)
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil && !equalCPU(&p, again) {
			w.delete(&p)
			return
		}
	}
}

// recommendsNothing takes the VerticalPodAutoscaler away, and has pods come back with what their template requests.
func (w *world) recommendsNothing(name string) {
	v := &vpav1.VerticalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if err := w.hand.Delete(w.t.Context(), v); client.IgnoreNotFound(err) != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	template := w.deployments[name].template
	w.mu.Unlock()
	for _, p := range w.podsOf(name) {
		if !equalCPU(&p, &template) {
			w.delete(&p)
		}
	}
}

// podsOf lists the pods of a deployment.
func (w *world) podsOf(name string) []corev1.Pod {
	return slices.DeleteFunc(w.allPods(), func(p corev1.Pod) bool { return p.Labels["app"] != name })
}

func equalCPU(a, b *corev1.Pod) bool {
	return a.Spec.Containers[0].Resources.Requests.Cpu().Equal(*b.Spec.Containers[0].Resources.Requests.Cpu())
}

// withWebhook labels VerticalPodAutoscalers whose webhook is installed.
const withWebhook = "webhook"

// recommendedFor has a new pod request what is recommended, as VerticalPodAutoscaler's webhook does.
func (w *world) recommendedFor(ctx context.Context, p *corev1.Pod) {
	v := &vpav1.VerticalPodAutoscaler{}
	if w.hand.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: p.Labels["app"]}, v) != nil {
		return
	}
	if _, installed := v.Labels[withWebhook]; !installed {
		return
	}
	off := v.Spec.UpdatePolicy != nil && v.Spec.UpdatePolicy.UpdateMode == vpav1.ModeOff
	if off || v.Status.Recommendation == nil {
		return
	}
	maps.Copy(p.Spec.Containers[0].Resources.Requests, v.Status.Recommendation.ContainerRecommendations[0].Target)
}
