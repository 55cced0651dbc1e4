package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/internal/story"
)

// reported is what a story of testdata begins with.
type reported struct {
	options Options
	files   map[string]*txtar.File
}

func read(t *testing.T, files []txtar.File) reported {
	t.Helper()
	s := reported{files: map[string]*txtar.File{}}
	for i := range files {
		s.files[files[i].Name] = &files[i]
	}
	for line := range strings.Lines(string(s.files["release"].Data)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key {
		case "name":
			s.options.Release = value
		case "namespace":
			s.options.Namespace = value
		case "serves":
			s.options.APIVersions = append(s.options.APIVersions, value)
		default:
			t.Fatalf("a release has name, namespace and serves, not %q", line)
		}
	}
	s.options.Values = valuesOf(t, string(s.files["values.yaml"].Data))
	return s
}

func valuesOf(t *testing.T, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func load(t *testing.T, name string) func(Options) (Rendered, error) {
	t.Helper()
	c, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(o Options) (Rendered, error) { return Render(c, o) }
}

// Every file of testdata is a set-up that users have: their values, and the objects that come of them.
// The API server would take each of these as it is.
func TestStories(t *testing.T) {
	render := load(t, Daemok)
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		s := read(t, files)
		got, err := render(s.options)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range got.Objects {
			for _, wrong := range refused(t, o) {
				t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), wrong)
			}
		}
		story.Expect(t, s.files["objects.yaml"], shown(got))
		story.Expect(t, s.files["notes.txt"], got.Notes)
	})
}

// shown are the objects as a story has them: of those that give the controller its rights the names, since
// these are compared with package deploy.
func shown(r Rendered) string {
	var out strings.Builder
	documents := strings.Split(strings.TrimPrefix(r.Text, "---\n"), "\n---\n")
	for i, o := range r.Objects {
		if o.GroupVersionKind().Group == rbacv1.GroupName && !strings.HasSuffix(o.GetName(), "-admin") {
			fmt.Fprintf(&out, "--- # %s %s\n", o.GetKind(), strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
			continue
		}
		fmt.Fprintf(&out, "---\n%s\n", strings.TrimSpace(documents[i]))
	}
	return out.String()
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
