package tidy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a small module into a folder of the test and returns the
// folder. Keys are file names.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/planted\n\ngo 1.26.0\n"
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckPurity(t *testing.T) {
	tests := map[string]struct {
		body string
		want string // fragment of the one violation; empty for none
	}{
		"allows lengths and moments given":      {`import "time"; func F(at time.Time) time.Time { return at.Add(time.Second) }`, ""},
		"allows the After of a moment":          {`import "time"; func F(a, b time.Time) bool { return a.After(b) }`, ""},
		"notices the clock":                     {`import "time"; func F() time.Time { return time.Now() }`, "a.go:3 uses time.Now"},
		"notices the clock as a value":          {`import "time"; var now = time.Now`, "uses time.Now"},
		"notices the clock under another name":  {`import clock "time"; func F(t clock.Time) clock.Duration { return clock.Since(t) }`, "uses time.Since"},
		"notices a sleep":                       {`import "time"; func F() { time.Sleep(1) }`, "uses time.Sleep"},
		"notices what differs by processor":     {`import "math"; func F(x float64) float64 { return math.Pow(x, 2) }`, "uses math.Pow"},
		"allows what every processor rounds":    {`import "math"; func F(x float64) float64 { return math.Sqrt(math.Round(x)) }`, ""},
		"notices a goroutine":                   {`func F() { go F() }`, "starts a goroutine"},
		"allows a table":                        {`var names = []string{"a"}; func F() string { return names[0] }`, ""},
		"allows a local of the same name":       {`var n int; func F() int { n := 1; n++; return n }`, ""},
		"notices a written global":              {`var n int; func F() { n = 1 }`, "writes package-level variable n"},
		"notices a counted global":              {`var n int; func F() { n++ }`, "writes package-level variable n"},
		"notices a written entry of a table":    {`var m = map[int]int{}; func F() { m[1] = 2 }`, "writes package-level variable m"},
		"notices a deleted entry of a table":    {`var m = map[int]int{}; func F() { delete(m, 1) }`, "writes package-level variable m"},
		"notices a written field of a global":   {`var s struct{ n int }; func F() { s.n = 1 }`, "writes package-level variable s"},
		"notices the address of a global":       {`var n int; func F() *int { return &n }`, "writes package-level variable n"},
		"notices func init":                     {`func init() {}`, "has func init"},
		"allows a method that is named init":    {`type T int; func (T) init() {}; var _ = T.init`, ""},
		"reports code that does not even build": {`func F() int { return "no" }`, "ERROR"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := module(t, map[string]string{"a/a.go": "package a\n\n" + tt.body + "\n"})
			found, err := CheckPurity(dir, []string{"a/parallel"}, "./...")
			switch {
			case tt.want == "ERROR":
				if err == nil {
					t.Errorf("CheckPurity(%q) = %v without an error", tt.body, found)
				}
			case err != nil:
				t.Fatal(err)
			case tt.want == "":
				none(t, found, nil)
			case len(found) != 1 || !strings.Contains(found[0].String(), tt.want):
				t.Errorf("CheckPurity(%q) = %v; want one with %q", tt.body, found, tt.want)
			}
		})
	}
}

func TestCheckPurityAllowsGoroutinesWhereTheyLive(t *testing.T) {
	dir := module(t, map[string]string{"core/parallel/p.go": "package parallel\n\nfunc F() { go F() }\n"})
	found, err := CheckPurity(dir, []string{"core/parallel"}, "./...")
	none(t, found, err)
}

func TestCheckFusedNoticesAFusedMultiplication(t *testing.T) {
	dir := module(t, map[string]string{
		"a/a.go": "package a\n\nfunc Fused(x, y, z float64) float64 { return x*y + z }\n\nfunc Exact(x, y, z float64) float64 { return float64(x*y) + z }\n",
	})
	found, err := CheckFused(t.Context(), dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.HasSuffix(found[0].Where, "a.Fused") {
		t.Errorf("CheckFused = %v; want function Fused alone", found)
	}
}
