package recording

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// recorded is what an endpoint serves, a page a round of fifteen seconds; none where it is empty.
func recorded(t *testing.T, pages ...string) *Recording {
	t.Helper()
	page := ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) }))
	t.Cleanup(web.Close)
	r := &Recording{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Every: 15 * time.Second}
	for _, next := range pages {
		page = next
		if err := r.Round(t.Context(), []Target{{Instance: "a", URL: web.URL}}); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := r.Write(&file, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	out, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What was scraped is evaluated after it was written and read, and a series that a scrape lacks ends there.
func TestWhatWasRecordedIsEvaluated(t *testing.T) {
	r := recorded(t, "nodes{pool=\"web\"} 3\n", "nodes{pool=\"web\"} 4\nnodes{pool=\"a \\\"b\\\"\"} 1\n", "nodes{pool=\"web\"} 5\nratio NaN\n", "ratio NaN\nratio{of=\"b\"} 1e-09\n")
	tests := map[string]struct{ expr, want string }{
		"all series, and where they end": {`nodes`, `{__name__="nodes", instance="a", job="daemok", pool="a \"b\""} =>
1 @[1767225615000]
{__name__="nodes", instance="a", job="daemok", pool="web"} =>
3 @[1767225600000]
4 @[1767225615000]
5 @[1767225630000]`},
		"one of them":       {`max(nodes{pool!="web"})`, "{} =>\n1 @[1767225615000]"},
		"over a time":       {`sum(increase(nodes{pool="web"}[30s])) > 1`, "{} =>\n2 @[1767225615000]\n2 @[1767225630000]"},
		"what is no number": {`ratio`, "{__name__=\"ratio\", instance=\"a\", job=\"daemok\"} =>\nNaN @[1767225630000]\nNaN @[1767225645000]\n{__name__=\"ratio\", instance=\"a\", job=\"daemok\", of=\"b\"} =>\n0.000000001 @[1767225645000]"},
		"what is not there": {`pods`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			matrix, err := r.Range(t.Context(), tt.expr)
			if err != nil || matrix.String() != tt.want {
				t.Errorf("%s = %v\n%s\nwant\n%s", tt.expr, err, matrix, tt.want)
			}
		})
	}
}

// A file that is no recording is refused.
func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	if _, err := Read(bytes.NewReader([]byte("nodes 1\n"))); err == nil {
		t.Error("a text that is not compressed was read")
	}
	if _, err := Read(bytes.NewReader(nil)); err == nil {
		t.Error("nothing was read")
	}
	var file bytes.Buffer
	if err := (&Recording{}).Write(&file, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&file); err == nil {
		t.Error("a recording without scrapes was read")
	}
}
