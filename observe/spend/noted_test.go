package spend

import (
	"reflect"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
)

// What is noted is read again as it was.
func TestSavingsOnRecord(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	said := func(after time.Duration, node, said string, more ...string) record.Statement {
		about := record.Object{Kind: record.Node, Name: node}
		return record.Statement{About: about, Said: said, More: more, From: at.Add(after)}
	}
	got := Noted([]record.Statement{
		said(0, "a", "its disruption saves $0.104000/h, as planned"),
		said(0, "b", "its disruption saves $0.104000/h, as planned"),
		said(time.Minute, "d", "its disruption saves $0.024000/h: $0.054000/h was planned", "2 nodes together"),
		said(time.Minute, "c", "its disruption saves $0.024000/h: $0.054000/h was planned", "2 nodes together"),
		said(2*time.Minute, "e", "its disruption costs $0.010000/h: its replacements cost more than planned, "+
			"and $0.054000/h was to be saved"),
		said(2*time.Minute, "f", "stays"),
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
