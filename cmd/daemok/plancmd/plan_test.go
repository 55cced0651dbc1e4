package plancmd

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const situationFile = "../testdata/situation.txt"

// run executes the command as a user would, after the word plan, and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := New(Cluster{})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&out)
	cmd.SetArgs(args[1:])
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestPlanOfASavedSituation(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", situationFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"+1  m5.large  us-west-2a  on-demand", "All 2 pending pods get a place"} {
		if !strings.Contains(out, want) {
			t.Errorf("the plan does not say %q:\n%s", want, out)
		}
	}
}

func TestPlanAsJSON(t *testing.T) {
	out, err := run(t, "plan", "--snapshot", situationFile, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got JSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("the answer is not JSON: %v\n%s", err, out)
	}
	if len(got.Launches) != 1 || got.Launches[0].Choice.Price == nil || *got.Launches[0].Choice.Price != 0.096 {
		t.Errorf("want one launch at 0.096; got %s", out)
	}
	if got.Removals == nil || got.Withdrawals == nil || strings.Contains(out, "null") {
		t.Errorf("an empty list is null:\n%s", out)
	}
}

func TestBadCommandLines(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an output form nobody knows":     {[]string{"plan", "--snapshot", situationFile, "-o", "jsn"}, "want json, table, wide"},
		"a situation that is not there":   {[]string{"plan", "--snapshot", "testdata/none.txt"}, "read the situation"},
		"a situation that is no snapshot": {[]string{"plan", "--snapshot", "plan_test.go"}, "read the situation in plan_test.go"},
		"a situation that is empty":       {[]string{"plan", "--snapshot", "-"}, "the situation in standard input is empty"},
		"a situation that is not given":   {[]string{"plan", "--snapshot", os.DevNull}, "is empty: write one with `daemok snapshot`"},
		"a question that is none":         {[]string{"plan", "--snapshot", situationFile, "--what-if", "cheap"}, `--what-if cheap: "cheap": want key=value`},
		"a question about no pool":        {[]string{"plan", "--snapshot", situationFile, "--what-if", "pool=x,arch=any"}, `there is no pool "x"; there are: NodePool/default`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("daemok %v gives error %v; want %q", tt.args, err, tt.want)
			}
		})
	}
}

// What is piped in and wrong is not said to be in a file named "-".
func TestStandardInputIsNamed(t *testing.T) {
	cmd := New(Cluster{})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetIn(strings.NewReader("nonsense\n"))
	cmd.SetArgs([]string{"--snapshot", "-"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "read the situation in standard input: line 1") {
		t.Errorf("plan of nonsense = %v", err)
	}
}
