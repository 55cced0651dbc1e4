package snapshot

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/api"
)

func budgetOf(name string, allowed int32, selector map[string]string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

func labelled(name string, labels map[string]string) *corev1.Pod {
	return pod(name, "1", "", func(p *corev1.Pod) { p.Labels = labels })
}

func TestPodsNameTheirBudgets(t *testing.T) {
	k := newClusterState()
	web := map[string]string{"app": "web", "tier": "front"}
	k.Listed(labelled("a", web))
	other := labelled("a", web)
	other.Namespace = "shop"
	k.Listed(other)
	k.Seen(budgetOf("web", 1, map[string]string{"app": "web"}))
	k.Seen(budgetOf("front", 1, map[string]string{"tier": "front", "app": "web"}))
	k.Seen(budgetOf("db", 1, map[string]string{"app": "db"}))
	check := func(when, want string) {
		t.Helper()
		s := k.Snapshot()
		if got := s.Waiting[0].PDBs; got != want || s.Waiting[1].PDBs != "" {
			t.Errorf("%s: the pod is under %q and one of another namespace under %q, want %q and none", when, got, s.Waiting[1].PDBs, want)
		}
	}
	check("two choose it", "front,web")
	k.Seen(budgetOf("every", 0, nil))
	check("a third chooses all", "every,front,web")
	saved := k.Snapshot()
	if got, want := scenario.Print(Recall(saved).Snapshot()), scenario.Print(saved); got != want {
		t.Errorf("recalled it is\n%s\nwant\n%s", got, want)
	}
	k.Seen(budgetOf("front", 1, map[string]string{"tier": "back"}))
	check("one chooses others now", "every,web")
	k.Gone(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
	check("one is gone", "every")
	k.Seen(labelled("a", map[string]string{"app": "db"}))
	check("the pod has other labels", "db,every")
	k.Gone(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "every"}})
	k.Gone(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}})
	k.Gone(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "front"}})
	check("all are gone", "")
	if left := k.Snapshot().PDBs; len(left) != 0 {
		t.Errorf("what is left of budgets that are gone: %+v", left)
	}
}

// TestABudgetThatNeverAllowsAnEvictionKeepsItsPods where they are, until it is changed.
func TestABudgetThatNeverAllowsAnEvictionKeepsItsPods(t *testing.T) {
	k := newClusterState()
	k.Seen(node("n"))
	k.Listed(pod("a", "1", "n", func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} }))
	budget := budgetOf("web", 0, map[string]string{"app": "web"})
	budget.Spec.MaxUnavailable = new(intstr.FromInt32(0))
	k.Seen(budget)
	if s := k.Snapshot(); !s.Nodes[0].Pods[0].Kept {
		t.Errorf("no eviction of the pod is ever allowed, and it is not kept:\n%s", scenario.Print(s))
	}
	budget = budget.DeepCopy()
	budget.Spec.MaxUnavailable = new(intstr.FromInt32(1))
	k.Seen(budget)
	if s := k.Snapshot(); s.Nodes[0].Pods[0].Kept {
		t.Errorf("an eviction may be allowed soon, and the pod is kept:\n%s", scenario.Print(s))
	}
}

// TestABudgetsStatusConcernsNoPod: it changes with every pod that comes up, so
// that nothing but the budget itself may be looked at again.
func TestABudgetsStatusConcernsNoPod(t *testing.T) {
	k := newClusterState()
	k.Listed(labelled("a", map[string]string{"app": "web"}))
	budget := func(allowed int32) *policyv1.PodDisruptionBudget {
		b := budgetOf("web", allowed, map[string]string{"app": "web"})
		b.Spec.MaxUnavailable = new(intstr.FromInt32(2))
		return b
	}
	k.Seen(budget(0))
	before := k.Snapshot()
	k.Seen(budget(0))
	if k.revision != before.Revision {
		t.Error("a budget that says the same made a new revision")
	}
	k.Seen(budget(2))
	if stale := k.tables.pdbs.TakeStale(); len(stale) != 0 {
		t.Errorf("the pods of namespaces %v are to be asked again, want none", stale)
	}
	after := k.Snapshot()
	if before.PDBs[0].Allowed != 0 || after.PDBs[0].Allowed != 2 || after.Revision == before.Revision || after.Waiting[0].PDBs != "web" {
		t.Errorf("the budget allowed %+v and allows %+v, in revisions %d and %d", before.PDBs, after.PDBs, before.Revision, after.Revision)
	}
}

// TestProtectionEndsByItself: nothing is heard of a pod when its time is over.
func TestProtectionEndsByItself(t *testing.T) {
	now := start
	k := New(nothingOffered, func() time.Time { return now })
	k.Seen(node("n"))
	k.Listed(pod("a", "1", "n", func(p *corev1.Pod) {
		p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "10m"}
		p.Status.StartTime = &metav1.Time{Time: start}
	}))
	for at, want := range map[time.Duration]bool{0: true, 10*time.Minute - 1: true, 10 * time.Minute: false, time.Hour: false} {
		now = start.Add(at)
		p := k.Snapshot().Nodes[0].Pods[0]
		if p.DoNotDisrupt != want || p.ProtectedUntil.IsZero() == want {
			t.Errorf("after %v: protected %v until %v, want %v", at, p.DoNotDisrupt, p.ProtectedUntil, want)
		}
	}
}

// BenchmarkPDBs measures 100,000 pods under a budget each, of 500 in 20
// namespaces: hearing of the budgets after the pods, and of one's new status.
func BenchmarkPDBs(b *testing.B) {
	k := newClusterState()
	for _, p := range manyPods(100_000) {
		k.Listed(p)
	}
	k.Snapshot()
	budget := func(i int, allowed int32) *policyv1.PodDisruptionBudget {
		g := budgetOf(fmt.Sprint("app-", i), allowed, map[string]string{"app": fmt.Sprint("app-", i)})
		g.Namespace = fmt.Sprint("ns-", i%20)
		return g
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for i := range 500 {
				k.Gone(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("ns-", i%20), Name: fmt.Sprint("app-", i)}})
				k.Seen(budget(i, 0))
			}
			k.tables.lookAtPDBs()
		}
	})
	b.Run("a status", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			k.Seen(budget(1, int32(i)))
			k.tables.lookAtPDBs()
		}
	})
	if _, e, _ := k.tables.pods.Find(types.NamespacedName{Namespace: "ns-1", Name: "pod-1"}); e.PDBs() != "app-1" {
		got := e.PDBs()
		b.Errorf("the pod is under %q", got)
	}
}
