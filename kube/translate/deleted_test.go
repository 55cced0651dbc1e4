package translate

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestNodesOfADeletedPool(t *testing.T) {
	at := metav1.NewTime(noon)
	deleted := karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "p", DeletionTimestamp: &at}}
	leaving := *deleted.DeepCopy()
	leaving.Finalizers = []string{metav1.FinalizerOrphanDependents}
	tests := map[string]struct {
		pool  karpv1.NodePool
		owner types.UID
		node  cluster.Node
		want  cluster.Node
	}{
		"go with it":                            {deleted, "p", cluster.Node{}, cluster.Node{Drifted: cluster.PoolDeleted, DriftedAt: noon}},
		"go whatever else they have drifted by": {deleted, "p", cluster.Node{Drifted: "AMIDrift", DriftedAt: noon.Add(-time.Hour)}, cluster.Node{Drifted: cluster.PoolDeleted, DriftedAt: noon.Add(-time.Hour)}},
		"stay while it is not deleted":          {karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "p"}}, "p", cluster.Node{}, cluster.Node{}},
		"stay where it leaves them behind":      {leaving, "p", cluster.Node{}, cluster.Node{}},
		"stay that are not its own":             {deleted, "an earlier one of that name", cluster.Node{}, cluster.Node{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: tt.owner}}}}
			MarkDeleted(FromNodePool(&tt.pool), claim, &tt.node)
			if tt.node.Drifted != tt.want.Drifted || !tt.node.DriftedAt.Equal(tt.want.DriftedAt) {
				t.Errorf("drifted %q since %v, want %q since %v", tt.node.Drifted, tt.node.DriftedAt, tt.want.Drifted, tt.want.DriftedAt)
			}
		})
	}
}
