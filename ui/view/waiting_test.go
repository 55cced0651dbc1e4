package view

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// A pod that no plan has looked at has no place yet, and lacks none either.
func TestPodsWaitForANodeOrForAPlan(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	web := cluster.Pod{Namespace: "shop", Name: "web-1", CreatedAt: at, Shape: &cluster.Shape{}}
	unable := web
	unable.Shape = &cluster.Shape{Unable: "its volume is in a zone without a pool"}
	for name, c := range map[string]struct {
		pod            cluster.Pod
		controller     *Controller
		placed, looked bool
	}{
		"no plan has looked":       {web, nil, false, false},
		"no controller acts":       {web, &Controller{Standing: Idle}, false, false},
		"Daemok is in shadow":      {web, &Controller{Standing: Shadow}, false, false},
		"it can be placed nowhere": {unable, nil, false, true},
	} {
		s := &cluster.Snapshot{Now: at, Waiting: []cluster.Pod{c.pod}}
		got := Of(Input{Snapshot: s, Controller: c.controller}).Waiting
		if len(got) != 1 || got[0].Placed != c.placed || got[0].Looked != c.looked {
			t.Errorf("%s: got %+v, want placed %v and looked at %v", name, got, c.placed, c.looked)
		}
		if stuck := c.looked && !c.placed; got[0].Stuck() != stuck {
			t.Errorf("%s: stuck %t, want %t", name, got[0].Stuck(), stuck)
		}
	}
}
