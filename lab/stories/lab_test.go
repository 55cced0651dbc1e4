package stories_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// readyLine is the last line that a lab writes to stdout.
var readyLine = regexp.MustCompile(`(?m)^lab: ready dir=(\S+) kubeconfig=(\S+) env=(\S+) pid=(\d+)\n\z`)

// answer is what a verb of the lab's program left behind.
type answer struct {
	code           int
	stdout, stderr string
}

// lab runs a verb of the lab's program in a folder and waits for its end.
func lab(ctx context.Context, dir, verb string, args ...string) (answer, error) {
	command := labCommand(ctx, dir, verb, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		err = nil
	}
	return answer{command.ProcessState.ExitCode(), stdout.String(), stderr.String()}, err
}

func labCommand(ctx context.Context, dir, verb string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program("daemok-lab"), append([]string{verb, "--dir", dir}, args...)...)
	command.WaitDelay = 10 * time.Second // a detached lab holds none of our pipes
	return command
}

// labWithin bounds how long a verb takes.
const labWithin = 5 * time.Minute

// mustLab runs a verb and fails the test unless it ends with the code wanted.
func mustLab(t *testing.T, want int, dir, verb string, args ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), labWithin)
	defer cancel()
	got, err := lab(ctx, dir, verb, args...)
	if err != nil || got.code != want {
		t.Fatalf("lab %s %s = code %d, %v; want code %d\n%s%s", verb, strings.Join(args, " "), got.code, err, want, got.stdout, got.stderr)
	}
	return got
}

// readyPID returns the process that the ready line names.
func readyPID(t *testing.T, stdout string) int {
	t.Helper()
	found := readyLine.FindStringSubmatch(stdout)
	if found == nil {
		t.Fatalf("stdout does not end with the ready line:\n%s", stdout)
	}
	pid, err := strconv.Atoi(found[4])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// lazyLab is a lab that the first story to ask for it starts.
type lazyLab struct {
	flags []string
	once  sync.Once
	dir   string
	err   error
}

// startedLab is a lab that a story has started itself.
func startedLab(dir string) *lazyLab {
	l := &lazyLab{dir: dir}
	l.once.Do(func() {})
	return l
}

func newLazyLab(flags ...string) *lazyLab { return &lazyLab{flags: flags} }

// use returns the lab's folder; the lab runs.
func (l *lazyLab) use(t *testing.T) string {
	t.Helper()
	l.once.Do(l.start)
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.dir
}

func (l *lazyLab) start() {
	if l.dir, l.err = os.MkdirTemp("", "lab-stories-"); l.err != nil {
		return
	}
	got, err := lab(context.Background(), l.dir, "up", append([]string{"--detach", "--time-scale=0"}, l.flags...)...)
	if err != nil || got.code != 0 {
		l.err = fmt.Errorf("the shared lab did not get up: code %d, %w\n%s", got.code, err, got.stderr)
	}
}

// end stops the lab. The folder stays when a story failed, for its logs.
func (l *lazyLab) end(allWell bool) error {
	if l.dir == "" {
		return nil
	}
	if got, err := lab(context.Background(), l.dir, "down"); err != nil || got.code != 0 {
		return fmt.Errorf("stop shared lab: code %d, %w\n%s", got.code, err, got.stderr)
	}
	if !allWell {
		fmt.Fprintf(os.Stderr, "the logs of the shared lab are in %s\n", filepath.Join(l.dir, "logs"))
		return nil
	}
	return os.RemoveAll(l.dir)
}
