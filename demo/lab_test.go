package demo

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The fake lab is a shell script with the lab's command line. It records what it was asked
// in a file beside itself.
const (
	prologue  = "#!/bin/sh\nlog=\"$(dirname \"$0\")/asked\"\necho \"$*\" >> \"$log\"\n"
	labThatIs = prologue + `
case "$1" in
up)
  trap 'echo interrupted >> "$log"; exit 0' INT
  mkdir -p "$3/logs"
  echo "export CLUSTER_NAME='blue'" > "$3/lab.env"
  echo "lab: starting"
  echo "lab: ready dir=$3 kubeconfig=$3/kubeconfig env=$3/lab.env pid=$$"
  while :; do sleep 0.05; done ;;
status) exit 3 ;;
esac
`
	labThatRunsAlready = prologue + "exit 0\n"
	labThatFails       = prologue + "if [ \"$1\" = up ]; then exit 1; fi\n"
)

// emulated returns a lab whose program is the script.
func emulated(t *testing.T, script string) (*lab, *bytes.Buffer) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "daemok-lab")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	return &lab{program: program, dir: filepath.Join(t.TempDir(), "demo"), out: &out, err: io.Discard}, &out
}

func asked(t *testing.T, l *lab) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(l.program), "asked"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLabComesUpAndGoes(t *testing.T) {
	l, out := emulated(t, labThatIs)
	if err := l.claimFolder(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.up(t.Context(), 0.2); err != nil {
		t.Fatal(err)
	}
	if l.kubeconfig != filepath.Join(l.dir, "kubeconfig") || l.clusterName != "blue" {
		t.Errorf("learnt kubeconfig %q and cluster %q", l.kubeconfig, l.clusterName)
	}
	if err := l.finish(true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "lab: starting") {
		t.Errorf("the lab's progress is not shown: %q", out.String())
	}
	if _, err := os.Stat(l.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	want := "up --dir " + l.dir + " --time-scale 0.2\ninterrupted\ndown --dir " + l.dir + "\n"
	if got := asked(t, l); got != want {
		t.Errorf("the lab was asked\n%swant\n%s", got, want)
	}
}

func TestFolderIsKeptWhenThereIsSomethingToLookAt(t *testing.T) {
	l, _ := emulated(t, labThatIs)
	if err := l.claimFolder(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.up(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := l.finish(false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.logs()); err != nil {
		t.Errorf("the logs are gone: %v", err)
	}
}

func TestLabThatDoesNotComeUpNamesTheLogs(t *testing.T) {
	l, _ := emulated(t, labThatFails)
	if err := l.claimFolder(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := l.up(t.Context(), 0.2)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), l.logs()) {
		t.Errorf("error %v; want the exit status and %s", err, l.logs())
	}
	if err := l.down(); err != nil {
		t.Errorf("stopping what never started: %v", err)
	}
}

func TestLabThatEndsByItselfEndsTheStory(t *testing.T) {
	l, _ := emulated(t, labThatIs)
	if err := l.claimFolder(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.up(t.Context(), 0.2); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := l.whileUp(t.Context())
	defer cancel()
	if err := l.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !strings.Contains(cause.Error(), "the lab ended by itself: signal: killed") {
		t.Errorf("cause is %v", cause)
	}
}

func TestClaimFolder(t *testing.T) {
	tests := map[string]struct {
		script string
		there  []string
		want   string // fragment of the error; empty for none
	}{
		"takes a new one":                    {labThatIs, nil, ""},
		"empties that of an earlier demo":    {labThatIs, []string{marker, "old"}, ""},
		"leaves somebody else's alone":       {labThatIs, []string{"thesis.txt"}, "no demo made it"},
		"does not run over one that is live": {labThatRunsAlready, []string{marker, "old"}, "a demo is running"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, _ := emulated(t, tt.script)
			for _, file := range tt.there {
				if err := os.MkdirAll(l.dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(l.dir, file), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := l.claimFolder(t.Context())
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v; want %q", err, tt.want)
				}
				if left, _ := os.ReadDir(l.dir); len(left) != len(tt.there) {
					t.Errorf("%d files are left; want all %d", len(left), len(tt.there))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if left, _ := os.ReadDir(l.dir); len(left) != 1 || left[0].Name() != marker {
				t.Errorf("the folder holds %v; want the marker alone", left)
			}
		})
	}
}

// The commands are to be copied as they stand, from an unpacked release too.
func TestThingsToTryNameTheProgramAsItWasCalled(t *testing.T) {
	got := nextThings(&lab{dir: "/labs/one", kubeconfig: "/labs/one/kubeconfig"}, "./daemok")
	for _, want := range []string{"\n  ./daemok lab kubectl --dir /labs/one get ", "\n  ./daemok plan --snapshot ", "tail -f /labs/one/logs/controller.log"} {
		if !strings.Contains(got, want) {
			t.Errorf("things to try are %s\nwant %q in it", got, want)
		}
	}
	if strings.Contains(got, "bin/daemok") {
		t.Errorf("things to try name a checkout's program:\n%s", got)
	}
}
