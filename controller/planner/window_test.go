package planner

import (
	"testing"
	"time"

	"github.com/daemok/daemok/kube/snapshot/pods"
)

func arrivals(at time.Time, uids ...string) []pods.Arrival {
	var out []pods.Arrival
	for _, uid := range uids {
		out = append(out, pods.Arrival{UID: uid, At: at})
	}
	return out
}

// TestWindowCountsFromTheArrival: pods that the window hears of late, because the scheduler
// was slow to check them, have waited their time already.
func TestWindowCountsFromTheArrival(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := Window{Idle: time.Second, Max: 10 * time.Second}
	w.Update(append(arrivals(start, "a"), arrivals(start.Add(-3*time.Second), "b")...))
	if at, open := w.ClosesAt(); !open || !at.Equal(start.Add(time.Second)) {
		t.Errorf("ClosesAt = %v, %v; want a second after the newest pod arrived", at.Sub(start), open)
	}
}

func TestWindow(t *testing.T) {
	type arrival struct {
		at   time.Duration
		uids []string
	}
	tests := map[string]struct {
		arrivals []arrival
		closes   time.Duration // after the start; -1 while closed
	}{
		"is closed without pods":                              {[]arrival{{0, nil}}, -1},
		"SC-1 closes one idle time after a pod that is alone": {[]arrival{{0, []string{"a"}}}, time.Second},
		"SC-2 is not prolonged by a pod it knows":             {[]arrival{{0, []string{"a"}}, {900 * time.Millisecond, []string{"a"}}}, time.Second},
		"SC-5 is prolonged by a new pod":                      {[]arrival{{0, []string{"a"}}, {900 * time.Millisecond, []string{"a", "b"}}}, 1900 * time.Millisecond},
		"SC-4 closes at its maximum whatever arrives":         {[]arrival{{0, []string{"a"}}, {9500 * time.Millisecond, []string{"a", "b"}}}, 10 * time.Second},
		"counts a pod that left and came back as new":         {[]arrival{{0, []string{"a"}}, {100 * time.Millisecond, nil}, {500 * time.Millisecond, []string{"a"}}}, 1500 * time.Millisecond},
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := Window{Idle: time.Second, Max: 10 * time.Second}
			for _, a := range tt.arrivals {
				w.Update(arrivals(start.Add(a.at), a.uids...))
			}
			at, open := w.ClosesAt()
			if open != (tt.closes >= 0) || open && at.Sub(start) != tt.closes {
				t.Errorf("ClosesAt after %v = %v, %v; want %v", tt.arrivals, at.Sub(start), open, tt.closes)
			}
		})
	}
}

func TestWindowKeepsKnownPodsAfterClosing(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := Window{Idle: time.Second, Max: 10 * time.Second}
	w.Update(arrivals(start, "a"))
	w.Close()
	w.Update(arrivals(start.Add(time.Minute), "a"))
	if at, open := w.ClosesAt(); open {
		t.Errorf("a pod already planned opened the window again, until %v", at)
	}
}
