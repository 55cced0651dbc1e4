package stories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// controllerCommand is the controller as the lab itself would run it, with
// ports of its own and changed variables.
func controllerCommand(ctx context.Context, t *testing.T, dir string, changes ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(ctx, program("daemok-controller"))
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "AWS_") && !strings.HasPrefix(line, "KUBE") {
			command.Env = append(command.Env, line)
		}
	}
	env := environment(t, dir)
	env["KUBECONFIG"] = env["CONTROLLER_KUBECONFIG"]
	env["SYSTEM_NAMESPACE"], env["METRICS_PORT"], env["HEALTH_PROBE_PORT"] = "kube-system", "0", "0"
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Env = append(command.Env, changes...) // of two the later counts
	return command
}

// A controller that cannot do its work ends at once, with one line that names
// the setting and the way out.
func TestControllerRefusesToStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change string
		says   []string
	}{
		"a cluster EKS does not know": {"CLUSTER_NAME=elsewhere", []string{`no cluster "elsewhere"`, "CLUSTER_NAME"}},
		"no cluster name":             {"CLUSTER_NAME=", []string{"--cluster-name", "CLUSTER_NAME"}},
		"an AWS nobody answers at":    {"AWS_ENDPOINT_URL=http://127.0.0.1:9", []string{"AWS cannot be reached", "us-east-1", "AWS_ENDPOINT_URL"}},
		"a kubeconfig that is none":   {"KUBECONFIG=/dev/null", []string{"cluster"}},
		"a number that is none":       {"KUBE_CLIENT_QPS=many", []string{"KUBE_CLIENT_QPS", "many"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := bare.use(t)
			ctx, cancel := context.WithTimeout(t.Context(), labWithin)
			defer cancel()
			command := controllerCommand(ctx, t, dir, tt.change)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			began := time.Now()
			err := command.Run()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
				t.Fatalf("the controller ended with %v, want exit code 1\n%s", err, &stderr)
			}
			line := strings.TrimSuffix(stderr.String(), "\n")
			var said struct{ Level, Error string }
			if err := json.Unmarshal([]byte(line), &said); err != nil || said.Level != "ERROR" || !saysAll(said.Error, tt.says) {
				t.Errorf("stderr is\n%s\nwant one error in JSON that says %q", line, tt.says)
			}
			t.Logf("after %.1fs: %s", time.Since(began).Seconds(), line)
		})
	}
}
