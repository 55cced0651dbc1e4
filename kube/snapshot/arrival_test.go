package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestArrivalsFollowPods: pods come, get a node, go and come back by chance, and those
// that wait are listed at every moment, as the snapshot shows them.
func TestArrivalsFollowPods(t *testing.T) {
	r, k, waits := rand.New(rand.NewPCG(1, 3)), newClusterState(), map[string]bool{}
	k.Seen(node("n1"))
	for range 400 {
		name := fmt.Sprint("p-", r.IntN(20))
		delete(waits, "uid-"+name)
		switch r.IntN(3) {
		case 0:
			k.Seen(pod(name, "1", ""))
			waits["uid-"+name] = true
		case 1:
			k.Seen(pod(name, "1", "n1"))
		default:
			k.Gone(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		}
		var got, shown []string
		list, _, _ := k.Arrivals()
		for _, a := range list {
			got = append(got, a.UID)
		}
		for _, p := range k.Snapshot().Waiting {
			shown = append(shown, p.UID)
		}
		slices.Sort(got)
		slices.Sort(shown)
		other := func(uid string) bool { return !waits[uid] }
		if !slices.Equal(got, shown) || len(got) != len(waits) || slices.ContainsFunc(got, other) {
			t.Fatalf("%v wait, the snapshot shows %v, want %v", got, shown, waits)
		}
	}
}

// A pod counts from its creation on, whenever this process has come or its watch shows it; and one that a
// claim was made for counts at once, since it has been planned for.
func TestAPodCountsFromItsCreation(t *testing.T) {
	tests := map[string]struct {
		age     time.Duration
		claimed bool
		waits   bool
	}{
		"created now":                         {0, false, false},
		"created a second ago, as it is told": {time.Second, false, false},
		"created two seconds ago":             {2 * time.Second, false, true},
		"created now, and planned for":        {0, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			p := pod("p", "1", "", func(p *corev1.Pod) {
				p.Status.Conditions = nil
				p.CreationTimestamp = metav1.NewTime(start.Add(-tt.age))
			})
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{api.AnnotationForPods: "uid-other,uid-p"}}}
			if tt.claimed {
				k.Seen(c)
			}
			k.Listed(p)
			if got := len(k.Snapshot().Waiting) == 1; got != tt.waits {
				t.Errorf("it waits: %v, want %v", got, tt.waits)
			}
			k.Gone(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
			if k.tables.claims.MadeFor("uid-p") || k.tables.claims.MadeFor("uid-other") {
				t.Error("a claim that is gone was made for pods")
			}
		})
	}
}
