package snapshot

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// A pod that comes in place of one that was evicted from a node that is to go
// was moved, one more time than that; who comes for another reason was not.
func TestPodsThatComeInPlaceOfEvictedOnesWereMoved(t *testing.T) {
	now, yes := start, true
	k := newClusterState()
	k.now = func() time.Time { return now }
	of := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: name, Controller: &yes}}
		}
	}
	ends := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }
	closed, open := node("closed"), node("open")
	closed.Spec.Taints = []corev1.Taint{{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
	k.NodeSeen(closed)
	k.NodeSeen(open)
	for _, name := range []string{"web-1", "web-2"} {
		k.PodSeen(pod(name, "1", "closed", of("web")), true)
	}
	k.PodSeen(pod("db-1", "1", "open", of("db")), true)
	moved := func(name string) int {
		k.mu.Lock()
		defer k.mu.Unlock()
		for key, e := range k.pods {
			if key.Name == name && (e.pod.Moved == 0) == e.pod.MovedAt.IsZero() {
				return e.pod.Moved
			}
		}
		return -1
	}

	k.PodSeen(pod("web-1", "1", "closed", of("web"), ends), false)
	k.PodSeen(pod("db-1", "1", "open", of("db"), ends), false)
	k.PodSeen(pod("db-2", "1", "", of("db")), false)
	k.PodSeen(pod("web-3", "1", "", of("web")), false)
	k.PodSeen(pod("web-3", "1", "closed", of("web")), false) // kube-scheduler was late
	k.PodSeen(pod("web-4", "1", "", of("web")), false)       // the workload grows
	k.PodGone("default", "web-3")                            // without a word before
	k.PodSeen(pod("web-5", "1", "", of("web")), false)
	k.PodSeen(pod("web-2", "1", "closed", of("web"), ends), false)
	now = now.Add(2 * time.Hour)
	k.PodSeen(pod("web-6", "1", "", of("web")), false) // nobody waits that long

	for name, want := range map[string]int{"db-2": 0, "web-2": 0, "web-4": 0, "web-5": 2, "web-6": 0} {
		if got := moved(name); got != want {
			t.Errorf("%s was moved %d times, want %d", name, got, want)
		}
	}
	k.NodeGone("closed")
	if len(k.evictions) > 0 {
		t.Errorf("after hours there is left %v", k.evictions)
	}
}
