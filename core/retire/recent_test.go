package retire_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/retire"
)

// Whoever comes in place of an evicted pod goes on with what that has done, and so
// counts as running since the first of them was started.
func TestAPodThatWasMovedHasRunSinceTheFirst(t *testing.T) {
	first := time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)
	pod := cluster.Pod{Name: "web-1", StartedAt: first}
	for i := range 3 {
		at := first.Add(time.Duration(i+1) * 24 * time.Hour)
		next := cluster.Pod{Name: "web-next", StartedAt: at.Add(time.Minute)}
		retire.Follow(&next, &pod, at)
		if pod = next; !pod.Since.Equal(first) {
			t.Errorf("after %d moves a pod has run since %s, want %s", i+1, pod.Since, first)
		}
	}
}
