package settle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"flag"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/core/settle"
)

var update = flag.Bool("update", false, "rewrite what stories expect")

// Every file in testdata is one story: a sentence saying what must happen, the
// cluster before, and where pods go if machines open at once, and one by one.
func TestStories(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no stories found")
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { tell(t, path) })
	}
}

func tell(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(string(archive.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	want, got := &archive.Files[1], outcomes(s)
	if *update {
		want.Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(want.Data); got != want {
		t.Errorf("outcome differs (run with -update, then read the diff)\n got:\n%s\nwant:\n%s", got, want)
	}
}

// outcomes plays the tight plan for the snapshot.
func outcomes(s *cluster.Snapshot) string {
	p := decide.Decide(s, decide.Policy{}, decide.Effort{Pack: 100_000})
	pods := make([]cluster.Pod, len(p.Placements))
	for i := range p.Placements {
		pods[i] = p.Placements[i].Pod
	}
	w := settle.New(s, pods)
	var out strings.Builder
	for i := range p.Launches {
		l := &p.Launches[i]
		fmt.Fprintf(&out, "planned %s %s in %s: %s\n", l.Name, l.Choice.Kind, l.Choice.Zone, names(l.Pods))
	}
	for _, how := range []settle.Opening{{Together: true, Seed: 1}, {Seed: 1}} {
		o := w.Play(p.Launches, p.Joining, how)
		if again := w.Play(p.Launches, p.Joining, how); fmt.Sprint(again.On, again.Left) != fmt.Sprint(o.On, o.Left) {
			return "two plays of one world differ"
		}
		fmt.Fprintf(&out, "together %v: %d of %d as planned\n", how.Together, o.AsPlanned(p.Placements), len(pods))
		var on []string
		for name := range o.On {
			on = append(on, name)
		}
		slices.Sort(on)
		for _, name := range on {
			fmt.Fprintf(&out, "  %s: %s\n", name, names(o.On[name]))
		}
		if len(o.Left) > 0 {
			fmt.Fprintf(&out, "  left: %s\n", names(o.Left))
		}
	}
	return out.String()
}

func names(pods []cluster.Pod) string {
	var out []string
	for i := range pods {
		out = append(out, pods[i].Name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
