package stories_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bareUp are the flags of the quickest lab.
var bareUp = []string{"--time-scale=0", "--controller=false"}

// Verbs in a folder where no lab ever was say so and do no harm.
func TestNoLabYet(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	if got := mustLab(t, 3, dir, "status"); !strings.Contains(got.stderr, "no lab is up in "+dir) {
		t.Errorf("status says %q, want that no lab is up in %s", got.stderr, dir)
	}
	mustLab(t, 0, dir, "down")
	mustLab(t, 3, dir, "restart", "apiserver")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("asking for a lab left something in %s", dir)
	}
}

// A lab is started, refuses a second in its folder, is killed without warning,
// and starts again with what it held. When it is asked to be another than it
// was it says which flag is in the way.
func TestLabSurvivesItsDeath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab")
	pid := readyPID(t, mustLab(t, 0, dir, "up", append([]string{"--detach"}, bareUp...)...).stdout)
	t.Cleanup(func() { stopAnyway(t, dir) })
	mustLab(t, 0, dir, "status")

	for _, flags := range [][]string{bareUp, append([]string{"--detach"}, bareUp...)} {
		second := mustLab(t, 1, dir, "up", flags...)
		if !strings.Contains(second.stderr, "process "+strconv.Itoa(pid)) {
			t.Errorf("second up %q says %q, want the holder's process %d", flags, second.stderr, pid)
		}
	}

	mustKubectl(t, dir, "create", "configmap", "kept", "--from-literal=word=remembered")
	components := componentPIDs(t, dir)
	if len(components) < 3 {
		t.Fatalf("status names %d components, want the control plane's three", len(components))
	}
	endpoint := environment(t, dir)["CLUSTER_ENDPOINT"]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitDead(t, append(components, pid))
	mustLab(t, 3, dir, "status")

	again := readyPID(t, mustLab(t, 0, dir, "up", append([]string{"--detach"}, bareUp...)...).stdout)
	if again == pid {
		t.Errorf("the new lab has the old one's process %d", pid)
	}
	if got := mustKubectl(t, dir, "get", "configmap", "kept", "-o", "jsonpath={.data.word}"); got != "remembered" {
		t.Errorf("the restarted cluster holds %q, want what the killed one held", got)
	}
	if got := environment(t, dir)["CLUSTER_ENDPOINT"]; got != endpoint {
		t.Errorf("endpoint moved from %s to %s", endpoint, got)
	}
	components = componentPIDs(t, dir)
	mustLab(t, 0, dir, "down")
	mustLab(t, 0, dir, "down")
	mustLab(t, 3, dir, "status")
	awaitDead(t, append(components, again))

	other := mustLab(t, 1, dir, "up", append([]string{"--region=eu-west-1"}, bareUp...)...)
	if !strings.Contains(other.stderr, "--region us-east-1") {
		t.Errorf("up in another region says %q, want the region that the lab was made with", other.stderr)
	}
}

// Ctrl-C ends a lab in the foreground with everything it started.
func TestCtrlCStopsAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lab")
	t.Cleanup(func() { stopAnyway(t, dir) })
	ctx, cancel := context.WithTimeout(t.Context(), labWithin)
	defer cancel()
	command := labCommand(ctx, dir, "up", bareUp...)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the lab ended before it was ready: %v", err)
	}
	if pid := readyPID(t, line); pid != command.Process.Pid {
		t.Errorf("ready line names process %d, want %d", pid, command.Process.Pid)
	}
	components := componentPIDs(t, dir)
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the lab ended with %v after Ctrl-C, want success", err)
	}
	awaitDead(t, components)
	if sockets, _ := filepath.Glob(filepath.Join(dir, "run", "*")); len(sockets) > 0 {
		t.Errorf("sockets were left: %q", sockets)
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ flag, says string }{
		"a region that is none":    {"--region=mars-north-1", "mars-north-1"},
		"a version EKS has not":    {"--eks-version=1.36.3", "--eks-version is 1.36.3"},
		"a negative time scale":    {"--time-scale=-1", "--time-scale is -1"},
		"a negative node count":    {"--nodes=-1", "--nodes is -1"},
		"a port that is none":      {"--port=70000", "--port is 70000"},
		"a flag that is not there": {"--no-such-flag", "unknown flag"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustLab(t, 1, filepath.Join(t.TempDir(), "lab"), "up", tt.flag)
			if !strings.Contains(got.stderr, tt.says) {
				t.Errorf("up %s says %q, want %q in it", tt.flag, got.stderr, tt.says)
			}
		})
	}
}

// kubectl is the real one, exit codes included.
func TestKubectlFails(t *testing.T) {
	t.Parallel()
	dir := bare.use(t)
	if got := mustLab(t, 1, dir, "kubectl", "get", "configmap", "absent"); !strings.Contains(got.stderr, "NotFound") {
		t.Errorf("kubectl says %q, want NotFound", got.stderr)
	}
}

func mustKubectl(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return mustLab(t, 0, dir, "kubectl", args...).stdout
}

var componentLine = regexp.MustCompile(`(?m)^(\S+) +pid=(\d+) `)

func componentPIDs(t *testing.T, dir string) []int {
	t.Helper()
	var pids []int
	for _, found := range componentLine.FindAllStringSubmatch(mustLab(t, 0, dir, "status").stdout, -1) {
		pid, err := strconv.Atoi(found[2])
		if err != nil || pid == 0 || !alive(pid) {
			t.Errorf("component %s has process %s, which does not live", found[1], found[2])
		}
		pids = append(pids, pid)
	}
	return pids
}

// How often poll asks: distant services rarely, this machine often.
const (
	farEvery  = 200 * time.Millisecond
	nearEvery = 10 * time.Millisecond
)

// poll asks again and again until something holds that cannot be watched. It
// reports false when that took too long.
func poll(within, every time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(within); !holds(); time.Sleep(every) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// awaitDead waits for processes that are not ours to go.
func awaitDead(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if !poll(limit, nearEvery, func() bool { return !alive(pid) }) {
			t.Fatalf("process %d of the lab still lives", pid)
		}
	}
}

// awaitFile waits until a file that another process writes is as wanted.
func awaitFile(t *testing.T, path string, holds func([]byte) bool) {
	t.Helper()
	if !poll(limit, nearEvery, func() bool {
		content, err := os.ReadFile(path)
		return err == nil && holds(content)
	}) {
		t.Fatalf("%s is not as wanted after %v", path, limit)
	}
}

// environment reads lab.env.
func environment(t *testing.T, dir string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "lab.env"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if !ok {
			t.Fatalf("line %q of lab.env is not export K='V'", line)
		}
		all[name] = strings.Trim(value, "'")
	}
	return all
}

// stopAnyway ends a lab that a failed story may have left.
func stopAnyway(t *testing.T, dir string) {
	t.Helper()
	if got, err := lab(context.Background(), dir, "down"); err != nil || got.code != 0 {
		t.Errorf("down: code %d, %v\n%s", got.code, err, got.stderr)
	}
}
