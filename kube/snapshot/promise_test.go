package snapshot

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// kube-scheduler has promised a pod a node, and it does not come there: the promise counts for a minute, for longer
// where pods end to make room for it, and not where the node goes.
func TestAPromiseOfANodeDoesNotHideAPodForEver(t *testing.T) {
	taint := corev1.Taint{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}
	tests := map[string]struct {
		after  time.Duration
		leaves bool // the node does
		victim bool // a pod ends on it
		waits  bool
	}{
		"at first":                            {0, false, false, false},
		"just before the minute is over":      {59 * time.Second, false, false, false},
		"when the call that binds it failed":  {time.Minute, false, false, true},
		"while others end to make room":       {10 * time.Minute, false, true, false},
		"of a node that leaves":               {0, true, false, true},
		"of a node that leaves, with victims": {0, true, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := start
			k := NewKeeper(nothingOffered, func() time.Time { return now })
			n := node("n")
			if tt.leaves {
				n.Spec.Taints = append(n.Spec.Taints, taint)
				n.DeletionTimestamp = &metav1.Time{Time: start}
			}
			k.NodeSeen(n)
			if tt.victim {
				k.PodSeen(pod("victim", "1", "n", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }), false)
			}
			promised := pod("p", "1", "", func(p *corev1.Pod) { p.Status.NominatedNodeName, p.Spec.Priority = "n", new(int32(7)) })
			k.PodSeen(promised, false)
			now = start.Add(tt.after)
			again := promised.DeepCopy() // another change does not make the promise new
			again.Labels = map[string]string{"a": "b"}
			k.PodSeen(again, false)
			if got := len(k.Snapshot().Waiting) == 1; got != tt.waits {
				t.Errorf("it waits: %v, want %v", got, tt.waits)
			}
		})
	}
}
