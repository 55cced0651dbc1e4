package retire_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/retire"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
)

// Every file in testdata is one story, as in core/decide: a sentence saying what
// must happen, the cluster, what the controller is set to if that matters, and
// which nodes go and stay.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) { tell(t, files, shop) })
}

func tell(t *testing.T, files []txtar.File, shop string) {
	s, err := scenario.Parse(shop + string(files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	var options retire.Options
	var placing place.Options
	if len(files) == 3 {
		for _, word := range strings.Fields(string(files[1].Data)) {
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
	story.Expect(t, &files[len(files)-1], got)
}
