package tidy

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestEveryScenarioIsShownOrSaysWhyNot(t *testing.T) {
	found, err := CheckScenarios(os.DirFS(root), "docs/development/scenarios.md")
	none(t, found, err)
	found, err = CheckScenarioNumbers(os.DirFS(root), "docs/development/scenarios.md", "core/decide/testdata")
	none(t, found, err)
}

func TestCheckScenariosNotices(t *testing.T) {
	story, test, own := "core/decide/testdata/a.txtar", "kube/a_test.go", "internal/tidy/a_test.go"
	tests := map[string]struct {
		page  string
		files map[string]string
		want  string // fragment of the one violation; empty for none
	}{
		"a story that shows it passes":     {"| SC-7 | it rains | |", map[string]string{story: "SC-7: rain\nmore"}, ""},
		"a test that names it passes":      {"| SC-7 | it rains | |", map[string]string{test: `"SC-7 rain"`}, ""},
		"a reason passes":                  {"| SC-7 | it rains | no sky yet |", nil, ""},
		"a number that nobody shows":       {"| SC-7 | it rains | |", nil, "page.md:1 SC-7 is shown by no test"},
		"a longer number is another":       {"| SC-7 | it rains | |", map[string]string{story: "SC-77: hail"}, "SC-7 is shown by no test"},
		"a number further down in a story": {"| SC-7 | it rains | |", map[string]string{story: "rain\nSC-7"}, "SC-7 is shown by no test"},
		"a number in the tests of rules":   {"| SC-7 | it rains | |", map[string]string{own: "SC-7"}, "SC-7 is shown by no test"},
		"a number in a program":            {"| SC-7 | it rains | |", map[string]string{"kube/a.go": "SC-7"}, "SC-7 is shown by no test"},
		"a reason that is out of date":     {"| SC-7 | it rains | no sky yet |", map[string]string{test: "SC-7"}, "though kube/a_test.go shows it"},
		"a number listed twice":            {"| SC-7 | a | b |\n| SC-7 | a | b |", nil, "page.md:2 SC-7 is there twice"},
		"a list of nothing":                {"words", nil, "lists no scenario"},
		"a story of an unknown number":     {"| SC-7 | a | b |\n| SC-9 | a | b |", map[string]string{story: "SC-8: snow"}, "names SC-8: page.md does not list it"},
		"a story beyond the list":          {"| SC-7 | a | b |", map[string]string{story: "SC-8: snow"}, ""},
		"a test of an unknown number":      {"| SC-7 | a | b |", map[string]string{test: "SC-8: snow"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"page.md": {Data: []byte(tt.page)}}
			for file, content := range tt.files {
				tree[file] = &fstest.MapFile{Data: []byte(content)}
			}
			found, err := CheckScenarios(tree, "page.md")
			if err != nil {
				t.Fatal(err)
			}
			more, err := CheckScenarioNumbers(tree, "page.md", "core/decide/testdata")
			found = append(found, more...)
			if tt.want == "" {
				none(t, found, err)
			} else if len(found) != 1 || !strings.Contains(found[0].String(), tt.want) {
				t.Errorf("found %v, want one with %q", found, tt.want)
			}
		})
	}
}
