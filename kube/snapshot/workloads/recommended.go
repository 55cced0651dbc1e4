package workloads

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/quantity"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// recommendations are what VerticalPodAutoscalers have new pods request.
type recommendations struct {
	by       map[types.NamespacedName]recommended
	targets  map[target]map[types.NamespacedName]struct{} // which of these are about it
	template map[owner.ID]template
	owned    map[target][]owner.ID // owners that are the target, or that it controls
}

func newRecommendations() recommendations {
	return recommendations{
		by: map[types.NamespacedName]recommended{}, targets: map[target]map[types.NamespacedName]struct{}{},
		template: map[owner.ID]template{}, owned: map[target][]owner.ID{},
	}
}

// recommended is one VerticalPodAutoscaler.
type recommended struct {
	target target
	is     podspec.Recommendation
}

// target is a workload that a VerticalPodAutoscaler is about: the pods' own controller, or the one above it.
// Versions of a group are one.
type target struct{ namespace, group, kind, name string }

func targetOf(namespace, apiVersion, kind, name string) target {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	return target{namespace, group, kind, name}
}

// template is what an owner has pods made from, and who it is for VerticalPodAutoscalers.
type template struct {
	of  *corev1.PodTemplateSpec
	are [2]target // itself, and what controls it; that may be the zero value
}

// templateOf is nil where the owner makes no pods.
func templateOf(o client.Object) (out template) {
	kind, version := "", appsv1.SchemeGroupVersion.String()
	switch o := o.(type) {
	case *appsv1.ReplicaSet:
		kind, out.of = "ReplicaSet", &o.Spec.Template
	case *appsv1.StatefulSet:
		kind, out.of = "StatefulSet", &o.Spec.Template
	case *corev1.ReplicationController:
		kind, version, out.of = "ReplicationController", "v1", o.Spec.Template
	case *batchv1.Job:
		kind, version, out.of = "Job", batchv1.SchemeGroupVersion.String(), &o.Spec.Template
	}
	out.are[0] = targetOf(o.GetNamespace(), version, kind, o.GetName())
	if above := metav1.GetControllerOfNoCopy(o); above != nil {
		out.are[1] = targetOf(o.GetNamespace(), above.APIVersion, above.Kind, above.Name)
	}
	return out
}

// follow takes in the template of an owner; one that makes no pods is forgotten.
func (r *recommendations) follow(id owner.ID, t template) {
	for _, is := range r.template[id].are {
		if left := slices.DeleteFunc(r.owned[is], func(o owner.ID) bool { return o == id }); len(left) > 0 {
			r.owned[is] = left
		} else {
			delete(r.owned, is)
		}
	}
	if delete(r.template, id); t.of == nil {
		return
	}
	r.template[id] = t
	for _, is := range t.are {
		if is != (target{}) {
			r.owned[is] = append(r.owned[is], id)
		}
	}
}

// requests raises what new pods of an owner request to what is recommended.
func (r *recommendations) requests(id owner.ID, w *owner.Workload) {
	t := r.template[id]
	for _, is := range t.are {
		for name := range r.targets[is] {
			if by := r.by[name].is; by != nil {
				w.Recommended = w.Recommended.Max(by.Requests(t.of))
			}
		}
	}
}

// RecommendationSeen takes in a VerticalPodAutoscaler, and says what the owners say now whose pods it is about.
func (t *Table) RecommendationSeen(v *vpav1.VerticalPodAutoscaler) []owner.Change {
	is := recommended{is: podspec.RecommendationOf(v)}
	if of := v.Spec.TargetRef; of != nil {
		is.target = targetOf(v.Namespace, of.APIVersion, of.Kind, of.Name)
	}
	return t.recommend(types.NamespacedName{Namespace: v.Namespace, Name: v.Name}, &is)
}

// RecommendationGone takes in that a VerticalPodAutoscaler was deleted, likewise.
func (t *Table) RecommendationGone(v *vpav1.VerticalPodAutoscaler) []owner.Change {
	return t.recommend(types.NamespacedName{Namespace: v.Namespace, Name: v.Name}, nil)
}

// recommend takes in what is recommended under a name; nil: nothing any more.
func (t *Table) recommend(name types.NamespacedName, now *recommended) (out []owner.Change) {
	r := &t.recommendations
	var about []owner.ID
	if before, known := r.by[name]; known {
		about = append(about, r.owned[before.target]...)
		if delete(r.targets[before.target], name); len(r.targets[before.target]) == 0 {
			delete(r.targets, before.target)
		}
		delete(r.by, name)
	}
	if now != nil {
		about = append(about, r.owned[now.target]...)
		if r.targets[now.target] == nil {
			r.targets[now.target] = map[types.NamespacedName]struct{}{}
		}
		r.targets[now.target][name] = struct{}{}
		r.by[name] = *now
	}
	for _, id := range about { // one of both targets twice: the second time nothing changes
		w := t.owners[id]
		w.Recommended = quantity.Resources{}
		if c := t.is(id, &w, r.template[id]); !c.IsNone() {
			out = append(out, c)
		}
	}
	return out
}
