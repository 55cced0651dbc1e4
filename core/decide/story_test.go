package decide_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/scenario"
)

var (
	update  = flag.Bool("update", false, "rewrite the plans of stories")
	stories = flag.String("stories", "testdata", "folder of the stories")
)

// Every file in testdata is one story: a sentence saying what must happen, the
// cluster before, and the plan. A file "shop" is a catalogue to put before
// the cluster: shop.txt, shared by all stories. A file "policy" holds what the
// controller is set to. A new rule needs a new file, not a new helper.
func TestStories(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(*stories, "*.txtar"))
	if len(files) == 0 {
		t.Fatal("no stories found")
	}
	shop, err := os.ReadFile("testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { tell(t, path, string(shop)) })
	}
}

func tell(t *testing.T, path, shop string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, policy, want := archive.Files[0], decide.Policy{}, &archive.Files[len(archive.Files)-1]
	if len(archive.Files) == 3 {
		switch line := string(archive.Files[1].Data); line {
		case "minvalues BestEffort\n":
			policy.MinValues = place.BestEffort
		case "preferences Ignore\n":
			policy.Preferences = decide.Ignore
		case "preferences Respect\n":
			policy.Preferences = decide.Respect
		default:
			t.Fatalf("no policy %q", line)
		}
	}
	got := story(t, shop+string(before.Data), policy)
	if *update {
		want.Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(want.Data); got != want {
		t.Errorf("plan differs (run with -update, then read the diff)\n got:\n%s\nwant:\n%s", got, want)
	}
}

// story decides and prints, and checks on the way that the snapshot survives
// being written down.
func story(t *testing.T, text string, policy decide.Policy) string {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenario.Parse(scenario.Print(s))
	if err != nil {
		t.Fatal(err)
	}
	got := decide.Decide(s, policy, decide.Effort{Place: 1_000_000, Pack: 100_000}).String()
	if replayed := decide.Decide(again, policy, decide.Effort{Place: 1_000_000, Pack: 100_000}).String(); replayed != got {
		t.Errorf("the plan changes when the snapshot is written down and read:\n%s", replayed)
	}
	if at, ok := decide.NextDue(s); ok {
		got += "next due " + at.Format(time.RFC3339) + "\n"
	}
	return got
}
