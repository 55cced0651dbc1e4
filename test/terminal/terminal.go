// Package terminal gives tests a real terminal, which tmux draws.
//
// It promises that the terminal ends with the test, and that a test waits for what it must show instead of for a time.
// It is used in tests alone, and needs tmux: without it tests are skipped, except in CI.
package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Terminal is one terminal of a test.
type Terminal struct {
	t      *testing.T
	socket string
}

// New runs a script in a shell on a terminal of 100 columns and 24 lines.
func New(t *testing.T, script string) *Terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no tmux: install it (Debian: tmux)")
		}
		t.Skip("there is no tmux: install it to test on a terminal")
	}
	x := &Terminal{t, filepath.Join(t.TempDir(), "tmux")}
	x.tmux("-f", os.DevNull, "new-session", "-d", "-x", "100", "-y", "24", script)
	t.Cleanup(func() { x.tmux("kill-server") })
	return x
}

// tmux runs a command of the server of this test.
func (x *Terminal) tmux(args ...string) string {
	x.t.Helper()
	args = append([]string{"-u", "-S", x.socket}, args...)
	cmd := exec.CommandContext(context.Background(), "tmux", args...) // the test's context has ended when it cleans up
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Press sends keys by tmux's names of them.
func (x *Terminal) Press(keys ...string) { x.tmux(append([]string{"send-keys"}, keys...)...) }

// Resize changes the size in columns and lines.
func (x *Terminal) Resize(columns, lines int) {
	x.tmux("resize-window", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines))
}

// Coloured is what the terminal shows, with the sequences of colours.
func (x *Terminal) Coloured() string { return x.tmux("capture-pane", "-p", "-e") }

// State is what a program may leave changed.
type State struct {
	Cursor    bool // it is shown
	Alternate bool // the screen is a second one, which goes
	Mouse     bool // its events go to the program
}

// State is how the terminal is now.
func (x *Terminal) State() State {
	on := strings.Fields(x.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{mouse_any_flag}"))
	return State{on[0] == "1", on[1] == "1", on[2] == "1"}
}

// longest is how long the terminal may take to show what it must, on a host that does much else.
const longest = time.Minute

// Shows waits until the terminal shows all of these, and returns its text then.
func (x *Terminal) Shows(want ...string) string {
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
