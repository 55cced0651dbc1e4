package plancmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/cmd/daemok/files"
	"github.com/daemok/daemok/internal/version"
)

// A file that was saved by this version or an older one is planned for; of others the error says what is wrong with
// the file, and what to do.
func TestPlanOfSavedFiles(t *testing.T) {
	saved, err := os.ReadFile(situationFile)
	if err != nil {
		t.Fatal(err)
	}
	text, own := string(saved), version.Get().Build()
	const unknown = "snapshot 7\nshape web namespace=default cpu=1\nwaiting default/web-1 shape=web colour=red\n"
	tests := map[string]struct {
		text string
		want string // of the plan or of the error
	}{
		"as it was saved":                     {files.Stamp(text, own), "Plan: +1 launched"},
		"by an older version, in older words": {files.Stamp(text+"guard default/web allows=1\n", "v0.1.0"), "Plan: +1 launched"},
		"without a stamp, as people write it": {text, "Plan: +1 launched"},
		"with a pod more at its end":          {files.Stamp(text, own) + "waiting default/web-3 shape=web\n", "All 3 pending pods"},
		"with line ends of Windows":           {"\ufeff" + strings.ReplaceAll(files.Stamp(text, own), "\n", "\r\n"), "Plan: +1 launched"},
		"by a newer version that says more": {files.Stamp(unknown, "v9.0.0"),
			`line 4: waiting: no field "colour": it is written by daemok v9.0.0, and this is ` + own + `: read it with that version, or write it again with this one`},
		"by this version, edited wrongly":  {files.Stamp(unknown, own), `line 4: waiting: no field "colour"`},
		"cut off between lines":            {files.Stamp(text, own)[:len(text)-20], "it is cut off after line 12: its last line is to be \"# end of the snapshot\"; write it again with `daemok snapshot`"},
		"a manifest":                       {"apiVersion: v1\nkind: Pod\n", "this is no snapshot, `daemok snapshot` writes one"},
		"an archive":                       {"\x1f\x8b\x08\x00", "it is no text in UTF-8"},
		"a list of objects by kubectl":     {"{\n  \"apiVersion\": \"v1\"\n}\n", "this is no snapshot"},
		"with a stamp alone, and no words": {files.Stamp("", own), "Plan: nothing to do."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "saved.txt")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := run(t, "plan", "--snapshot", file)
			if err != nil {
				got = err.Error()
				if !strings.Contains(got, file) {
					t.Errorf("the error does not name the file: %s", got)
				}
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s; want %q", got, tt.want)
			}
		})
	}
}
