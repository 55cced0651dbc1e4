package snapshot

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/disruption"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/pods"
)

// A process that starts again knows from another one which pods were moved, as long
// as that matters, and which nodes went.
func TestAMemoryIsHandedOn(t *testing.T) {
	now := start
	k := newClusterState()
	k.now = func() time.Time { return now }
	for _, name := range []string{"once", "twice", "never", "long-ago"} {
		k.Listed(pod(name, "1", "n"))
	}
	moved := func(k *ClusterState, name string, times int, ago time.Duration) {
		k.Remember(Memory{Moved: map[string]pods.Moved{"uid-" + name: {Times: times, At: now.Add(-ago)}}})
	}
	moved(k, "once", 1, time.Minute)
	moved(k, "twice", 2, disruption.RememberedFor(2)-time.Minute)
	moved(k, "long-ago", 1, disruption.Lately)
	gone := claimOf("gone", karpv1.ClaimRegistered)
	gone.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Hour)}
	k.Seen(gone)
	k.Gone(gone)

	reported := handedOn(t, k)
	next := newClusterState()
	for _, name := range []string{"once", "twice", "never", "long-ago"} {
		next.Listed(pod(name, "1", "n"))
	}
	moved(next, "twice", 3, 0) // which it has seen itself
	next.Remember(reported)
	next.Seen(pod("once", "1", "n", func(p *corev1.Pod) { p.Labels = map[string]string{"seen": "again"} }))
	got := map[string]int{}
	for _, name := range []string{"once", "twice", "never", "long-ago"} {
		p, _, _ := next.tables.pods.Find(types.NamespacedName{Namespace: "default", Name: name})
		got[name] = p.Moved
	}
	if want := fmt.Sprint(map[string]int{"once": 1, "twice": 3, "never": 0, "long-ago": 0}); fmt.Sprint(got) != want {
		t.Errorf("pods were moved %v times, want %v", got, want)
	}
	if d, known := next.tables.claims.Memory(now)[gone.Name]; !known || !d.At.Equal(gone.DeletionTimestamp.Time) || d.Pool.Name != "default" {
		t.Errorf("of the claim that went it is known: %+v", d)
	}
}

// What is oldest is forgotten first, so that a memory has room in an object.
func TestAMemoryIsBounded(t *testing.T) {
	k := newClusterState()
	for i := range memoryMost + 10 {
		c := claimOf("", karpv1.ClaimRegistered)
		c.Name, c.DeletionTimestamp = fmt.Sprintf("c-%05d", i), &metav1.Time{Time: start.Add(-time.Duration(i) * time.Second)}
		k.Seen(c)
	}
	m := k.Memory().Departures
	if _, latest := m["c-00000"]; len(m) != memoryMost || !latest {
		t.Errorf("%d claims are remembered, want the latest %d", len(m), memoryMost)
	}
}

// handedOn is what a cluster state remembers, as the next process reads it.
func handedOn(t *testing.T, k *ClusterState) (reported Memory) {
	t.Helper()
	text, err := json.Marshal(k.Memory())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &reported); err != nil {
		t.Fatal(err)
	}
	return reported
}
