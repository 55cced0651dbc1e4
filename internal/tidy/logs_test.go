package tidy

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestProgramsCanReadTheLog(t *testing.T) {
	found, err := CheckLogs(os.DirFS(root), "cloud", "cmd", "controller", "doctor", "kube", "observe")
	none(t, found, err)
}

func TestCheckLogs(t *testing.T) {
	tests := map[string]struct {
		line string
		want string // fragment of the one violation; empty: none
	}{
		"a number with its unit":             {`log.Info("done", "tookSeconds", took.Seconds())`, ""},
		"a text that is one":                 {`t.Log.Warn("gone", "error", err.Error(), "claim", c.Name)`, ""},
		"a length of time as text":           {`log.Info("done", "took", took.String())`, `a.go:4 logs field "took" as text`},
		"a name of two words":                {`r.log.Error("left", "error", err.Error(), "given up", n)`, `a.go:4 logs field "given up"`},
		"pairs that are handed on":           {`log.Info("done", pairs...)`, ""},
		"a method of that name of no logger": {`w.Info("done", "a b", 1)`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"x/a.go": {Data: []byte("package x\n\nfunc f() {\n\t" + tt.line + "\n}\n")}, "x/a_test.go": {Data: []byte("no Go")}}
			found, err := CheckLogs(files, "x")
			oneWith(t, found, err, tt.want)
		})
	}
}
