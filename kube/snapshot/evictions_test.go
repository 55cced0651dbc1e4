package snapshot

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	k.Seen(closed)
	k.Seen(open)
	for _, name := range []string{"web-1", "web-2"} {
		k.Listed(pod(name, "1", "closed", of("web")))
	}
	k.Listed(pod("db-1", "1", "open", of("db")))
	moved := func(name string) int {
		p, _, known := k.tables.pods.Find(types.NamespacedName{Namespace: "default", Name: name})
		if !known || (p.Moved == 0) != p.MovedAt.IsZero() {
			return -1
		}
		return p.Moved
	}

	k.Seen(pod("web-1", "1", "closed", of("web"), ends))
	k.Seen(pod("db-1", "1", "open", of("db"), ends))
	k.Seen(pod("db-2", "1", "", of("db")))
	k.Seen(pod("web-3", "1", "", of("web")))
	k.Seen(pod("web-3", "1", "closed", of("web")))                                          // kube-scheduler was late
	k.Seen(pod("web-4", "1", "", of("web")))                                                // the workload grows
	k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-3"}}) // without a word before
	k.Seen(pod("web-5", "1", "", of("web")))
	k.Seen(pod("web-2", "1", "closed", of("web"), ends))
	now = now.Add(2 * time.Hour)
	k.Seen(pod("web-6", "1", "", of("web"))) // it is not waited for that long

	for name, want := range map[string]int{"db-2": 0, "web-2": 0, "web-4": 0, "web-5": 2, "web-6": 0} {
		if got := moved(name); got != want {
			t.Errorf("%s was moved %d times, want %d", name, got, want)
		}
	}
}
