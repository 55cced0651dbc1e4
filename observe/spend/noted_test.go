package spend

import (
	"reflect"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
)

// What decisions saved is read from the record, each once with all of its nodes.
func TestSavingsOnRecord(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	went := func(after time.Duration, node string, saved *record.Saved) record.Statement {
		return record.Statement{About: record.Object{Kind: record.Node, Name: node}, From: at.Add(after), Saved: saved}
	}
	got := Noted([]record.Statement{
		went(0, "a", &record.Saved{Decision: "a", Promised: 0.104, Realised: 0.104}),
		went(0, "b", &record.Saved{Decision: "b", Promised: 0.104, Realised: 0.104}),
		went(time.Minute, "d", &record.Saved{Decision: "c", Promised: 0.054, Realised: 0.024}),
		went(time.Minute, "c", &record.Saved{Decision: "c", Promised: 0.054, Realised: 0.024}),
		went(2*time.Minute, "e", &record.Saved{Decision: "e", Promised: 0.054, Realised: -0.01}),
		went(2*time.Minute, "f", nil),
	})
	want := []Saving{
		{at.Add(2 * time.Minute), []string{"e"}, 0.054, -0.01},
		{at.Add(time.Minute), []string{"c", "d"}, 0.054, 0.024},
		{at, []string{"a"}, 0.104, 0.104}, {at, []string{"b"}, 0.104, 0.104},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
