package snapshot

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestNothingGoesBeforePoliciesAreKnown: they may forbid it, and a first plan is
// made before the first answer.
func TestNothingGoesBeforePoliciesAreKnown(t *testing.T) {
	k := newClusterState()
	k.Configure(func(s *Settings) { s.AwaitPolicies = true })
	k.PoolSeen(pool("default"))
	allowed := func() cluster.Allowance { return k.Snapshot().Pools[0].Policy.Empty }
	if got := allowed(); got.Most != 0 || got.Closed != "DisruptionPolicies have not been read yet" {
		t.Errorf("before: %+v", got)
	}
	before := k.Snapshot().Revision
	k.PoliciesAre(nil)
	if got := allowed(); got.Closed == "DisruptionPolicies have not been read yet" {
		t.Errorf("after: %+v", got)
	}
	known := k.Snapshot().Revision
	k.PoliciesAre(nil)
	if again := k.Snapshot().Revision; known == before || again != known {
		t.Errorf("revisions %d, %d, %d; want a new one for the first answer alone", before, known, again)
	}
}

// TestABreakerCountsWhatGoesAndHasGone: nodes that people delete, that have gone
// since, and that are to go with a move, each once.
func TestABreakerCountsWhatGoesAndHasGone(t *testing.T) {
	k := newClusterState()
	k.PoolSeen(pool("default"))
	claims := map[string]*karpv1.NodeClaim{}
	for _, name := range []string{"a", "b", "c", "d"} {
		claims[name] = claimOf(name, karpv1.ClaimRegistered, karpv1.ClaimInitialized)
		k.Seen(claims[name])
		k.Seen(node(name))
	}
	k.PoliciesAre([]v1alpha1.DisruptionPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "night"},
		Spec: v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "100%", Within: "30m"}}}})
	breaker := func(what string, gone int64) {
		t.Helper()
		want := cluster.Breaker{Name: "DisruptionPolicy night", Pools: []cluster.PoolID{pool("default").ID}, Most: 4, Gone: gone}
		got := k.Snapshot().Breakers
		if len(got) != 1 || got[0].Gone != want.Gone || got[0].Most != want.Most || got[0].Name != want.Name || !slices.Equal(got[0].Pools, want.Pools) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	breaker("at first", 0)
	closed := node("a")
	closed.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
	k.Seen(closed)
	breaker("a node is closed", 1)
	going := claims["a"].DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: start}
	k.Seen(going)
	breaker("its claim is deleted", 1)
	k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	k.Gone(going)
	breaker("it has gone", 1)
	k.Gone(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}})
	k.Gone(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claims["b"].Name}})
	breaker("another vanished", 2)
	late := claims["c"].DeepCopy()
	late.DeletionTimestamp = &metav1.Time{Time: start.Add(-time.Hour)}
	k.Seen(late)
	if got := k.Snapshot().Breakers[0]; got.Gone != 2 {
		t.Errorf("one that has been going for an hour counts: %+v", got)
	}
}
