package main

import (
	"io"
	"strings"
	"testing"
)

// A typing mistake is reported, with what was probably meant.
func TestSlipsAreReported(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"a verb nobody knows":    {"interrup i-1", "Did you mean this?\n\tinterrupt"},
		"a verb of a group":      {"aws callz", `daemok lab aws has no verb "callz", did you mean calls? It has allow, calls`},
		"a word that is missing": {"ice", "received 0: write daemok lab ice TYPE [flags]"},
		"a word too many":        {"aws deny CreateFleet RunInstances", "received 2: write daemok lab aws deny ACTION"},
		"a flag nobody knows":    {"throttle * --tims=0.1", "unknown flag: --tims: see daemok lab throttle --help"},
		"a flag that is no time": {"interrupt i-1 --advised-for=60", "missing unit in duration"},
		"no call to fail":        {"fault CreateFleet InternalError --count=0", "--nth is 1 and --count 0: want 1 or more"},
		"no component":           {"restart", "received 0: write daemok lab restart COMPONENT|POD"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := rootCommand()
			root.SetArgs(strings.Fields(tt.line))
			root.SetOut(io.Discard)
			if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("daemok lab %s says %v, want %q", tt.line, err, tt.want)
			}
		})
	}
}

func TestVersionIsReported(t *testing.T) {
	var out strings.Builder
	root := rootCommand()
	root.SetArgs([]string{"--version"})
	root.SetOut(&out)
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(out.String(), "daemok-lab ") || !strings.Contains(out.String(), "go1.") {
		t.Errorf("--version prints %q, %v", &out, err)
	}
}
