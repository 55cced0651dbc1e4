package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// A ReplicaSet that scales down deletes its pods in the order that Kubernetes documents.
func TestDeletionOrder(t *testing.T) {
	w := emptyWorld(Options{Seed: 1})
	w.now = w.began.Add(time.Hour)
	on, emptying, last := &machine{}, &machine{emptying: 1}, &machine{emptying: 2}
	crowded := &machine{}
	pods := []*pod{
		runningPod("old", on, w.began),
		runningPod("young", &machine{}, w.now.Add(-time.Minute)),
		runningPod("dear", emptying, w.began),
		runningPod("second-emptying", last, w.began),
		runningPod("emptying", emptying, w.began),
		runningPod("cheap", &machine{}, w.began),
		runningPod("crowded", crowded, w.began),
		runningPod("crowded", crowded, w.began),
		runningPod("unready", &machine{}, w.began),
		runningPod("pending", &machine{}, w.began),
		{Pod: cluster.Pod{Name: "unassigned"}},
	}
	pods[2].DeletionCost, pods[5].DeletionCost = 5, -5
	pods[8].Unready, pods[9].Pending, pods[10].Pending = true, true, true
	var got []string
	for _, p := range w.inDeletionOrder(pods) {
		got = append(got, p.Name)
	}
	want := "unassigned pending unready emptying second-emptying cheap crowded crowded young old dear"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("they are deleted in the order\n%s, want\n%s", all, want)
	}
}

func runningPod(name string, at *machine, ready time.Time) *pod {
	return &pod{Pod: cluster.Pod{Name: name}, at: at, readyAt: ready}
}
