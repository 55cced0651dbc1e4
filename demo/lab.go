package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// marker lies in folders that a demo made, and may therefore empty.
const marker = ".daemok-demo"

const (
	upTimeout   = 130 * time.Second // the lab itself gives up after 120 s and names the log
	downTimeout = 30 * time.Second
)

// lab is the lab as a user has it: a program, a folder and a few lines of
// output.
type lab struct {
	program, dir string
	out, err     io.Writer

	kubeconfig, clusterName string
	process                 *os.Process
	ended                   chan struct{} // closed when the process is gone
	endedWith               error         // why; read it after ended is closed
}

// claimFolder makes the folder, or empties it of an earlier demo that is not running any
// more. It touches no folder that another program made.
func (l *lab) claimFolder(ctx context.Context) error {
	dir, err := filepath.Abs(l.dir)
	if err != nil {
		return fmt.Errorf("find folder %s: %w", l.dir, err)
	}
	l.dir = dir
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the demo's folder: %w", err)
	}
	if len(entries) > 0 {
		if err := l.clearFolder(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, marker), []byte("made by daemok demo, which empties it at its next start\n"), 0o644)
}

func (l *lab) clearFolder(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(l.dir, marker)); err != nil {
		return fmt.Errorf("folder %s is not empty and no demo made it: name another with --dir", l.dir)
	}
	if exec.CommandContext(ctx, l.program, "status", "--dir", l.dir).Run() == nil {
		return fmt.Errorf("a demo is running in %s: stop it, or name another folder with --dir", l.dir)
	}
	if err := l.down(); err != nil {
		return err
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("empty the folder of an earlier demo: %w", err)
	}
	return nil
}

// up starts the lab and waits for its last line.
func (l *lab) up(ctx context.Context, timeScale float64) error {
	// It must not die with the context: down stops it in order.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.program, "up", "--dir", l.dir, "--time-scale", fmt.Sprint(timeScale))
	cmd.SysProcAttr = ownGroup()
	cmd.Stderr = l.err
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read what the lab says: %w", err)
	}
	started := make(chan error)
	l.ended = make(chan struct{})
	go func() {
		// The death signal is tied to the thread that starts the child.
		runtime.LockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		l.process = cmd.Process
		started <- nil
		<-l.ended
	}()
	if err := <-started; err != nil {
		close(l.ended)
		return fmt.Errorf("start %s: %w", l.program, err)
	}
	ready := make(chan string, 1)
	go func() {
		forward(stdout, l.out, ready)
		l.endedWith = cmd.Wait()
		close(l.ended)
	}()
	return l.awaitReady(ctx, ready)
}

func (l *lab) awaitReady(ctx context.Context, ready <-chan string) error {
	limit := time.NewTimer(upTimeout)
	defer limit.Stop()
	select {
	case line := <-ready:
		return l.learn(line)
	case <-l.ended:
		select { // it may have said so just before
		case line := <-ready:
			return fmt.Errorf("the lab ended right after %q: %w; read %s", line, orEnded(l.endedWith), l.logs())
		default:
			return fmt.Errorf("the lab did not get up: %w; read %s", orEnded(l.endedWith), l.logs())
		}
	case <-limit.C:
		return fmt.Errorf("the lab is not ready after %v; read %s", upTimeout, l.logs())
	case <-ctx.Done():
		return fmt.Errorf("wait for the lab: %w", ctx.Err())
	}
}

// forward copies lines to out and hands over the one that says ready.
func forward(from io.Reader, out io.Writer, ready chan<- string) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		fmt.Fprintln(out, lines.Text())
		if strings.HasPrefix(lines.Text(), "lab: ready ") {
			select {
			case ready <- lines.Text():
			default:
			}
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintf(out, "demo: read what the lab says: %v\n", err)
	}
}

// learn reads "lab: ready dir=D kubeconfig=K env=E pid=P" and the name of the
// cluster from the file E.
func (l *lab) learn(line string) error {
	values := make(map[string]string)
	for field := range strings.FieldsSeq(line) {
		if key, value, ok := strings.Cut(field, "="); ok {
			values[key] = value
		}
	}
	l.kubeconfig = values["kubeconfig"]
	if l.kubeconfig == "" || values["env"] == "" {
		return fmt.Errorf("the lab is ready but names no kubeconfig or env file: %q", line)
	}
	env, err := os.ReadFile(values["env"])
	if err != nil {
		return fmt.Errorf("read the lab's settings: %w", err)
	}
	for setting := range strings.Lines(string(env)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(setting), "export CLUSTER_NAME="); ok {
			l.clusterName = strings.Trim(value, "'")
		}
	}
	if l.clusterName == "" {
		return fmt.Errorf("%s names no CLUSTER_NAME", values["env"])
	}
	return nil
}

// whileUp returns a context that also ends, with the cause, when the lab does.
func (l *lab) whileUp(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-l.ended:
			cancel(fmt.Errorf("the lab ended by itself: %w; read %s", orEnded(l.endedWith), l.logs()))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// down stops the lab in order and makes sure that nothing of it is left. It
// is safe to repeat, and does not depend on a context: it runs when that has
// ended.
func (l *lab) down() error {
	if l.process != nil {
		_ = l.process.Signal(syscall.SIGINT) // an error means that it is gone already
		limit := time.NewTimer(downTimeout)
		defer limit.Stop()
		select {
		case <-l.ended:
		case <-limit.C:
			_ = l.process.Kill()
			<-l.ended
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
	defer cancel()
	if out, err := exec.CommandContext(ctx, l.program, "down", "--dir", l.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("stop the lab in %s: %w: %s", l.dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// finish stops the lab and, where nothing needs to be checked, removes its folder.
func (l *lab) finish(remove bool) error {
	if err := l.down(); err != nil || !remove {
		return err
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("remove the demo's folder: %w", err)
	}
	return nil
}

func (l *lab) logs() string { return filepath.Join(l.dir, "logs") }

// orEnded names an end without an error.
func orEnded(err error) error {
	if err == nil {
		return errors.New("it exited with 0")
	}
	return err
}
