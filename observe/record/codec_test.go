package record

import (
	"fmt"
	"testing"
	"time"
	"unsafe"
)

// What was decided of thousands of pods at once is kept once when a record is read.
func TestStatementsThatAreReadShareTheirTexts(t *testing.T) {
	var list []Statement
	for i := range 3 {
		list = append(list, Statement{About: Object{Pod, fmt.Sprintf("default/web-%d", i)}, Claim: "web-1", Topic: TopicPlace, Said: "placed on NodeClaim web-1", Why: "it is the cheapest", More: []string{"27 pods"},
			From: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)})
	}
	written := part{Version: 1, statements: list}
	data, err := written.encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(data)
	if err != nil || len(read.statements) != len(list) {
		t.Fatalf("read %d statements of %d, %v", len(read.statements), len(list), err)
	}
	first := read.statements[0]
	for i, s := range read.statements {
		if s.About != list[i].About || s.Said != list[i].Said || s.More[0] != list[i].More[0] {
			t.Errorf("read %+v, want %+v", s, list[i])
		}
		for _, texts := range [][2]string{{s.Claim, first.Claim}, {s.Said, first.Said}, {s.Why, first.Why}, {s.More[0], first.More[0]}} {
			if unsafe.StringData(texts[0]) != unsafe.StringData(texts[1]) {
				t.Errorf("%q is in memory twice", texts[0])
			}
		}
	}
}
