package pdbs

import (
	"slices"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
)

func budget(name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Status.DisruptionsAllowed = allowed
	return b
}

// A new selector has the pods of its namespace asked again; what a status allows concerns the list alone.
func TestASelectorConcernsPodsAndAStatusDoesNot(t *testing.T) {
	table := New()
	if !table.Seen(budget("b", "web", 1)) || !slices.Equal(table.TakeStale(), []string{"default"}) {
		t.Error("a new one changes nothing")
	}
	listed := table.List()
	if table.Seen(budget("b", "web", 1)) || &table.List()[0] != &listed[0] {
		t.Error("one that says the same changes the list")
	}
	if !table.Seen(budget("b", "web", 2)) || len(table.TakeStale()) != 0 || listed[0].Allowed != 1 || table.List()[0].Allowed != 2 {
		t.Errorf("it allows %d, want 2 in another list, and no pods asked again", table.List()[0].Allowed)
	}
	web := map[string]string{"app": "web"}
	table.Seen(budget("a", "web", 1))
	if got := table.Over("default", web); got != "a,b" {
		t.Errorf("the pod is under %q, want a,b", got)
	}
	table.Gone(budget("b", "web", 2))
	if got := table.Over("default", web); got != "a" || table.Named("default", "b") != nil {
		t.Errorf("the pod is under %q, want a", got)
	}
}

// One of a saved snapshot counts until it is seen.
func TestARecalledOneIsAsItWasSeenSince(t *testing.T) {
	table := New()
	table.Recall([]cluster.PodDisruptionBudget{{Namespace: "default", Name: "a", Allowed: 7}, {Namespace: "default", Name: "b", Allowed: 8}})
	table.Seen(budget("b", "web", 1))
	list := table.List()
	if len(list) != 2 || list[0].Allowed != 7 || list[1].Allowed != 1 || table.Named("default", "a").Allowed != 7 {
		t.Errorf("the list is %+v", list)
	}
}
