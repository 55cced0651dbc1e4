package decide_test

import (
	"flag"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
)

var stories = flag.String("stories", "testdata", "folder of the stories")

// Every file in testdata is one story: a sentence saying what must happen, the
// cluster before, and the plan. A file "shop" is a catalogue to put before
// the cluster: shop.txt, shared by all stories. A file "policy" holds what the
// controller is set to, or "search" where nodes with pods may go too. A new rule needs a new file, not a new helper.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "testdata/shop.txt")
	story.Each(t, *stories, func(t *testing.T, files []txtar.File) { report(t, files, shop) })
}

func report(t *testing.T, files []txtar.File, shop string) {
	before, policy, want := files[0], decide.Policy{}, &files[len(files)-1]
	effort := decide.Effort{Place: 1_000_000, Pack: 100_000}
	if len(files) == 3 {
		switch line := string(files[1].Data); line {
		case "minvalues BestEffort\n":
			policy.MinValues = provisioning.BestEffort
		case "preferences Ignore\n":
			policy.Preferences = decide.Ignore
		case "preferences Respect\n":
			policy.Preferences = decide.Respect
		case "search\n":
			effort.Disruption = decide.DisruptionQuestions
		default:
			t.Fatalf("no policy %q", line)
		}
	}
	story.Expect(t, want, decided(t, shop+string(before.Data), policy, effort))
}

// decided decides and prints, and checks on the way that the snapshot survives
// being written down.
func decided(t *testing.T, text string, policy decide.Policy, effort decide.Effort) string {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenario.Parse(scenario.Print(s))
	if err != nil {
		t.Fatal(err)
	}
	got := decide.Decide(s, policy, effort).String()
	if replayed := decide.Decide(again, policy, effort).String(); replayed != got {
		t.Errorf("the plan changes when the snapshot is written down and read:\n%s", replayed)
	}
	if at, ok := decide.NextDue(s); ok {
		got += "next due " + at.Format(time.RFC3339) + "\n"
	}
	return got
}
