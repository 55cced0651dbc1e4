package snapshot

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// SC-325: an instance that came in place of another is not taken for an empty one while
// the pods that it came for are still to leave that one.
func TestAReplacementWaitsForItsPods(t *testing.T) {
	deleted := func(c *karpv1.NodeClaim, _ *corev1.Node) { c.DeletionTimestamp = &metav1.Time{Time: start} }
	closed := func(_ *karpv1.NodeClaim, n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
	}
	ends := func(c *karpv1.NodeClaim, _ *corev1.Node) {
		c.DeletionTimestamp = &metav1.Time{Time: start}
		condition.SetTrue(c, karpv1.ClaimInstanceTerminating, start)
	}
	for _, mark := range []string{api.AnnotationReplaces, api.AnnotationTakes} {
		t.Run(mark, func(t *testing.T) { awaits(t, mark, closed, deleted, ends) })
	}
}

func awaits(t *testing.T, mark string, closed, deleted, ends func(*karpv1.NodeClaim, *corev1.Node)) {
	t.Helper()
	for what, tt := range map[string]struct {
		old    func(*karpv1.NodeClaim, *corev1.Node) // nil: it is gone
		awaits bool
	}{
		"the other is about to go":      {closed, true},
		"the other is deleted":          {deleted, true},
		"the machine of the other ends": {ends, false},
		"the other is gone":             {nil, false},
		"the other stays after all":     {func(*karpv1.NodeClaim, *corev1.Node) {}, false},
	} {
		t.Run(what, func(t *testing.T) {
			k := newClusterState()
			next := claimOf("next", karpv1.ClaimRegistered, karpv1.ClaimInitialized)
			next.Annotations = map[string]string{mark: "claim-gone,claim-old"}
			k.Seen(next)
			k.Seen(node("next"))
			if tt.old != nil {
				c, n := claimOf("old", karpv1.ClaimRegistered, karpv1.ClaimInitialized), node("old")
				c.Status.NodeName = "old"
				tt.old(c, n)
				k.Seen(c)
				k.Seen(n)
			}
			quiet := k.Snapshot().Nodes[0].QuietSince
			if quiet.IsZero() != tt.awaits {
				t.Errorf("the node is quiet since %v, want that it awaits pods: %v", quiet, tt.awaits)
			}
			if !tt.awaits && !quiet.Equal(start.Add(-time.Minute)) {
				t.Errorf("the node is quiet since %v, want its initialisation", quiet)
			}
		})
	}
}

// An instance on order is not withdrawn while the nodes of the claims that it was ordered for
// are leaving: who ordered it may have ended, and with it what it knew of pods to come.
func TestOrdersForPodsOfLeavingNodesStay(t *testing.T) {
	for what, tt := range map[string]struct {
		old   func(*karpv1.NodeClaim) // nil: it is gone
		stays bool
	}{
		"the other is deleted": {func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: start} }, true},
		"the machine of the other ends": {func(c *karpv1.NodeClaim) {
			c.DeletionTimestamp = &metav1.Time{Time: start}
			condition.SetTrue(c, karpv1.ClaimInstanceTerminating, start)
		}, false},
		"the other is gone":  {nil, false},
		"the other does not": {func(*karpv1.NodeClaim) {}, false},
	} {
		t.Run(what, func(t *testing.T) {
			k := newClusterState()
			next := claimOf("next")
			next.Annotations = map[string]string{api.AnnotationTakes: "claim-old", api.AnnotationDecision: "of a plan"}
			k.Seen(next)
			k.Snapshot()
			if tt.old != nil {
				c := claimOf("old", karpv1.ClaimRegistered, karpv1.ClaimInitialized)
				c.Status.NodeName = "old"
				tt.old(c)
				k.Seen(c)
			}
			m := k.Snapshot().Instances
			at := slices.IndexFunc(m, func(m cluster.Instance) bool { return m.Claim == "claim-next" })
			if at < 0 || !m[at].Planned || m[at].Replacement != tt.stays {
				t.Errorf("machines are %+v, want that claim-next is kept for pods to come: %v", m, tt.stays)
			}
		})
	}
}
