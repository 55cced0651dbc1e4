package tidy

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheReferenceNamesEveryReason(t *testing.T) {
	found, err := CheckReasons(os.DirFS(root), "docs/reference/events.md", "docs/reference/conditions.md")
	none(t, found, err)
}

func TestTroubleshootingQuotesTheCode(t *testing.T) {
	found, err := CheckQuotes(os.DirFS(root), "docs/troubleshooting.md")
	none(t, found, err)
}

func TestDocumentsNameWhatExists(t *testing.T) {
	found, err := CheckNames(os.DirFS(root), "docs/reference/metrics.md", "docs/reference/names.md")
	none(t, found, err)
}

// TestReferenceRules plants one violation at a time into a tree of files.
func TestReferenceRules(t *testing.T) {
	reasons := func(tree fs.FS) ([]Violation, error) { return CheckReasons(tree, "events.md") }
	quotes := func(tree fs.FS) ([]Violation, error) { return CheckQuotes(tree, "trouble.md") }
	names := func(tree fs.FS) ([]Violation, error) { return CheckNames(tree, "metrics.md", "keys.md") }
	loop := func(body string) string { return "package a\n\n" + body + "\n" }
	tests := map[string]struct {
		check func(fs.FS) ([]Violation, error)
		files map[string]string
		want  string // fragment of the one violation; empty for none
	}{
		"a reason with a row passes":          {reasons, map[string]string{"controller/a.go": loop(`var e = Event{Reason: "Evicted"}`), "events.md": "| `Evicted` |"}, ""},
		"a reason without a row":              {reasons, map[string]string{"controller/a.go": loop(`var e = Event{Reason: "Evicted"}`), "events.md": ""}, "controller/a.go has the reason or condition Evicted"},
		"a reason that is handed on":          {reasons, map[string]string{"controller/a.go": loop(`func b() { tell("NotTagged") }`), "events.md": ""}, "condition NotTagged"},
		"a constant of the API":               {reasons, map[string]string{"kube/api/a.go": loop(`const ClaimDrifted = "Drifted"`), "events.md": ""}, "condition Drifted"},
		"a kind is no reason":                 {reasons, map[string]string{"controller/a.go": loop(`var k = "ReplicaSet"`), "events.md": ""}, ""},
		"a row of a reason that is gone":      {reasons, map[string]string{"controller/a.go": loop(``), "events.md": "| `NotTagged` |"}, "events.md names NotTagged"},
		"a text that is printed passes":       {quotes, map[string]string{"a.go": loop(`var t = "machine %s did not join the cluster within " + b + " and is replaced"`), "trouble.md": "| `machine … did not join the cluster within … and is replaced` | x |"}, ""},
		"a text that is not printed any more": {quotes, map[string]string{"a.go": loop(`var t = "instance %s did not join"`), "trouble.md": "| `machine … did not join the cluster` | x |"}, `quotes "did not join the cluster"`},
		"names that exist pass": {names, map[string]string{"lab/cmd/daemok-lab/a.go": loop(`var a = C{Use: "ice TYPE"}`), "cmd/daemok/a.go": loop(`var a, b = C{Use: "roll NAME"}, C{Use: "lab"}; var f = "all"`), "keys.md": "`daemok.sh/roll`", "metrics.md": "`daemok_pods_waiting`",
			"a.md": "`daemok_pods_waiting`, `daemok.sh/roll: x`, `daemok roll --all`, `make test`, `cmd/daemok/a.go`, `karpenter.sh/v1`\n```\ndaemok lab ice x\n```\n"}, ""},
		"a metric that is gone":            {names, map[string]string{"a.md": "`daemok_pods_gone`"}, "a.md names the metric daemok_pods_gone"},
		"a series of a histogram passes":   {names, map[string]string{"metrics.md": "`karpenter_pods_time_seconds`", "a.md": "`karpenter_pods_time_seconds_bucket`"}, ""},
		"an annotation that is gone":       {names, map[string]string{"a.md": "```\n  daemok.sh/rolls: x\n```"}, "the key daemok.sh/rolls"},
		"a flag that is gone":              {names, map[string]string{"a.md": "`--all-of-it`"}, "the flag --all-of-it"},
		"a flag of another program passes": {names, map[string]string{"a.md": "`helm upgrade --all-of-it`"}, ""},
		"a command that is gone":           {names, map[string]string{"a.md": "```\n$ daemok rolls x\n```"}, "the command daemok rolls"},
		"a verb of the lab that is gone":   {names, map[string]string{"cmd/daemok/a.go": loop(`var b = C{Use: "lab"}`), "a.md": "`daemok lab snow`"}, "the command daemok lab snow"},
		"a target of make that is gone":    {names, map[string]string{"a.md": "`make tests`"}, "make tests"},
		"a file that is gone":              {names, map[string]string{"a.md": "`core/gone.go`"}, "the file core/gone.go"},
		"a record may name what was":       {names, map[string]string{"docs/adr/0001-a.md": "`core/gone.go`"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"Makefile": {Data: []byte("test: format\n")}, "metrics.md": {}, "keys.md": {}}
			for file, content := range tt.files {
				tree[file] = &fstest.MapFile{Data: []byte(content)}
			}
			found, err := tt.check(tree)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				none(t, found, nil)
			} else if len(found) != 1 || !strings.Contains(found[0].String(), tt.want) {
				t.Errorf("found %v; want one with %q", found, tt.want)
			}
		})
	}
}
