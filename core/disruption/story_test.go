package disruption_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/removal"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/story"
)

// Every file in testdata is one story, as in core/decide: a sentence saying what
// must happen, the cluster, what the controller is set to if that matters, and
// which nodes go and stay.
func TestStories(t *testing.T) {
	shop := story.Shop(t, "../decide/testdata/shop.txt")
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) { report(t, files, shop) })
}

func report(t *testing.T, files []txtar.File, shop string) {
	s, options, placing := read(t, files, shop)
	search := look(s, options, placing)
	got := (plan.Plan{Moves: search.Moves, Kept: search.Kept}).String()
	if at, ok := disruption.NextDue(s); ok {
		got += "next due " + at.Format(time.RFC3339) + "\n"
	}
	story.Expect(t, &files[len(files)-1], got+repaired(s))
}

// repaired reports which nodes are repaired, which are not now, and when to check again.
func repaired(s *cluster.Snapshot) (text string) {
	list, next := disruption.Repairs(s)
	for i := range list {
		does := "repair"
		if list[i].Held != "" {
			does = "leave"
		}
		text += fmt.Sprintf("%s node %s: %s\n", does, list[i].Node, &list[i])
	}
	if !next.IsZero() {
		text += "next repair " + next.Format(time.RFC3339) + "\n"
	}
	return text
}

// read takes a story's cluster and what the controller is set to.
func read(t *testing.T, files []txtar.File, shop string) (*cluster.Snapshot, disruption.Options, place.Options) {
	t.Helper()
	s, err := scenario.Parse(shop + string(files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	var options disruption.Options
	var placing place.Options
	if len(files) == 3 {
		for _, word := range strings.Fields(string(files[1].Data)) {
			switch word {
			case "payback-off":
				options.EverySaving = true
			case "weigh":
				options.Weigh = decide.Policy{}.Worthwhile
			case "minvalues-besteffort":
				placing.MinValues = provisioning.BestEffort
			case "spot-to-spot":
				options.SpotToSpot = true
			default:
				t.Fatalf("no option %q", word)
			}
		}
	}
	return s, options, placing
}

func look(s *cluster.Snapshot, options disruption.Options, placing place.Options) *disruption.Search {
	search := disruption.New(s, nil, removal.New(s, removal.Taken{}, placing), options)
	search.Finish()
	return search
}

// going names the nodes that go, in order.
func going(search *disruption.Search) (names []string) {
	for i := range search.Moves {
		for _, r := range search.Moves[i].Removals {
			names = append(names, r.Node)
		}
	}
	slices.Sort(names)
	return names
}

// reportEach reports the stories that are of one kind, by their first lines.
func reportEach(t *testing.T, kind *regexp.Regexp, fewest int, happen func(t *testing.T, files []txtar.File)) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if kind.Match(archive.Comment) {
			reported++
			t.Run(filepath.Base(name), func(t *testing.T) { happen(t, archive.Files) })
		}
	}
	if reported < fewest {
		t.Errorf("%d stories are of that kind, and there should be %d", reported, fewest)
	}
}

// Whether moving has to pay back or not, what Karpenter's users rely on about
// consolidation (SC-301 and on, to number 339) holds: the same nodes go.
func TestConsolidationHoldsWithoutPayback(t *testing.T) {
	shop := story.Shop(t, "../decide/testdata/shop.txt")
	reportEach(t, regexp.MustCompile(`SC-3(0[1-9]|[12]\d|3\d)\b`), 14, func(t *testing.T, files []txtar.File) {
		s, options, placing := read(t, files, shop)
		with := going(look(s, options, placing))
		options.EverySaving = true
		if without := going(look(s, options, placing)); !slices.Equal(with, without) {
			t.Errorf("with payback %v go, and without it %v", with, without)
		}
	})
}

// SC-334: what Balanced takes does not depend on what a dollar is worth, nor on how
// large prices are.
func TestBalancedDoesNotDependOnPrices(t *testing.T) {
	shop := story.Shop(t, "../decide/testdata/shop.txt")
	amount := regexp.MustCompile(`(price=|on-demand |spot )(\d+(?:\.\d+)?)\b`)
	moreExpensive := func(text string) string {
		return amount.ReplaceAllStringFunc(text, func(found string) string {
			parts := amount.FindStringSubmatch(found)
			price, err := strconv.ParseFloat(parts[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			return parts[1] + strconv.FormatFloat(price*10, 'f', 4, 64)
		})
	}
	reportEach(t, regexp.MustCompile(`\bBalanced\b`), 3, func(t *testing.T, files []txtar.File) {
		s, options, placing := read(t, files, shop)
		options.EverySaving = true
		want := going(look(s, options, placing))
		files[0].Data = []byte(moreExpensive(string(files[0].Data)))
		s, _, _ = read(t, files, moreExpensive(shop))
		if got := going(look(s, options, placing)); !slices.Equal(got, want) {
			t.Errorf("%v go where everything is ten times as expensive, and %v else", got, want)
		}
	})
}
