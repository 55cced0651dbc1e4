package convert

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/daemok/daemok/internal/story"
)

// Every file in testdata is one story: a sentence saying what must happen, manifests,
// perhaps options, and what comes of them: new manifests and the report, or an error.
func TestStories(t *testing.T) {
	c := converterFor(t)
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		last := len(files) - 1
		story.Expect(t, &files[last], report(t, c, files[:last]))
	})
}

func converterFor(t testing.TB) *Converter {
	t.Helper()
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func report(t *testing.T, c *Converter, files []txtar.File) string {
	t.Helper()
	var o Options
	var sources []Source
	for _, f := range files {
		if f.Name != "options" {
			sources = append(sources, Source{Name: f.Name, Data: f.Data})
		} else if err := sigsyaml.UnmarshalStrict(f.Data, &o); err != nil {
			t.Fatal(err)
		}
	}
	documents, err := Read(sources)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	r := c.Convert(documents, o)
	text, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(text)
	for _, e := range r.Report {
		fmt.Fprintf(&b, "# %s -> %s\n", e.Object, strings.Join(e.Made, ", "))
		for _, f := range e.Findings {
			fmt.Fprintf(&b, "#   %s\n", f)
		}
	}
	return b.String()
}
