package record_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
)

// Numbers of now are no news, words are.
func TestOnlyWordsAreNews(t *testing.T) {
	tests := map[string]struct {
		before, after string
		entries       int
	}{
		"the same":           {"no room for a", "no room for a", 1},
		"other numbers":      {"at most $0.05 would be saved of 9", "at most $0.1234 would be saved of 10", 1},
		"other words":        {"no room for a", "no room for b", 2},
		"more words":         {"no room for a", "no room for a, and 3 more", 2},
		"a number that ends": {"budget nodes: 1", "budget nodes: 10%", 2},
		"no reason any more": {"no room for a", "", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, at := &record.Record{}, time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
			for i, why := range []string{tt.before, tt.after} {
				r.Begin()
				r.Hold(record.Statement{About: node("n1"), Topic: record.TopicStay, Said: "stays", Why: why, From: at.Add(time.Duration(i) * time.Hour)}, nil)
				r.Finish(at)
			}
			list := r.About(node("n1"))
			want := tt.after
			if want == "" {
				want = tt.before
			}
			if len(list) != tt.entries || list[0].Why != want {
				t.Errorf("%d entries, the first %q; want %d and %q", len(list), list[0].Why, tt.entries, want)
			}
		})
	}
}

// The record is bounded: what is over goes first, then what has held for longest.
func TestTheRecordIsBounded(t *testing.T) {
	r, at := &record.Record{}, time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	long := strings.Repeat("x", 10_000)
	r.Begin()
	r.Hold(record.Statement{About: node("held"), Topic: record.TopicStay, Said: long, From: at}, nil)
	for i := range 3_000 {
		at = at.Add(time.Millisecond)
		r.Note(record.Statement{About: node(fmt.Sprintf("n%d", i)), Said: long, From: at})
	}
	list, _ := r.Statements(time.Time{})
	sum := 0
	for _, s := range list {
		sum += len(s.Said)
	}
	if sum > 16<<20 || sum < 8<<20 {
		t.Errorf("%d bytes of texts are kept, want 8 to 16 MiB", sum)
	}
	if len(r.About(node("held"))) != 1 || len(r.About(node("n2999"))) != 1 || len(r.About(node("n0"))) != 0 {
		t.Error("want what holds and the newest kept, and the oldest gone")
	}
	for i := range 3_000 {
		r.Hold(record.Statement{About: node(fmt.Sprintf("n%d", i)), Topic: record.TopicStay, Said: long, From: at.Add(time.Duration(i))}, nil)
	}
	r.Finish(at)
	if len(r.About(node("held"))) != 0 || len(r.About(node("n2999"))) == 0 {
		t.Error("where too much holds, want what has held for longest gone and the newest kept")
	}
	if list, _ := r.Statements(time.Time{}); len(list) > 1677 {
		t.Errorf("%d statements of 10 kB are kept, want no more than 16 MiB", len(list))
	}
}

// Statements that are repeated without their reason take what they took before.
func TestRepetitionLeavesTheBoundAsItIs(t *testing.T) {
	r, at := &record.Record{}, time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	long := strings.Repeat("x", 10_000)
	stays := record.Statement{About: node("held"), Topic: record.TopicStay, Said: "stays", Why: long, From: at}
	r.Hold(stays, nil)
	for stays.Why = ""; at.Before(stays.From.Add(3 * time.Second)); at = at.Add(time.Millisecond) {
		r.Hold(stays, nil)
		r.Note(record.Statement{About: node("n"), Said: long, From: at})
	}
	sum := 0
	for _, s := range r.About(node("n")) {
		sum += len(s.Said)
	}
	if sum > 16<<20 || sum < 8<<20 {
		t.Errorf("%d bytes of texts are kept, want 8 to 16 MiB", sum)
	}
	if list := r.About(node("held")); len(list) != 1 || list[0].Why != long {
		t.Error("want the statement kept with its reason")
	}
}

// A pod that comes under the name of one that has gone is reported by itself.
func TestAPodHasNoRecordsOfEarlierPodsOfItsName(t *testing.T) {
	r, at := &record.Record{}, time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	web := record.Object{Kind: record.Pod, Name: "shop/web-0"}
	for i, uid := range []string{"first", "second"} {
		r.Begin()
		r.Hold(record.Statement{About: web, UID: uid, Topic: record.TopicPlace, Said: "has no place", From: at.Add(time.Duration(i) * time.Hour)}, nil)
		r.Finish(at.Add(time.Duration(i) * time.Hour))
	}
	if list := r.About(web); len(list) != 1 || list[0].UID != "second" || !list[0].From.Equal(at.Add(time.Hour)) {
		t.Errorf("told %+v, want what was decided about the second pod, since it came", list)
	}
}
