package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompletionOfKubectlAndHelmIsTheirs(t *testing.T) {
	t.Setenv("LAB_DIR", "")
	for line, want := range map[string]string{
		"__complete kubectl get no":          "kubectl --dir .lab __complete get no",
		"__complete kubectl --dir /d get no": "kubectl --dir /d __complete get no",
		"__completeNoDesc helm --dir=/d ins": "helm --dir /d __completeNoDesc ins",
		"__complete kubectl":                 "__complete kubectl",
		"__complete kubectl --dir":           "__complete kubectl --dir",
		"__complete up --time":               "__complete up --time",
		"kubectl get nodes":                  "kubectl get nodes",
	} {
		if got := handedOn(strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s is handed on as %q; want %s", line, got, want)
		}
	}
}

func TestVerbsAndFlagsOfTheLabAreCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"up --time": "--time-scale",
		"mach":      "machine",
		"restart s": "scheduler",
	} {
		root := rootCommand()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(io.Discard)
		root.SetArgs(append([]string{"__completeNoDesc"}, strings.Fields(line)...))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(strings.Fields(out.String()), want) {
			t.Errorf("daemok lab %s is completed by %q; want %s among them", line, out.String(), want)
		}
	}
}

// calledAsKubectl is set where the test program stands for kubectl, which a plugin takes over.
const calledAsKubectl = "TEST_OF_KUBECTL"

func TestMain(m *testing.M) {
	if os.Getenv(calledAsKubectl) != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A program kubectl-daemok on PATH is a verb of kubectl, as users install it.
func TestKubectlFindsThePlugin(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, script := range map[string]string{
		"kubectl-daemok":          "#!/bin/sh\necho called with \"$@\"\n",
		"kubectl_complete-daemok": "#!/bin/sh\necho plan\necho :4\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "kubeconfig"), []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"kubectl daemok plan -o json":  "called with plan -o json\n",
		"__complete kubectl daemok pl": "plan\n:4\n",
	} {
		cmd := exec.CommandContext(t.Context(), self, strings.Fields(line)...)
		cmd.Env = append(os.Environ(), calledAsKubectl+"=1", "LAB_DIR="+folder, "PATH="+folder+":"+os.Getenv("PATH"))
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("daemok lab %s prints %q, %v; want %q", line, out, err, want)
		}
	}
}
