package viewer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/test/terminal"
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

// played is the viewer on a terminal, and the folder with its pipe.
type played struct {
	*terminal.Terminal

	t      *testing.T
	folder string
}

// onTerminal runs the viewer in a shell that says how it ended, and how it left the terminal.
func onTerminal(t *testing.T, environment ...string) *played {
	t.Helper()
	folder := t.TempDir()
	archive, err := txtar.ParseFile("testdata/nodes-with-bars.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := os.ReadFile("../../core/decide/testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "situation"), append(shop, archive.Files[0].Data...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("env %s %s=%s %s; echo ended $?; stty -a | grep -ow -e -echo -e echo -e -icanon -e icanon; exec cat",
		strings.Join(environment, " "), playedIn, folder, program)
	return &played{terminal.New(t, script), t, folder}
}

// isAsBefore checks a screen after the viewer: the shell's modes are on, and nothing of the viewer is left.
func (x *played) isAsBefore(screen string) {
	x.t.Helper()
	for _, wrong := range []string{"-icanon", "-echo", "› "} {
		if strings.Contains(screen, wrong) {
			x.t.Errorf("the terminal is not as it was:\n%s", screen)
		}
	}
}

// change writes to the viewer's pipe.
func (x *played) change(trouble string) {
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
	x := onTerminal(t)
	x.Shows("prod  3 nodes: 2 ready, 1 draining", "[1 nodes 3]", "› n1", "q quit")
	x.Press("j", "Enter")
	x.Shows("n2 draining", "NodeClaim  n2-c", "esc back")
	x.Press("Escape")
	x.Shows("› n2", "enter details")
	x.Press("/", "m5")
	x.Shows("/m5", "› old")
	x.Press("Enter")
	x.Shows("1 of 3; esc shows all")
	x.Press("Escape")
	x.Shows("› n2", "enter details")
	x.Press("2")
	x.Shows("[2 pending 3]", "default/Deployment/report")
	x.change("You may not list nodes.metrics.k8s.io.")
	x.Shows("You may not list nodes.metrics.k8s.io.", "[2 pending 3]")
	x.Resize(40, 12)
	x.Shows("1 nod [2 pending 3] 3 pro", "q quit  ? help")
	x.Resize(120, 30)
	x.Press("1")
	x.Shows("[1 nodes 3]", "OWNER")
	x.Press("q")
	x.isAsBefore(x.Shows("ended 0", "icanon"))
}

// However it ends, the shell has its terminal back.
func TestTheTerminalIsAsBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(x *played)
		want string
	}{
		"after Ctrl-C":  {func(x *played) { x.Press("C-c") }, "ended 0"},
		"after a panic": {func(x *played) { x.change("panic") }, "ended 1"},
	} {
		t.Run(name, func(t *testing.T) {
			x := onTerminal(t)
			x.Shows("[1 nodes 3]")
			tt.end(x)
			x.Shows(tt.want, "icanon\necho") // all that the shell prints
			x.Press("typed again", "Enter")
			x.isAsBefore(x.Shows("typed again\ntyped again"))
		})
	}
}

func TestColoursAreOfTheTerminalsSixteenOrNone(t *testing.T) {
	const green, anyOther = "\x1b[32m", "\x1b[38;"
	anyColour := regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m`)
	x := onTerminal(t)
	x.Shows("[1 nodes 3]")
	if screen := x.Coloured(); !strings.Contains(screen, green) || strings.Contains(screen, anyOther) {
		t.Errorf("want green and no colour beyond sixteen:\n%q", screen)
	}
	x = onTerminal(t, "NO_COLOR=1")
	x.Shows("[1 nodes 3]")
	if screen := x.Coloured(); anyColour.MatchString(screen) {
		t.Errorf("want no colour:\n%q", screen)
	}
}
