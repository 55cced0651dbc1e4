package record_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe/record"
)

// Of a node that is to empty it is on record since when that is so, from when it has the taint, and why, as long as it has
// it: a plan that names no nodes takes nothing back.
func TestANodeThatIsToEmptySaysSinceWhenAndWhy(t *testing.T) {
	start := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	clerk := &record.Clerk{Record: &record.Record{}, Now: func() time.Time { return start }}
	plans := func(minute int, taints []constraint.Taint, emptying ...plan.Emptying) {
		s := &cluster.Snapshot{Now: start.Add(time.Duration(minute) * time.Minute), Nodes: []cluster.Node{{Name: "n", Claim: "c", Initialized: true, Taints: taints}}}
		clerk.Planned(s, plan.Plan{}, 0)
		clerk.Explain(s, plan.Plan{Emptying: emptying})
	}
	named := plan.Emptying{Node: "n", Claim: "c", Note: "two pods run on it"}
	has := []constraint.Taint{cluster.Emptying()}
	says := func(minute int, want string) {
		t.Helper()
		got := ""
		for _, s := range clerk.Record.About(record.Object{Kind: record.Node, Name: "n"}) {
			if s.Topic == record.TopicEmpties {
				got += s.From.Format("15:04") + " " + s.Said + ", because " + s.Why
				if !s.Until.IsZero() {
					got += ", until " + s.Until.Format("15:04")
				}
			}
		}
		if got != want {
			t.Errorf("in minute %d: %q, want %q", minute, got, want)
		}
	}
	const reported = "12:01 is to empty without evictions: new pods go to other nodes while these have room, and scale-downs begin with its pods, because two pods run on it"
	plans(0, nil, named)
	says(0, "")
	plans(1, has, named)
	plans(2, has)
	says(2, reported)
	plans(3, nil)
	says(3, reported+", until 12:03")
}
