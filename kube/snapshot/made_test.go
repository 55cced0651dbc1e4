package snapshot

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
)

// ofWeb is a pod of ReplicaSet web that was made some time after the start, and whose
// requests were changed in place so often.
func ofWeb(name, cpu, node string, after time.Duration, changes int64) *corev1.Pod {
	return pod(name, cpu, node, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: new(true)}}
		p.CreationTimestamp, p.Generation = metav1.NewTime(start.Add(after)), 1+changes
	})
}

// web is that ReplicaSet, with what its template asks for.
func web(cpu string) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{}}}
	rs.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	return rs
}

// A plan reckons with what the pod asks for that comes in the place of one, and on its
// node one takes what it asks for now.
func TestWhatThePodAsksForThatComesInPlaceOfOne(t *testing.T) {
	for what, tt := range map[string]struct {
		see         func(k *ClusterState)
		comes, asks string // pod web-1
	}{
		"what it asks for itself": {func(k *ClusterState) { k.Listed(ofWeb("web-1", "1", "n", 0, 0)) }, "cpu=1 pods=1", "cpu=1 pods=1"},
		"what it did before a boost ended": {func(k *ClusterState) {
			k.Seen(ofWeb("web-1", "2", "", 0, 0))
			k.Seen(ofWeb("web-1", "2", "n", 0, 0))
			k.Seen(ofWeb("web-1", "500m", "n", 0, 1))
		}, "cpu=2 pods=1", "cpu=500m pods=1"},
		"what a newer one asked for": {func(k *ClusterState) {
			k.Listed(ofWeb("web-1", "500m", "n", 0, 1))
			k.Seen(ofWeb("web-2", "2", "", time.Minute, 0))
		}, "cpu=2 pods=1", "cpu=500m pods=1"},
		"not what an older one did": {func(k *ClusterState) {
			k.Listed(ofWeb("web-2", "4", "n", -time.Hour, 0))
			k.Listed(ofWeb("web-1", "2", "n", 0, 0))
			k.Seen(ofWeb("web-1", "1", "n", 0, 1))
		}, "cpu=2 pods=1", "cpu=1 pods=1"},
		"the most that pods of one second did": {func(k *ClusterState) {
			k.Listed(ofWeb("web-1", "1", "n", 0, 0))
			k.Listed(ofWeb("web-2", "2", "n", 0, 0))
		}, "cpu=2 pods=1", "cpu=1 pods=1"},
		"no less than it has been raised to": {func(k *ClusterState) {
			k.Seen(ofWeb("web-1", "1", "n", 0, 0))
			k.Seen(ofWeb("web-1", "3", "n", 0, 1))
		}, "cpu=3 pods=1", "cpu=3 pods=1"},
		"what the template says where none was seen as it was made": {func(k *ClusterState) {
			k.Seen(web("2"))
			k.Listed(ofWeb("web-1", "500m", "n", 0, 1))
		}, "cpu=2 pods=1", "cpu=500m pods=1"},
		"likewise, whichever is seen first": {func(k *ClusterState) {
			k.Listed(ofWeb("web-1", "500m", "n", 0, 1))
			k.Snapshot()
			k.Seen(web("2"))
		}, "cpu=2 pods=1", "cpu=500m pods=1"},
		"not the template where admission asks for less": {func(k *ClusterState) {
			k.Seen(web("2"))
			k.Listed(ofWeb("web-1", "500m", "n", 0, 0))
		}, "cpu=500m pods=1", "cpu=500m pods=1"},
		"itself while it waits": {func(k *ClusterState) {
			k.Seen(ofWeb("web-2", "2", "n", time.Minute, 0))
			k.Seen(ofWeb("web-1", "1", "", 0, 0))
		}, "cpu=1 pods=1", "cpu=1 pods=1"},
		"once it has a node, of a newer one": {func(k *ClusterState) {
			k.Seen(ofWeb("web-2", "2", "n", time.Minute, 0))
			k.Seen(ofWeb("web-1", "1", "", 0, 0))
			k.Snapshot()
			k.Seen(ofWeb("web-1", "1", "n", 0, 0))
		}, "cpu=2 pods=1", "cpu=1 pods=1"},
	} {
		t.Run(what, func(t *testing.T) {
			k := newClusterState()
			k.Seen(node("n"))
			tt.see(k)
			p := named1(t, k.Snapshot())
			if takes := p.Takes(); p.Shape.Requests.String() != tt.comes || takes.String() != tt.asks {
				t.Errorf("the next asks for %s and this one takes %s; want %s and %s", p.Shape.Requests, takes, tt.comes, tt.asks)
			}
		})
	}
}

// named1 finds pod web-1.
func named1(t *testing.T, s *cluster.Snapshot) cluster.Pod {
	t.Helper()
	all := s.Waiting
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Pods...)
	}
	for _, p := range all {
		if p.Name == "web-1" {
			return p
		}
	}
	t.Fatal("pod web-1 is not shown")
	return cluster.Pod{}
}

// What pods asked for when they were made is handed on to the next process, which may see
// none of them as it was made.
func TestWhatPodsAskedForIsHandedOn(t *testing.T) {
	k := newClusterState()
	k.Seen(ofWeb("web-1", "2", "n", 0, 0))
	if reported := k.Memory().Made; len(reported) != 0 {
		t.Errorf("it remembers %v, which the pods say themselves", reported)
	}
	k.Seen(ofWeb("web-1", "500m", "n", 0, 1))
	reported := handedOn(t, k)
	next := newClusterState()
	next.Seen(node("n"))
	next.Seen(web("1"))
	next.Listed(ofWeb("web-1", "500m", "n", 0, 1))
	next.Snapshot()
	next.Remember(reported)
	if got := named1(t, next.Snapshot()).Shape.Requests.String(); got != "cpu=2 pods=1" {
		t.Errorf("the next pod asks for %s, want what was remembered", got)
	}
	next.Seen(ofWeb("web-2", "1", "n", time.Minute, 0))
	next.Remember(reported)
	if got := named1(t, next.Snapshot()).Shape.Requests.String(); got != "cpu=1 pods=1" {
		t.Errorf("the next pod asks for %s, want what a newer one did", got)
	}
	next.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1"}})
	next.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-2"}})
	if made := next.Memory().Made; len(made) != 0 {
		t.Errorf("of an owner without pods it is known: %v", made)
	}
}
