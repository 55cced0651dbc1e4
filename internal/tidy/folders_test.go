package tidy

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheArchitectureListsFolders(t *testing.T) {
	found, err := CheckFolderList(os.DirFS(root), "docs/architecture.md")
	none(t, found, err)
}

func TestWithFolders(t *testing.T) {
	files := fstest.MapFS{
		"core/plan/plan.go":         {Data: []byte("// Package plan is the answer: what\n// to do. It has more.\npackage plan\n")},
		"core/plan/more.go":         {Data: []byte("package plan\n")},
		"core/plan/gen/main.go":     {Data: []byte("// Command gen writes tables.\npackage main\n")},
		"core/plan/testdata/a.go":   {Data: []byte("// Package a is data.\npackage a\n")},
		"cmd/daemok/main.go":        {Data: []byte("// Command daemok is the user's command.\npackage main\n")},
		"lab/go.mod":                {Data: []byte("module lab\n")},
		"lab/pki/pki.go":            {Data: []byte("// Package pki makes certificates.\npackage pki\n")},
		"lab/stories/story_test.go": {Data: []byte("package stories\n")},
		"lab/cmd/daemok-lab/a.go":   {Data: []byte("// Command daemok-lab runs a lab.\npackage main\n")},
		"later/later.go":            {Data: []byte("// Package later was added since.\npackage later\n")},
		"internal/tools/go.mod":     {Data: []byte("module tools\n")},
		"internal/tools/tools.go":   {Data: []byte("// Package tools holds tools.\npackage tools\n")},
		"docs/a.md":                 {Data: []byte("a")},
		"go.mod":                    {Data: []byte("module m\n")},
	}
	const want = `before
` + foldersBegin + "```" + `
core/                   makes decisions: values in, values out. It imports only the standard library and itself.
  plan/                 the answer: what to do.
ui/                     (later) pure views for a terminal and a web dashboard.
cmd/                    the programs: flags and wiring, nothing else.
  daemok/               the user's command.
lab/                    OWN GO MODULE: an embedded cluster: etcd, API server, scheduler, controller manager, emulated nodes.
                        cmd/daemok-lab/ pki/ stories/
internal/               small helpers that know nothing about the product, and tools for its development.
  tools/                OWN GO MODULE: holds tools.
docs/                   this page, decisions (adr), concepts, tasks, reference, status.
later/                  was added since.
` + "```\n" + foldersEnd + "after\n"
	got, err := WithFolders(files, "before\n"+foldersBegin+"old\n"+foldersEnd+"after\n")
	if err != nil || got != want {
		t.Errorf("WithFolders = %v\n%s\nwant\n%s", err, got, want)
	}
	if _, err := WithFolders(files, "none\n"); err == nil {
		t.Error("a document without marks is accepted")
	}
	files["data/a.md"] = &fstest.MapFile{Data: []byte("a")}
	if _, err := WithFolders(files, want); err == nil || !strings.Contains(err.Error(), "say what data is for") {
		t.Errorf("a folder that nothing describes: %v", err)
	}
}

func TestCheckFolderList(t *testing.T) {
	files := fstest.MapFS{"core/a/a.go": {Data: []byte("// Package a does a thing.\npackage a\n")}}
	right, err := WithFolders(files, foldersBegin+foldersEnd)
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		right: "",
		strings.Replace(right, "a thing", "nothing", 1): `line 4 will be "  a/                    does a thing."`,
	} {
		files["a.md"] = &fstest.MapFile{Data: []byte(page)}
		found, err := CheckFolderList(files, "a.md")
		oneWith(t, found, err, want)
	}
}
