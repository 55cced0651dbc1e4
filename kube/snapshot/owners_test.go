package snapshot

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// No place is sought for pods that their owner does not create again. A StatefulSet
// that is scaled down ends one pod after another, the highest ordinal first: those
// that are yet to end do not return either.
func TestOnlyPodsThatTheirOwnerCreatesAgainReturn(t *testing.T) {
	set := func(replicas, first int32, deleted bool) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{}, Ordinals: &appsv1.StatefulSetOrdinals{Start: first}}}
		if deleted {
			s.DeletionTimestamp = &metav1.Time{Time: start}
		}
		return s
	}
	replicaSet := func(replicas int32) func(*Keeper) {
		return func(k *Keeper) {
			k.ReplicaSetSeen(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
				Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{}}})
		}
	}
	ends := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }
	runs := func(*corev1.Pod) {}
	is := func(replicas, first int32, deleted bool) func(*Keeper) {
		return func(k *Keeper) { k.StatefulSetSeen(set(replicas, first, deleted)) }
	}
	for what, tt := range map[string]struct {
		kind  string
		phase func(*corev1.Pod)
		then  func(*Keeper)
		want  bool
	}{
		"an ordinal that is wanted ends":              {"StatefulSet", ends, is(3, 0, false), true},
		"the StatefulSet is scaled down and it ends":  {"StatefulSet", ends, is(1, 0, false), false},
		"the StatefulSet is scaled down and it runs":  {"StatefulSet", runs, is(1, 0, false), false},
		"ordinals start at its own":                   {"StatefulSet", ends, is(1, 1, false), true},
		"ordinals start above its own":                {"StatefulSet", ends, is(3, 2, false), false},
		"the StatefulSet is deleted after its pods":   {"StatefulSet", runs, is(3, 0, true), false},
		"the StatefulSet is gone and it ends":         {"StatefulSet", ends, func(k *Keeper) { k.StatefulSetGone("default", "web") }, false},
		"the StatefulSet is made again":               {"StatefulSet", ends, func(k *Keeper) { k.StatefulSetGone("default", "web"); is(2, 0, false)(k) }, true},
		"the StatefulSet is scaled down and up again": {"StatefulSet", ends, func(k *Keeper) { is(1, 0, false)(k); k.Snapshot(); is(2, 0, false)(k) }, true},
		"the ReplicaSet wants pods":                   {"ReplicaSet", runs, replicaSet(1), true},
		"the ReplicaSet is scaled to none":            {"ReplicaSet", runs, replicaSet(0), false},
	} {
		t.Run(what, func(t *testing.T) {
			k := newKeeper()
			is(2, 0, false)(k)
			replicaSet(2)(k)
			k.NodeSeen(node("n"))
			k.PodSeen(pod("web-1", "1", "n", by("apps/v1", tt.kind), tt.phase), true)
			if p := k.Snapshot().Nodes[0].Pods[0]; !p.Returns {
				t.Fatalf("at first the pod does not return: %+v", p)
			}
			tt.then(k)
			if p := k.Snapshot().Nodes[0].Pods[0]; p.Returns != tt.want {
				t.Errorf("the pod returns: %v, want %v", p.Returns, tt.want)
			}
		})
	}
}

// A plan is made when a StatefulSet is scaled down: places that were sought for its
// pods are not needed any more.
func TestAScaledStatefulSetAsksForAPlan(t *testing.T) {
	k := newKeeper()
	wanting(2)(k)
	k.NodeSeen(node("n"))
	k.PodSeen(pod("web-1", "1", "n", by("apps/v1", "StatefulSet")), true)
	k.PodSeen(pod("web-2", "1", "n", by("apps/v1", "StatefulSet")), true)
	k.Snapshot()
	select {
	case <-k.Changed():
	default:
	}
	fewer := int32(1)
	k.StatefulSetSeen(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.StatefulSetSpec{Replicas: &fewer, Selector: &metav1.LabelSelector{}}})
	select {
	case <-k.Changed():
	default:
		t.Error("no plan is asked for")
	}
}
