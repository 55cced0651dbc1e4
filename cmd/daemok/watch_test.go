package main

import (
	"fmt"
	"os"
	"path/filepath"
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
