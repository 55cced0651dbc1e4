// Package viewtest makes what tests of screens show.
//
// It promises views of clusters as `daemok view` has them: with the record of a real plan. It serves tests alone.
package viewtest

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/view"
)

// Planned is a cluster, in the text form of a snapshot, with what is on record once a plan has been made for it; kept is
// the record from before, and is added to.
func Planned(t testing.TB, situation string, kept *record.Record) view.Input {
	t.Helper()
	s, err := scenario.Parse(situation)
	if err != nil {
		t.Fatal(err)
	}
	clerk := &record.Clerk{Record: kept, Now: func() time.Time { return s.Now }}
	p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
	clerk.Planned(s, p, 0)
	clerk.Explain(s, p)
	said, _ := kept.Statements(time.Time{})
	return view.Input{Snapshot: s, Offers: true, Statements: said}
}
