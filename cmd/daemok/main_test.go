package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/cmd/daemok/plancmd"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
)

const situationFile = "testdata/situation.txt"

// run executes one command as a user would and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := root()
	var out bytes.Buffer
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// twoClusters is a kubeconfig.
const twoClusters = `apiVersion: v1
kind: Config
current-context: green
clusters:
  - {name: green, cluster: {server: "https://green.test"}}
  - {name: blue, cluster: {server: "https://blue.test"}}
contexts:
  - {name: green, context: {cluster: green, user: me}}
  - {name: blue, context: {cluster: blue, user: me, namespace: shop}}
users:
  - {name: me, user: {}}
`

func TestPlanReadsTheLiveCluster(t *testing.T) {
	asked := ""
	live := func(_ context.Context, at *inspect.Target) (inspect.Situation, error) {
		config, err := at.Config()
		if err != nil {
			return inspect.Situation{}, err
		}
		asked = fmt.Sprintf("%s as %s in %s, %s", config.Host, config.Impersonate.UserName, at.Region, at.EKSName())
		return inspect.Situation{Snapshot: savedSituation(t)}, nil
	}
	cmd := plancmd.New(plancmd.Cluster{Read: live})
	var out bytes.Buffer
	cmd.SetOut(&out)
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(twoClusters), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.SetArgs([]string{"--kubeconfig", file, "--context", "blue", "--as", "somebody", "--region", "eu-west-1", "--cluster-name", "b"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked != "https://blue.test as somebody in eu-west-1, b" || !strings.Contains(out.String(), "+1 launched") {
		t.Errorf("asked %q and printed:\n%s", asked, out.String())
	}
}

func TestSnapshotCanBeReadAgain(t *testing.T) {
	for name, flags := range map[string][]string{"plain": nil, "redacted": {"--redact"}} {
		t.Run(name, func(t *testing.T) {
			cmd := snapshotCommand(func(context.Context, *inspect.Target) (inspect.Situation, error) {
				return inspect.Situation{Snapshot: savedSituation(t)}, nil
			})
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetArgs(flags)
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := scenario.Parse(out.String()); err != nil {
				t.Errorf("what snapshot printed cannot be read: %v\n%s", err, out.String())
			}
			if hidden := !strings.Contains(out.String(), "web-1"); hidden != (flags != nil) {
				t.Errorf("with flags %v names hidden is %v:\n%s", flags, hidden, out.String())
			}
		})
	}
}

func savedSituation(t *testing.T) *cluster.Snapshot {
	t.Helper()
	text, err := os.ReadFile(situationFile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBadCommandLines(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no runs":                 {[]string{"bench", "place", "--mix", "plain", "--runs", "0"}, "--runs is 0: want 1 or more"},
		"less than no nodes":      {[]string{"bench", "place", "--mix", "plain", "--nodes", "-1"}, "--nodes is -1: want 0 or more"},
		"no pools":                {[]string{"bench", "place", "--mix", "plain", "--pools", "0"}, "--pools is 0: want 1 or more"},
		"no work":                 {[]string{"bench", "place"}, "exactly one of --mix, --workload, --trace and --generate"},
		"a flag that is misspelt": {[]string{"doctor", "--contxt", "prod"}, "unknown flag: --contxt: did you mean --context?"},
		"a flag that is none":     {[]string{"doctor", "--colour"}, "unknown flag: --colour: daemok doctor --help lists the flags"},
		"a command nobody knows":  {[]string{"fly"}, "unknown command"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := run(t, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("daemok %v gives error %v; want %q", tt.args, err, tt.want)
			}
		})
	}
}

func TestVersionNamesTheToolchain(t *testing.T) {
	for _, asked := range []string{"version", "--version"} {
		out, err := run(t, asked)
		if err != nil || !strings.HasPrefix(out, "daemok ") || !strings.Contains(out, "go1.") {
			t.Errorf("%s prints %q, %v", asked, out, err)
		}
	}
}

func TestFindLab(t *testing.T) {
	folder := t.TempDir()
	beside := filepath.Join(folder, labProgram)
	has := func(there ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			for _, path := range there {
				if path == name || filepath.Base(path) == name {
					return path, nil
				}
			}
			return "", exec.ErrNotFound
		}
	}
	tests := map[string]struct {
		there []string
		want  string
	}{
		"prefers the one beside":  {[]string{"/opt/bin/daemok-lab", beside}, beside},
		"falls back to PATH":      {[]string{"/opt/bin/daemok-lab"}, "/opt/bin/daemok-lab"},
		"says that there is none": {nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := findLab(folder, has(tt.there...))
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("findLab = %q, %v; want %q", got, err, tt.want)
			}
			if err == nil {
				return
			}
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != exitNoLab {
				t.Errorf("error %v has not exit code %d", err, exitNoLab)
			}
			for _, want := range []string{beside, "PATH", "archive daemok-lab", "make build"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q: where it looked, and the ways out", err, want)
				}
			}
		})
	}
}

// isCommand, set in its environment, makes this test the command itself.
const isCommand = "DAEMOK_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(isCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestLabIsTheLabItself runs the command with a script in the
// lab's place: arguments arrive and the exit code is kept.
func TestLabIsTheLabItself(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "daemok")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, self, program)
	script := "#!/bin/sh\necho \"$@\"\nexit 3\n"
	if err := os.WriteFile(filepath.Join(folder, labProgram), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "lab", "status", "--dir", "x", "-v")
	command.Env = append(os.Environ(), isCommand+"=1")
	out, err := command.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit is %v; want code 3", err)
	}
	if got := string(out); got != "status --dir x -v\n" {
		t.Errorf("the lab got %q", got)
	}
}

// copyFile copies a program.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestBenchPlacePrintsOneObject(t *testing.T) {
	out, err := run(t, "bench", "place", "--mix", "plain", "--pods", "50", "--runs", "1")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("the answer is not one JSON object in one line: %v\n%s", err, out)
	}
	if got["pods"] != 50.0 || got["unplaced"] != 0.0 {
		t.Errorf("want 50 pods placed; got %s", out)
	}
}

func TestBenchRefusesAnUnknownMix(t *testing.T) {
	if _, err := run(t, "bench", "place", "--mix", "fruit", "--pods", "5"); err == nil || !strings.Contains(err.Error(), "antiaffinity") {
		t.Errorf("bench place --mix fruit = %v, want an error that lists the mixes", err)
	}
}

// Help lists commands by what they are for, and kubectl's flags apart from a command's own.
func TestHelpIsGrouped(t *testing.T) {
	out, err := run(t, "--help")
	if err != nil || !strings.Contains(out, "why:\n  cost ") || !strings.Contains(out, "\nAct on nodes:\n  adopt ") {
		t.Errorf("daemok --help (%v):\n%s", err, out)
	}
	out, err = run(t, "roll", "--help")
	own, kubectls, apart := strings.Cut(out, "\nFlags of kubectl, which say what cluster is meant:\n")
	if err != nil || !apart || !strings.Contains(own, "--no-wait") || strings.Contains(own, "--context") || !strings.Contains(kubectls, "--context") {
		t.Errorf("daemok roll --help (%v):\n%s", err, out)
	}
}
