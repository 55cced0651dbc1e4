package snapshot

import (
	"fmt"
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
			k := New(nothingOffered, func() time.Time { return now })
			n := node("n")
			if tt.leaves {
				n.Spec.Taints = append(n.Spec.Taints, taint)
				n.DeletionTimestamp = &metav1.Time{Time: start}
			}
			k.Seen(n)
			if tt.victim {
				k.Seen(pod("victim", "1", "n", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }))
			}
			promised := pod("p", "1", "", func(p *corev1.Pod) { p.Status.NominatedNodeName, p.Spec.Priority = "n", new(int32(7)) })
			k.Seen(promised)
			now = start.Add(tt.after)
			again := promised.DeepCopy() // another change does not make the promise new
			again.Labels = map[string]string{"a": "b"}
			k.Seen(again)
			if got := len(k.Snapshot().Waiting) == 1; got != tt.waits {
				t.Errorf("it waits: %v, want %v", got, tt.waits)
			}
		})
	}
}

// kube-scheduler has promised pods of priority 7 a node of 4 cores. Others may have come there since: where they took the
// room, the pods wait, and no launch for them is withdrawn. What is less important makes room.
func TestAPromiseCountsWhereTheNodeHasRoom(t *testing.T) {
	ending := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }
	priority := func(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	type on struct {
		cpu  string
		with []func(*corev1.Pod)
	}
	tests := map[string]struct {
		after    time.Duration
		there    []on
		promised []string // what they ask for
		waiting  int
	}{
		"there is room":                             {0, []on{{"3", []func(*corev1.Pod){priority(7)}}}, []string{"1"}, 0},
		"another has taken it":                      {0, []on{{"3500m", []func(*corev1.Pod){priority(7)}}}, []string{"1"}, 1},
		"another has taken it and ends":             {0, []on{{"3500m", []func(*corev1.Pod){priority(7), ending}}}, []string{"1"}, 1},
		"a lesser one may be evicted":               {0, []on{{"3500m", nil}}, []string{"1"}, 0},
		"a lesser one was not, in a minute":         {time.Minute, []on{{"3500m", nil}}, []string{"1"}, 1},
		"a lesser one ends":                         {time.Minute, []on{{"3500m", []func(*corev1.Pod){ending}}}, []string{"1"}, 0},
		"one ends, and another one stays":           {time.Minute, []on{{"1", []func(*corev1.Pod){ending}}, {"3", nil}}, []string{"1"}, 0},
		"one ends, and another one has the room":    {time.Minute, []on{{"500m", []func(*corev1.Pod){ending}}, {"3500m", nil}}, []string{"1"}, 1},
		"two are promised what there is for one":    {0, []on{{"2", []func(*corev1.Pod){priority(7)}}}, []string{"2", "2"}, 1},
		"two are promised what there is for both":   {0, []on{{"2", []func(*corev1.Pod){priority(7)}}}, []string{"1", "1"}, 0},
		"more is promised than the node ever has":   {0, nil, []string{"5"}, 1},
		"of two the lesser's room is the other's":   {0, []on{{"4", nil}}, []string{"2", "2"}, 0},
		"lesser ones have too little to be evicted": {0, []on{{"2", nil}, {"2", []func(*corev1.Pod){priority(7)}}}, []string{"3"}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := start
			k := New(nothingOffered, func() time.Time { return now })
			k.Seen(node("n"))
			for i, p := range tt.there {
				k.Seen(pod(fmt.Sprint("there", i), p.cpu, "n", p.with...))
			}
			for i, cpu := range tt.promised {
				k.Seen(pod(fmt.Sprint("promised", i), cpu, "", priority(7), func(p *corev1.Pod) { p.Status.NominatedNodeName = "n" }))
			}
			now = start.Add(tt.after)
			if got := len(k.Snapshot().Waiting); got != tt.waiting {
				t.Errorf("%d wait, want %d", got, tt.waiting)
			}
		})
	}
}
