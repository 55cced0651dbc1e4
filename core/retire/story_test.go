package retire_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/retire"
	"github.com/daemok/daemok/core/scenario"
)

var update = flag.Bool("update", false, "rewrite the answers of stories")

// Every file in testdata is one story, as in core/decide: a sentence saying what
// must happen, the cluster, what the controller is set to if that matters, and
// which nodes go and stay.
func TestStories(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no stories found")
	}
	shop, err := os.ReadFile("../decide/testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { tell(t, path, string(shop)) })
	}
}

func tell(t *testing.T, path, shop string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(shop + string(archive.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	var options retire.Options
	var placing place.Options
	if len(archive.Files) == 3 {
		for _, word := range strings.Fields(string(archive.Files[1].Data)) {
			switch word {
			case "payback-off":
				options.Payback.Off = true
			case "weigh":
				options.Weigh = decide.Policy{}.Worthwhile
			case "minvalues-besteffort":
				placing.MinValues = place.BestEffort
			case "spot-to-spot":
				options.SpotToSpot = true
			default:
				t.Fatalf("no option %q", word)
			}
		}
	}
	search := retire.New(s, func(string) bool { return false }, func() *place.Ground { return place.Survey(s, place.Taken{}, placing) }, options)
	search.Finish()
	got := (plan.Plan{Moves: search.Moves, Kept: search.Kept}).String()
	if at, ok := retire.NextDue(s); ok {
		got += "next due " + at.Format(time.RFC3339) + "\n"
	}
	want := &archive.Files[len(archive.Files)-1]
	if *update {
		want.Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != string(want.Data) {
		t.Errorf("the answer differs (run with -update, then read the diff)\n got:\n%s\nwant:\n%s", got, want.Data)
	}
}
