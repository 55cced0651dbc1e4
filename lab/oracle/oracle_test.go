package oracle

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	seeds   = flag.Uint64("seeds", 200, "how many worlds to judge; a fifth of them is followed until all machines have come")
	from    = flag.Uint64("from", 0, "seed of the first world")
	stories = flag.String("stories", "", "folder for stories of disagreements")
	each    = flag.Int("each", 1, "how many stories are told of each rule")
	repeat  = flag.String("story", "", "story file whose world is judged instead")
)

// wrong is the worlds whose plans are wrong, by whichever test.
var wrong worlds

// worlds is a set of seeds.
type worlds struct {
	sync.Mutex
	seeds map[uint64]bool
}

func (w *worlds) add(seed uint64) {
	w.Lock()
	defer w.Unlock()
	if w.seeds == nil {
		w.seeds = map[uint64]bool{}
	}
	w.seeds[seed] = true
}

// String says how many there are, and which is the first.
func (w *worlds) String() string {
	if len(w.seeds) == 0 {
		return fmt.Sprintf("ok seeds=%d from=%d failed=0", *seeds, *from)
	}
	return fmt.Sprintf("FAILED seeds=%d from=%d failed=%d first=%d", *seeds, *from, len(w.seeds), slices.Min(slices.Collect(maps.Keys(w.seeds))))
}

func TestMain(m *testing.M) {
	code := m.Run()
	if *repeat == "" {
		fmt.Println("oracle:", &wrong)
	}
	os.Exit(code)
}

// disagreements collects what was found: seeds by rule.
type disagreements struct {
	sync.Mutex
	seeds map[string][]uint64
}

func (d *disagreements) add(seed uint64, found Disagreement) {
	d.Lock()
	defer d.Unlock()
	rule := string(found.Kind) + " " + found.Plugin
	d.seeds[rule] = append(d.seeds[rule], seed)
	slices.Sort(d.seeds[rule])
}

// TestTheSchedulerAgrees judges the plans of many worlds. The first world of
// each rule that is seen differently becomes a story.
func TestTheSchedulerAgrees(t *testing.T) {
	if *repeat != "" {
		t.Skip("a story is repeated instead")
	}
	all := &disagreements{seeds: map[string][]uint64{}}
	next := make(chan uint64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range next {
				found, err := Check(context.Background(), Generate(seed))
				if err != nil {
					wrong.add(seed)
					t.Errorf("seed %d: %v", seed, err)
				}
				if len(found) > 0 {
					wrong.add(seed)
					all.add(seed, found[0])
				}
			}
		})
	}
	for seed := range *seeds {
		next <- *from + seed
	}
	close(next)
	workers.Wait()
	all.report(t)
}

// report fails the test with the rules that disagree, the most frequent first.
func (d *disagreements) report(t *testing.T) {
	rules := make([]string, 0, len(d.seeds))
	for rule := range d.seeds {
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, func(a, b string) int { return cmp.Or(cmp.Compare(len(d.seeds[b]), len(d.seeds[a])), cmp.Compare(a, b)) })
	for _, rule := range rules {
		list := d.seeds[rule]
		t.Errorf("%d of %d worlds: %s (seeds %s)", len(list), *seeds, rule, strings.Trim(fmt.Sprint(list[:min(len(list), 12)]), "[]"))
		for _, seed := range list[:min(len(list), *each)] {
			reportOne(t, rule, seed)
		}
	}
}

// reportOne makes a story of what was found in a world.
func reportOne(t *testing.T, rule string, seed uint64) {
	w := Generate(seed)
	found, err := Check(context.Background(), w)
	if err != nil || len(found) == 0 {
		t.Fatalf("seed %d: a second look finds %v, %v", seed, found, err)
	}
	w, small := Shrink(context.Background(), w, found[0])
	story, err := Story(context.Background(), w, small)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%s", small, keep(t, rule, seed, story))
}

// keep writes the story down and says how to repeat it.
func keep(t *testing.T, rule string, seed uint64, story []byte) string {
	folder := cmp.Or(*stories, os.TempDir())
	path := filepath.Join(folder, fmt.Sprintf("oracle-%s-%d.txtar", strings.ReplaceAll(rule, " ", "-"), seed))
	if err := os.WriteFile(path, story, 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("repeat with: make oracle SEED=%d, or the small one: make oracle STORY=%s", seed, path)
}

// TestStory judges the world of one story file.
func TestStory(t *testing.T) {
	if *repeat == "" {
		t.Skip("no story is named")
	}
	text, err := os.ReadFile(*repeat)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Check(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found {
		t.Error(d)
	}
}
