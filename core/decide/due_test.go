package decide_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
)

func TestWhatEndsByTheClockIsLookedAtThen(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	budgets := func(at time.Time) cluster.Pool { return cluster.Pool{Policy: cluster.Policy{BudgetsChange: at}} }
	protected := func(until time.Time) cluster.Node {
		return cluster.Node{Pods: []cluster.Pod{{}, {Protection: cluster.Protection{ProtectedUntil: until}}}}
	}
	tests := map[string]struct {
		snapshot cluster.Snapshot
		want     time.Duration // 0: never
	}{
		"nothing does":            {cluster.Snapshot{}, 0},
		"a freeze":                {cluster.Snapshot{FreezeUntil: in(time.Hour)}, time.Hour},
		"a freeze without an end": {cluster.Snapshot{Freeze: "for ever"}, 0},
		"a budget":                {cluster.Snapshot{Pools: []cluster.Pool{budgets(time.Time{}), budgets(in(2 * time.Hour))}}, 2 * time.Hour},
		"the protection of a pod": {cluster.Snapshot{Nodes: []cluster.Node{protected(time.Time{}), protected(in(time.Minute))}}, time.Minute},
		"the first of several": {cluster.Snapshot{FreezeUntil: in(time.Hour), Pools: []cluster.Pool{budgets(in(time.Second)), budgets(in(time.Minute))},
			Nodes: []cluster.Node{protected(in(2 * time.Second))}}, time.Second},
		"what has ended already does not": {cluster.Snapshot{FreezeUntil: now, Pools: []cluster.Pool{budgets(in(-time.Second))},
			Nodes: []cluster.Node{protected(in(time.Minute))}}, time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.snapshot.Now = now
			at, ok := decide.NextDue(&tt.snapshot)
			if ok != (tt.want != 0) || ok && at.Sub(now) != tt.want {
				t.Errorf("due at %v (%v), want in %v", at, ok, tt.want)
			}
		})
	}
}
