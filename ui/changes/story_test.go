package changes_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/ui/changes"
	"github.com/daemok/daemok/ui/text"
)

// screen is how many lines a terminal shows at once.
const screen = 40

// Every file in testdata is one story: a sentence that says what must be seen, a snapshot, launches that fail where
// there are some, and what is printed where no terminal says how wide it is; with "wide", details too. A screen holds
// the usual text.
func TestStories(t *testing.T) {
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		var in changes.Input
		for _, f := range files[:len(files)-1] {
			switch f.Name {
			case "snapshot":
				s, err := scenario.Parse(string(f.Data))
				if err != nil {
					t.Fatal(err)
				}
				in.Snapshot, in.Plan = s, decide.Decide(s, decide.Policy{}, decide.Usual(s))
			case "failing":
				in.Failing = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			default:
				t.Fatalf("a story has no file %s", f.Name)
			}
		}
		last := &files[len(files)-1]
		got := printed(t, in, last.Name == "wide")
		for line := range strings.Lines(got) {
			if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > text.Columns {
				t.Errorf("%d columns, want %d at most: %s", n, text.Columns, line)
			}
		}
		if n := strings.Count(got, "\n"); n > screen && last.Name != "wide" {
			t.Errorf("%d lines, want a screen of %d at most", n, screen)
		}
		story.Expect(t, last, got)
	})
}

func printed(t *testing.T, in changes.Input, wide bool) string {
	t.Helper()
	var out bytes.Buffer
	page := changes.Page(in)
	if err := page.Print(text.New(&out), wide); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
