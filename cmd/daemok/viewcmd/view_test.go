package viewcmd

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/ui/view"
)

// two nodes, of which one has labels that a spreadsheet would compute.
func two(context.Context, *inspect.Target, bool) (view.Cluster, error) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	return view.Cluster{At: now, Nodes: []view.Node{
		{Name: "n1", Owner: view.Owner{Kind: "NodePool", Name: "default"}, Status: view.Ready, Type: "m5.large", Created: now.Add(-time.Hour),
			Labels: map[string]string{"team": "=HYPERLINK(0)"}, Use: []view.Use{{Resource: "cpu", Requested: 1500, Allocatable: 2000}}},
		{Name: "n2", Owner: view.Owner{Kind: "NodePool", Name: "batch"}, Status: view.Draining, Type: "m5.xlarge", Created: now.Add(-time.Minute),
			Labels: map[string]string{"team": "shop"}, Use: []view.Use{{Resource: "cpu", Requested: 100, Allocatable: 4000}}},
	}}, nil
}

func follows(context.Context, *inspect.Target, bool) (view.Source, error) {
	return nil, errors.New("a test without a terminal follows nothing")
}

// run is what the command prints where there is no terminal.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := Command(two, follows)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetIn(strings.NewReader(""))
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestWithoutATerminalOneScreenIsPrinted(t *testing.T) {
	for name, tt := range map[string]struct {
		args, has, hasNot []string
	}{
		"all nodes, the newest first": {nil, []string{"n2        draining", "n1        ready"}, nil},
		"by a label":                  {[]string{"--once", "--node-selector", "team=shop"}, []string{"n2        draining"}, []string{"n1 "}},
		"of a pool":                   {[]string{"--nodepool", "default"}, []string{"n1        ready"}, []string{"n2 "}},
		"names for kubectl":           {[]string{"-o", "name", "--nodepool", "default"}, []string{"node/n1\n"}, []string{"n2"}},
		"JSON":                        {[]string{"-o", "json", "--nodepool", "batch"}, []string{`"name": "n2"`, `"perHour": 0`}, []string{`"n1"`}},
		"columns":                     {[]string{"-o", "custom-columns=NODE:.name,TYPE:.type"}, []string{"n1   ", "m5.xlarge"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.has {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
			for _, bad := range tt.hasNot {
				if strings.Contains(out, bad) {
					t.Errorf("%q is in\n%s", bad, out)
				}
			}
		})
	}
}

func TestCSVIsSortedAndHasNoFormulas(t *testing.T) {
	out, err := run(t, "-o", "csv", "--sort", "cpu=desc", "--extra-labels", "team", "--resources", "cpu")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v:\n%s", len(rows), err, out)
	}
	last := len(rows[0]) - 1
	if rows[1][0] != "n1" || rows[1][last] != "'=HYPERLINK(0)" || rows[1][last-3] != "1.5" || rows[2][0] != "n2" {
		t.Errorf("got\n%s", out)
	}
}

func TestBadInputNamesTheFlagAndTheWayOut(t *testing.T) {
	for _, tt := range []struct{ flag, value, want string }{
		{"--sort", "prize", `--sort prize: nodes have no "prize" to sort by: want one of name, status,`},
		{"--sort", "cpu=down", `--sort cpu=down: order "down": want asc or desc, such as cpu=desc`},
		{"--node-selector", "team in shop", "--node-selector team in shop: "},
		{"-o", "tabel", "want table, "},
	} {
		if _, err := run(t, tt.flag, tt.value); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.flag, tt.value, err, tt.want)
		}
	}
}
