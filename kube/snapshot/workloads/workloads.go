// Package workloads is the table of what other objects determine about pods: their owners, and the
// Services that select them. From these, pods without spread constraints of their own get those of the
// scheduler's configuration.
package workloads

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// Table holds owners and Services. It is not safe for concurrent use. Build it with New.
type Table struct {
	Defaults []corev1.TopologySpreadConstraint // of pods without any of their own; set before anything is seen

	services map[types.NamespacedName]map[string]string
	byPair   map[pair]map[types.NamespacedName]struct{} // services by the first label they choose by
	owners   map[owner.ID]owner.Workload

	recommendations recommendations
}

type pair struct{ namespace, key, value string }

// New returns an empty table.
func New() *Table {
	return &Table{
		services: map[types.NamespacedName]map[string]string{}, byPair: map[pair]map[types.NamespacedName]struct{}{},
		owners: map[owner.ID]owner.Workload{}, recommendations: newRecommendations(),
	}
}

// Workload is what an owner says; the zero value where it is not there.
func (t *Table) Workload(id owner.ID) (w owner.Workload, known bool) {
	w, known = t.owners[id]
	return w, known
}

// Seen takes in a ReplicaSet, StatefulSet, ReplicationController or Job.
func (t *Table) Seen(o client.Object) owner.Change {
	now := &owner.Workload{Workload: podspec.WorkloadOf(o)}
	switch o := o.(type) {
	case *appsv1.ReplicaSet:
		now.Selector = o.Spec.Selector
	case *appsv1.StatefulSet:
		now.Selector = o.Spec.Selector
	case *corev1.ReplicationController:
		now.Selector = &metav1.LabelSelector{MatchLabels: o.Spec.Selector}
	case *batchv1.Job:
		// Which pods it selects is nothing that the scheduler asks. One that is done is as good as gone: there
		// are many.
		if now.IsDone() {
			return t.Gone(o)
		}
	default:
		panic("workloads: an owner of a kind that is not watched")
	}
	made := templateOf(o)
	if made.of != nil {
		now.Asks = podspec.TemplateRequests(made.of)
	}
	if now.IsDone() {
		made = template{} // there are many old ReplicaSets
	}
	return t.is(IDOf(o), now, made)
}

// Gone takes in that an owner was deleted.
func (t *Table) Gone(o client.Object) owner.Change { return t.is(IDOf(o), nil, template{}) }

// IDOf names an owner; the zero value where its kind is not watched.
func IDOf(o client.Object) owner.ID {
	kind := ""
	switch o.(type) {
	case *appsv1.ReplicaSet:
		kind = "ReplicaSet"
	case *appsv1.StatefulSet:
		kind = "StatefulSet"
	case *corev1.ReplicationController:
		kind = "ReplicationController"
	case *batchv1.Job:
		kind = "Job"
	default:
		return owner.ID{}
	}
	return owner.ID{Namespace: o.GetNamespace(), Kind: kind, Name: o.GetName()}
}

// is takes in what an owner says, and has pods made from; nil: it is gone.
func (t *Table) is(id owner.ID, now *owner.Workload, made template) owner.Change {
	t.recommendations.follow(id, made)
	if now != nil {
		t.recommendations.requests(id, now)
	}
	out := owner.Change{ID: id}
	out.Before, out.Known = t.owners[id]
	if delete(t.owners, id); now != nil {
		t.owners[id] = *now
	}
	out.Now, out.IsThere = t.owners[id]
	return out
}

// SpreadByDefault reports whether there are defaults.
func (t *Table) SpreadByDefault() bool { return len(t.Defaults) > 0 }

// Spread adds the defaults to rules without spreads.
func (t *Table) Spread(rules *podspec.Rules, namespace string, labels map[string]string, of owner.ID) podspec.Rules {
	return rules.WithSpreads(t.Defaults, t.selecting(namespace, labels), t.owners[of].Selector)
}

// selecting lists the selectors of the Services that select a pod.
func (t *Table) selecting(namespace string, labels map[string]string) []map[string]string {
	var out []map[string]string
	for _, name := range t.Services(namespace, labels) {
		out = append(out, t.services[name])
	}
	return out
}

// Services lists the Services that select a pod.
func (t *Table) Services(namespace string, labels map[string]string) []types.NamespacedName {
	var out []types.NamespacedName
	for key, value := range labels {
		for name := range t.byPair[pair{namespace, key, value}] {
			if t.Selects(name, labels) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Selects reports whether a Service selects a pod of its namespace.
func (t *Table) Selects(service types.NamespacedName, labels map[string]string) bool {
	for key, value := range t.services[service] {
		if has, there := labels[key]; !there || has != value {
			return false
		}
	}
	return true
}

// ServiceSeen takes in a Service, and reports whether it selects others than before.
func (t *Table) ServiceSeen(s *corev1.Service) bool { return t.serviceIs(s, s.Spec.Selector) }

// ServiceGone takes in that a Service was deleted, and reports whether it selected any pods.
func (t *Table) ServiceGone(s *corev1.Service) bool { return t.serviceIs(s, nil) }

func (t *Table) serviceIs(s *corev1.Service, selector map[string]string) bool {
	id := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	before := t.services[id]
	if maps.Equal(before, selector) {
		return false
	}
	if len(before) > 0 {
		at := firstPair(s.Namespace, before)
		delete(t.services, id)
		if delete(t.byPair[at], id); len(t.byPair[at]) == 0 {
			delete(t.byPair, at)
		}
	}
	if len(selector) > 0 {
		at := firstPair(s.Namespace, selector)
		t.services[id] = selector
		if t.byPair[at] == nil {
			t.byPair[at] = map[types.NamespacedName]struct{}{}
		}
		t.byPair[at][id] = struct{}{}
	}
	return true
}

func firstPair(namespace string, selector map[string]string) pair {
	key := slices.Min(slices.Collect(maps.Keys(selector)))
	return pair{namespace, key, selector[key]}
}
