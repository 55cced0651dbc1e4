package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/daemok/daemok/test/terminal"
)

// On a terminal a changed plan takes the place of the one before, in the width that there is, and an interrupt ends it.
func TestAPlanIsFollowedOnATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "situation.txt")
	copyFile(t, "testdata/situation.txt", file)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("%s=1 %s plan --snapshot %s --watch --watch-interval 1s; echo ended $?; exec cat",
		isCommand, program, file)
	x := terminal.New(t, script)
	x.Shows("at 2026-11-21T04:00:00Z\nPlan: +1 launched. All 2 pending pods get a place.\nCost: $0.000/h")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "waiting default/api-1 shape=web\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	x.Shows("Plan: +1 launched. All 3 pending pods get a place.")
	x.Resize(40, 24)
	x.Shows("at 2026-11-21T04:00:00Z\nPlan: +1 launched. All 3 pending pods\n  get a place.")
	x.Press("C-c")
	x.Shows("ended 0")
}

// Both signals end it with the exit code that docs/tasks/plan.md names, and leave the terminal as it was.
func TestSignalsEndAPlanThatIsFollowed(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			command := fmt.Sprintf("echo $$ > %s; exec %s plan --snapshot testdata/situation.txt --watch", pid, program)
			x := terminal.New(t, fmt.Sprintf("%s=1 sh -c '%s'; echo ended $?; exec cat", isCommand, command))
			x.Shows("Plan: +1 launched. All 2 pending pods get a place.")
			text, err := os.ReadFile(pid)
			if err != nil {
				t.Fatal(err)
			}
			number, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(number, signal); err != nil {
				t.Fatal(err)
			}
			x.Shows("Plan: +1 launched.", "\nended 0\n")
			if got := x.State(); got != (terminal.State{Cursor: true}) {
				t.Errorf("it leaves the terminal as %+v: want its cursor, and its own screen", got)
			}
			x.Press("a line", "Enter")
			x.Shows("ended 0\na line\na line\n") // as it is typed, and from cat
		})
	}
}
