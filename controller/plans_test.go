package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/controller/nodepool"
)

// Pods hear nothing of a class in its first quarter of an hour, neither while it becomes
// ready nor from a plan that was made just before it was.
func TestAClassBecomesReadyForAQuarterOfAnHour(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	state := func(status metav1.ConditionStatus, since time.Duration) nodepool.ClassState {
		return nodepool.ClassState{Found: true, CreatedAt: made, Status: status, Since: made.Add(since)}
	}
	leaving := state(metav1.ConditionFalse, 0)
	leaving.Terminating = true
	tests := map[string]struct {
		class nodepool.ClassState
		after time.Duration
		want  bool
	}{
		"not looked at":                    {nodepool.ClassState{Found: true, CreatedAt: made, Status: metav1.ConditionUnknown}, time.Second, true},
		"not ready for its profile is new": {state(metav1.ConditionFalse, 0), 14 * time.Minute, true},
		"not ready for too long":           {state(metav1.ConditionFalse, 0), 15 * time.Minute, false},
		"ready since the plan was made":    {state(metav1.ConditionTrue, 18*time.Second), 21 * time.Second, true},
		"ready for long":                   {state(metav1.ConditionTrue, 18*time.Second), 28 * time.Second, false},
		"an older one that is ready again": {state(metav1.ConditionTrue, time.Hour), time.Hour + time.Second, false},
		"deleted before it was ever ready": {leaving, time.Second, false},
		"one that does not exist":          {nodepool.ClassState{}, time.Second, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := isBecoming(tt.class, made.Add(tt.after)); got != tt.want {
				t.Errorf("becomes ready: %v, want %v", got, tt.want)
			}
		})
	}
}
