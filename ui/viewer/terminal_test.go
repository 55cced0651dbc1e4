package viewer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/viewer"
)

// playedIn names the folder of a viewer that a test plays on a terminal: this program is that viewer then.
const playedIn = "DAEMOK_VIEWER_PLAYED_IN"

func TestMain(m *testing.M) {
	if folder := os.Getenv(playedIn); folder != "" {
		if err := play(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play shows a cluster that changes as the test writes to a pipe.
func play(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "situation"))
	if err != nil {
		return err
	}
	snapshot, err := scenario.Parse(string(text))
	if err != nil {
		return err
	}
	s := &piped{in: view.Input{Snapshot: snapshot}, changes: make(chan struct{}, 1)}
	s.next("")
	go func() {
		for {
			said, err := os.ReadFile(filepath.Join(folder, "pipe")) // until the test closes it
			if err != nil {
				return
			}
			s.next(strings.TrimSpace(string(said)))
		}
	}()
	return viewer.Run(context.Background(), s, viewer.Options{Cluster: "prod"}, os.Stdin, os.Stdout)
}

// piped is a source in which there is a trouble after each change, or a panic.
type piped struct {
	in      view.Input
	cluster atomic.Pointer[view.Cluster]
	changes chan struct{}
	broken  atomic.Bool
}

func (p *piped) next(trouble string) {
	p.broken.Store(trouble == "panic")
	if trouble != "" {
		p.in.Troubles = []string{trouble}
	}
	c := view.Of(p.in)
	p.cluster.Store(&c)
	p.changes <- struct{}{}
}

func (p *piped) View() *view.Cluster {
	if p.broken.Load() {
		panic("the source is broken")
	}
	return p.cluster.Load()
}

func (p *piped) Changed() <-chan struct{} { return p.changes }

// terminal is a real one, which tmux draws.
type terminal struct {
	t      *testing.T
	folder string
}

// newTerminal runs the viewer in a shell that says how it ended, and how it left the terminal.
func newTerminal(t *testing.T, environment ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no tmux: install it (Debian: tmux)")
		}
		t.Skip("there is no tmux: install it to see the viewer on a terminal")
	}
	term := &terminal{t, t.TempDir()}
	archive, err := txtar.ParseFile("testdata/nodes-with-bars.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := os.ReadFile("../../core/decide/testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(term.folder, "situation"), append(shop, archive.Files[0].Data...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(term.folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("env %s %s=%s %s; echo ended $?; stty -a | grep -ow -e -echo -e echo -e -icanon -e icanon; exec cat",
		strings.Join(environment, " "), playedIn, term.folder, program)
	term.tmux("-f", os.DevNull, "new-session", "-d", "-x", "100", "-y", "24", script)
	t.Cleanup(func() { term.tmux("kill-server") })
	return term
}

// tmux runs a command of the server of this test.
func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	args = append([]string{"-u", "-S", filepath.Join(x.folder, "tmux")}, args...)
	cmd := exec.CommandContext(context.Background(), "tmux", args...) // the test's context has ended when it cleans up
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// press sends keys by tmux's names of them.
func (x *terminal) press(keys ...string) { x.tmux(append([]string{"send-keys"}, keys...)...) }

// longest is how long the terminal may take to show what it must, on a host that does much else.
const longest = time.Minute

// shows waits until the terminal shows all of these.
func (x *terminal) shows(want ...string) string {
	x.t.Helper()
	screen := ""
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(longest); time.Now().Before(end); <-again.C {
		screen = x.tmux("capture-pane", "-p")
		if missing(screen, want) == "" {
			return screen
		}
	}
	x.t.Fatalf("the terminal does not show %q after %v:\n%s", missing(screen, want), longest, screen)
	return ""
}

func missing(screen string, want []string) string {
	for _, w := range want {
		if !strings.Contains(screen, w) {
			return w
		}
	}
	return ""
}

// isAsBefore checks a screen after the viewer: the shell's modes are on, and nothing of the viewer is left.
func (x *terminal) isAsBefore(screen string) {
	x.t.Helper()
	for _, wrong := range []string{"-icanon", "-echo", "› "} {
		if strings.Contains(screen, wrong) {
			x.t.Errorf("the terminal is not as it was:\n%s", screen)
		}
	}
}

// change writes to the viewer's pipe.
func (x *terminal) change(trouble string) {
	x.t.Helper()
	pipe, err := os.OpenFile(filepath.Join(x.folder, "pipe"), os.O_WRONLY, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	_, err = io.WriteString(pipe, trouble)
	if err := errors.Join(err, pipe.Close()); err != nil {
		x.t.Fatal(err)
	}
}

func TestOnATerminalKeysAndChangesAndSizesAreFollowed(t *testing.T) {
	x := newTerminal(t)
	x.shows("prod  3 nodes: 2 ready, 1 draining", "[1 nodes 3]", "› n1", "q quit")
	x.press("j", "Enter")
	x.shows("n2 draining", "NodeClaim  n2-c", "esc back")
	x.press("Escape")
	x.shows("› n2", "enter details")
	x.press("/", "m5")
	x.shows("/m5", "› old")
	x.press("Enter")
	x.shows("1 of 3; esc shows all")
	x.press("Escape")
	x.shows("› n2", "enter details")
	x.press("2")
	x.shows("[2 pending 3]", "default/Deployment/report")
	x.change("You may not list nodes.metrics.k8s.io.")
	x.shows("You may not list nodes.metrics.k8s.io.", "[2 pending 3]")
	x.tmux("resize-window", "-x", "40", "-y", "12")
	x.shows("1 nod [2 pending 3] 3 pro", "q quit  ? help")
	x.tmux("resize-window", "-x", "120", "-y", "30")
	x.press("1")
	x.shows("[1 nodes 3]", "OWNER")
	x.press("q")
	x.isAsBefore(x.shows("ended 0", "icanon"))
}

// However it ends, the shell has its terminal back.
func TestTheTerminalIsAsBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(x *terminal)
		want string
	}{
		"after Ctrl-C":  {func(x *terminal) { x.press("C-c") }, "ended 0"},
		"after a panic": {func(x *terminal) { x.change("panic") }, "ended 1"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTerminal(t)
			x.shows("[1 nodes 3]")
			tt.end(x)
			x.shows(tt.want, "icanon")
			x.press("typed again", "Enter")
			x.isAsBefore(x.shows("typed again\ntyped again"))
		})
	}
}

func TestColoursAreOfTheTerminalsSixteenOrNone(t *testing.T) {
	const green, anyOther = "\x1b[32m", "\x1b[38;"
	anyColour := regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m`)
	x := newTerminal(t)
	x.shows("[1 nodes 3]")
	if screen := x.tmux("capture-pane", "-p", "-e"); !strings.Contains(screen, green) || strings.Contains(screen, anyOther) {
		t.Errorf("want green and no colour beyond sixteen:\n%q", screen)
	}
	x = newTerminal(t, "NO_COLOR=1")
	x.shows("[1 nodes 3]")
	if screen := x.tmux("capture-pane", "-p", "-e"); anyColour.MatchString(screen) {
		t.Errorf("want no colour:\n%q", screen)
	}
}
