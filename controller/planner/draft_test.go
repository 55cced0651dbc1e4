package planner

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
)

// A plan takes its time, and a window is open for a second after the last pod. None
// waits for a plan that was made meanwhile.
func TestDrafts(t *testing.T) {
	ms := time.Millisecond
	tests := map[string]struct {
		arrivals []time.Duration
		takes    time.Duration // each plan
		change   func(s *cluster.Snapshot, after time.Duration)
		want     string // when plans are begun, and what is launched
	}{
		"the plan is there when the window closes": {[]time.Duration{0, 100 * ms}, 600 * ms, nil,
			"[200ms: plan 2 1.1s: launch 2]"},
		"one that is not quite ready is waited for": {[]time.Duration{0}, 950 * ms, nil,
			"[100ms: plan 1 1.05s: launch 1]"},
		"a pod that comes later is in the next one": {[]time.Duration{0, 600 * ms}, 300 * ms, nil,
			"[100ms: plan 1 700ms: plan 2 1.6s: launch 2]"},
		"one of no use is followed by as long a rest": {[]time.Duration{0, 300 * ms}, 600 * ms, nil,
			"[100ms: plan 1 1.3s: plan 2 1.9s: launch 2]"},
		"one of pods that were fewer is not waited for": {[]time.Duration{0, 300 * ms}, 1500 * ms, nil,
			"[100ms: plan 1 1.3s: plan 2 2.8s: launch 2]"},
		"what is no change makes no other": {[]time.Duration{0}, 100 * ms,
			func(s *cluster.Snapshot, after time.Duration) { s.Revision, s.Now = uint64(after), s.Now.Add(after) },
			"[100ms: plan 1 1s: launch 1]"},
		"a price that changed does": {[]time.Duration{0}, 100 * ms,
			func(s *cluster.Snapshot, after time.Duration) {
				if after >= time.Second {
					s.Pools = slices.Clone(s.Pools)
					s.Pools[0].Catalogue = &cluster.Catalogue{Revision: 2, InstanceTypes: s.Pools[0].Catalogue.InstanceTypes}
				}
			},
			"[100ms: plan 1 1s: plan 1 1.1s: launch 1]"},
		"a pod whose time has come does": {[]time.Duration{0}, 100 * ms,
			func(s *cluster.Snapshot, after time.Duration) {
				s.Freeze, s.FreezeUntil, s.Now = "it is frozen", s.Now.Add(500*ms), s.Now.Add(after)
			},
			"[100ms: plan 1 1s: plan 1 1.1s: launch 1]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t, tt.arrivals...)
				c.change = tt.change
				p := c.planner()
				p.Effort.Of = func(s *cluster.Snapshot) decide.Effort {
					c.note("plan", len(s.Waiting))
					time.Sleep(tt.takes) // virtual time
					return decide.Usual(s)
				}
				c.runs(p)
				if got := fmt.Sprint(c.story); got != tt.want {
					t.Errorf("story %s\nwant  %s", got, tt.want)
				}
			})
		})
	}
}
