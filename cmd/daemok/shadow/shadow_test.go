package shadow

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/comparison"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// watched is the history of two days: ten nodes, of which Daemok would have had six.
func watched(t *testing.T) string {
	t.Helper()
	book, now := &comparison.Book{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	book.Begin("prod", now)
	level := func(nodes int) comparison.Level {
		return comparison.Level{Cost: quantity.MicroUSDPerHour(nodes) * 192_000, Nodes: nodes}
	}
	for minute := range 48 * 60 {
		ours := 6
		if minute < 90 {
			ours = 10
		}
		book.Observe(now.Add(time.Duration(minute)*time.Minute), level(10), level(ours))
	}
	book.Happened(3, 2, 14)
	book.Waited([]time.Duration{time.Second, 2 * time.Minute}, []time.Duration{40 * time.Second})
	book.Decided(comparison.Decision{At: now.Add(90 * time.Minute), Kind: comparison.Terminate,
		What: "ip-10-0-0-1, ip-10-0-0-2", Why: "Underutilized: \x1b[2Jits pods find room on others", Terminated: 2, Evicted: 9, SavesPerHour: .384})
	book.Decided(comparison.Decision{At: now.Add(95 * time.Minute), Kind: comparison.Launch,
		What: "1 x m5.large spot in us-east-1a of NodePool/default", Why: "4 pods wait", Launched: 1, SavesPerHour: -.035})
	book.Leave(now.Add(time.Hour),
		[]comparison.Unplaced{{Example: "ml/<script>alert(1)</script>", Pods: 2, Running: 2,
			Why: "NodePool/default: it asks for nvidia.com/gpu, and no instance type has it"}})
	book.Beside(0, 2, 1)
	h, _ := book.History()
	data, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "history.json.gz")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// reported runs the command.
func reported(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := Command(inspect.Connect)
	cmd.SetArgs(append([]string{"report"}, args...))
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAReportIsWhatItIsExpectedToBe(t *testing.T) {
	from := watched(t)
	for name, args := range map[string][]string{"report.txt": nil, "report.html": {"-o", "html"}, "report.json": {"-o", "json"}} {
		got, path := reported(t, append(args, "--from", from)...), filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil { // an expected file
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs, run the test with -update and review it:\n%s", path, got)
		}
	}
}

// Names of a cluster are no markup and no control sequence.
func TestTextOfAClusterIsShownAndNotFollowed(t *testing.T) {
	from := watched(t)
	if page := reported(t, "-o", "html", "--from", from); strings.Contains(page, "<script") || strings.Contains(page,
		"http://") || strings.Contains(page, "https://") {
		t.Error("the page has a script of a pod's name in it, or loads something")
	}
	if text := reported(t, "--from", from); strings.Contains(text, "\x1b") {
		t.Error("the text has a control sequence in it")
	}
}

// What the figures are is worked out by hand: 46.5 of 48 hours with four nodes less at $0.192 each.
func TestAMonthIsAsTheHoursThatWereWatched(t *testing.T) {
	var r report
	if err := json.Unmarshal([]byte(reported(t, "-o", "json", "--from", watched(t))), &r); err != nil {
		t.Fatal(err)
	}
	hours := 48 - 1.0/60
	saved := .192 * 4 * (hours - 1.5)
	if near := r.SavedDollars - saved; near > .001 || near < -.001 {
		t.Errorf("saved $%.3f, want $%.3f", r.SavedDollars, saved)
	}
	if want := saved / hours * 730; r.SavedPerMonthDollars-want > .01 || want-r.SavedPerMonthDollars > .01 {
		t.Errorf("saved $%.2f a month, want $%.2f", r.SavedPerMonthDollars, want)
	}
	if r.Actual.Waited != 1 || r.Actual.WaitLongestSeconds != 120 || r.Shadow.WaitMeanSeconds != 40 {
		t.Errorf("waits are %+v and %+v; one second is no wait", r.Actual, r.Shadow)
	}
}

// One node is one node, and none is no sentence.
func TestNodesThatAreNotComparedAreCounted(t *testing.T) {
	tests := map[string]struct {
		history comparison.History
		want    []string
	}{
		"none": {comparison.History{}, nil},
		"one of each": {comparison.History{Outside: 1, Static: 1, Unpriced: 1}, []string{
			"1 node belongs to no NodePool: it is the same on both sides.",
			"1 node belongs to a NodePool with replicas: it is the same on both sides.",
			"The price of 1 node is not known: it costs nothing on the side that has it, or on both.",
		}},
		"several": {comparison.History{Outside: 2, Static: 3, Unpriced: 4}, []string{
			"2 nodes belong to no NodePool: they are the same on both sides.",
			"3 nodes belong to NodePools with replicas: they are the same on both sides.",
			"The prices of 4 nodes are not known: they cost nothing on the side that has them, or on both.",
		}},
	}
	always := len(reportOf(comparison.History{}).Assumptions)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reportOf(tt.history).Assumptions[always:]; !slices.Equal(got, tt.want) {
				t.Errorf("the report says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatCannotBeReportedSaysWhy(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"later.json": `{"version":9}`, "empty.json": `{"version":1}`, "text.json": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{"later.json": "version 9", "empty.json": "nothing was watched yet", "text.json": "read the history", "none.json": "no such file"} {
		cmd := Command(inspect.Connect)
		cmd.SetArgs([]string{"report", "--from", filepath.Join(dir, from)})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want one that says %q", from, err, want)
		}
	}
}
