package snapshot

import (
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// served is a pod of Service web; it is ready unless something changes that.
func served(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	return pod(name, "1", "a", append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web"}
		p.Annotations = map[string]string{api.AnnotationKeepReady: "true"}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}}, change...)...)
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

// by makes a pod one of a workload.
func by(version, kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "web", Controller: new(true)}}
	}
}

// wanting makes workloads of which each wants so many pods.
func wanting(n int32) func(*ClusterState) {
	return func(k *ClusterState) {
		m := metav1.ObjectMeta{Namespace: "default", Name: "web"}
		k.Seen(&appsv1.ReplicaSet{ObjectMeta: m, Spec: appsv1.ReplicaSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{}}})
		k.Seen(&appsv1.StatefulSet{ObjectMeta: m, Spec: appsv1.StatefulSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{}}})
		k.Seen(&corev1.ReplicationController{ObjectMeta: m, Spec: corev1.ReplicationControllerSpec{Replicas: &n}})
	}
}

func says(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations = map[string]string{api.AnnotationKeepReady: value}
		if value == "" {
			p.Annotations = nil
		}
	}
}

// TestTheLastReadyPodOfAServiceIsKnown: where it, or its pool, asks to keep such
// pods, and there is another that may become ready or will be made.
func TestTheLastReadyPodOfAServiceIsKnown(t *testing.T) {
	tests := map[string]struct {
		pool map[string]string
		pods []*corev1.Pod
		want string // of the first
	}{
		"another is not ready":           {nil, []*corev1.Pod{served("web-1"), served("web-2", unready)}, "web"},
		"another has no node":            {nil, []*corev1.Pod{served("web-1"), served("web-2", unready, func(p *corev1.Pod) { p.Spec.NodeName = "" })}, "web"},
		"another is ready":               {nil, []*corev1.Pod{served("web-1"), served("web-2")}, ""},
		"another is ending":              {nil, []*corev1.Pod{served("web-1"), served("web-2", ending)}, "web"},
		"there is no other":              {nil, []*corev1.Pod{served("web-1")}, ""},
		"another is of no such Service":  {nil, []*corev1.Pod{served("web-1"), served("db-1", unready, func(p *corev1.Pod) { p.Labels = nil })}, ""},
		"it is not ready itself":         {nil, []*corev1.Pod{served("web-1", unready), served("web-2", unready)}, ""},
		"it does not ask":                {nil, []*corev1.Pod{served("web-1", says("")), served("web-2", unready)}, ""},
		"its pool asks":                  {map[string]string{api.AnnotationKeepReady: "true"}, []*corev1.Pod{served("web-1", says("")), served("web-2", unready)}, "web"},
		"its pool asks, and it does not": {map[string]string{api.AnnotationKeepReady: "true"}, []*corev1.Pod{served("web-1", says("false")), served("web-2", unready)}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.Seen(node("a"))
			k.Seen(claimOf("a", karpv1.ClaimRegistered, karpv1.ClaimInitialized))
			k.PoolSeen(translate.PoolObject{ID: cluster.PoolID{Kind: translate.KindNodePool, Name: "default"}, Object: &karpv1.NodePool{}, Annotations: maps.Clone(tt.pool)})
			for _, service := range []string{"web", "also"} {
				s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: service}}
				s.Spec.Selector = map[string]string{"app": service}
				k.Seen(s)
			}
			for _, p := range tt.pods {
				k.Listed(p)
			}
			pods := k.Snapshot().Nodes[0].Pods
			at := slices.IndexFunc(pods, func(p cluster.Pod) bool { return p.Name == "web-1" })
			if got := pods[at].LastOf; got != tt.want {
				t.Errorf("it is the last of %q, want %q", got, tt.want)
			}
		})
	}
}

// Of a pod that is alone it is known whether its owner wants more, as long as there
// is that owner.
func TestTheOnlyPodOfAServiceIsKeptWhereMoreAreWanted(t *testing.T) {
	k := newClusterState()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	s.Spec.Selector = map[string]string{"app": "web"}
	k.Seen(s)
	k.Seen(node("a"))
	k.Seen(claimOf("a", karpv1.ClaimRegistered, karpv1.ClaimInitialized))
	tests := map[string]struct {
		of   func(*corev1.Pod)
		gone client.Object
	}{
		"a ReplicaSet":            {by("apps/v1", "ReplicaSet"), &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}},
		"a StatefulSet":           {by("apps/v1", "StatefulSet"), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}},
		"a ReplicationController": {by("v1", "ReplicationController"), &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}},
		"nobody known":            {by("example.com/v1", "StatefulSet"), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k.Listed(served("web-1", tt.of))
			lastOf := func() string { return k.Snapshot().Nodes[0].Pods[0].LastOf }
			reported(k)
			wanting(2)(k)
			if want := map[bool]string{true: "web"}[tt.gone != nil]; lastOf() != want {
				t.Errorf("where two are wanted it is the last of %q, want %q", lastOf(), want)
			}
			if tt.gone == nil {
				return
			}
			reported(k)
			wanting(1)(k)
			if got := lastOf(); got != "" || !reported(k) {
				t.Errorf("where one is wanted it is the last of %q, and its node is looked at again: want of none, and that it is", got)
			}
			wanting(3)(k)
			k.Gone(tt.gone)
			if got := lastOf(); got != "" {
				t.Errorf("where its owner is gone it is the last of %q, want of none", got)
			}
		})
	}
}

// reported reports whether the cluster state says that something changed.
func reported(k *ClusterState) bool {
	select {
	case <-k.Changed():
		return true
	default:
		return false
	}
}

// A node that is kept for its last ready pod is thought of again when another is
// ready.
func TestAPodThatGetsReadyBesideAnotherAsksForAPlan(t *testing.T) {
	k := newClusterState()
	k.Listed(served("web-1"))
	k.Listed(served("web-2", unready))
	<-k.Changed()
	k.Seen(served("web-2"))
	if !reported(k) {
		t.Error("nobody is told")
	}
}
