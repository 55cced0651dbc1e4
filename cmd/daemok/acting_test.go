package main

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
)

// A plan of a live cluster knows where the controller runs, as that itself does.
func TestThePlanKnowsWhereTheControllerRuns(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter-leader-election"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: new("karpenter-1_7_1763"), LeaseDurationSeconds: new(int32(20))}}
	acting := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter-1", Labels: map[string]string{"app": "karpenter"}},
		Spec: corev1.PodSpec{NodeName: "node-1"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	for name, want := range map[string]cluster.Replica{"with its lease": cluster.OnlyReplica, "without one": cluster.NoReplica} {
		t.Run(name, func(t *testing.T) {
			read := liveCluster(t, account, acting, node)
			if want != cluster.NoReplica {
				read = liveCluster(t, account, acting, node, lease)
			}
			now, err := read(t.Context(), inspect.NewTarget())
			if err != nil {
				t.Fatal(err)
			}
			if got := now.Snapshot.Nodes[0].Controller; got != want {
				t.Errorf("the node's seat is %q, want %q", got, want)
			}
		})
	}
}
