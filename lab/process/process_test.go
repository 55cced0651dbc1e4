package process_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/daemok/daemok/lab/process"
)

// shell runs a script as the kept program. Scripts say "ready" when their
// traps are set, and the test waits for that word.
func shell(t *testing.T, script string) process.Program {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	return process.Program{
		Name: "script", Path: path, Args: []string{"-c", script},
		Log: filepath.Join(t.TempDir(), "log"), Grace: 20 * time.Second,
	}
}

func keep(t *testing.T, program process.Program, onExit func(process.Exit)) *process.Supervisor {
	t.Helper()
	k, err := process.Keep(program, onExit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Stop)
	return k
}

func unexpected(t *testing.T) func(process.Exit) {
	return func(e process.Exit) { t.Errorf("ended by itself: %+v", e) }
}

// awaitLog waits for the outside process to write a word as often as asked.
func awaitLog(t *testing.T, program process.Program, word string, times int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		content, err := os.ReadFile(program.Log)
		if err == nil && strings.Count(string(content), word) >= times {
			return
		}
	}
	t.Fatalf("%q did not appear %d times in %s", word, times, program.Log)
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestStopLetsTheProgramFinish(t *testing.T) {
	program := shell(t, `trap 'echo finished; exit 0' TERM; echo ready; while :; do sleep 0.02; done`)
	k := keep(t, program, unexpected(t))
	awaitLog(t, program, "ready", 1)
	pid := k.PID()
	k.Stop()
	k.Stop()
	awaitLog(t, program, "finished", 1)
	if alive(pid) {
		t.Errorf("process %d is alive after Stop", pid)
	}
	if err := k.Restart(); !errors.Is(err, process.ErrStopped) {
		t.Errorf("Restart after Stop = %v, want ErrStopped", err)
	}
}

func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	program := shell(t, `trap '' TERM; echo ready; while :; do sleep 0.02; done`)
	program.Grace = 50 * time.Millisecond
	k := keep(t, program, unexpected(t))
	awaitLog(t, program, "ready", 1)
	pid := k.PID()
	k.Stop()
	if alive(pid) {
		t.Errorf("process %d survived Stop", pid)
	}
}

func TestRestartIsAnotherProcess(t *testing.T) {
	program := shell(t, `echo ready; exec sleep 60`)
	k := keep(t, program, unexpected(t))
	before := k.PID()
	if err := k.Restart(); err != nil {
		t.Fatal(err)
	}
	after := k.PID()
	if before == after || alive(before) || !alive(after) {
		t.Errorf("before %d (alive %v), after %d (alive %v); want only the second alive",
			before, alive(before), after, alive(after))
	}
}

// A program that is away for a moment, as while it is built, runs once it is there.
func TestRestartIsTriedAgain(t *testing.T) {
	program := shell(t, "")
	sh, path := program.Path, filepath.Join(t.TempDir(), "program")
	put := func() {
		t.Helper()
		if err := os.Symlink(sh, path); err != nil {
			t.Fatal(err)
		}
	}
	program.Path, program.Args = path, []string{"-c", "echo ready; exec sleep 60"}
	put()
	exits := make(chan process.Exit, 8)
	k := keep(t, program, func(e process.Exit) { exits <- e })
	awaitLog(t, program, "ready", 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := k.Restart(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Restart without the program = %v, want that it does not exist", err)
	}
	put()
	awaitLog(t, program, "ready", 2)
	if e := <-exits; !errors.Is(e.Err, os.ErrNotExist) {
		t.Errorf("the failure is reported as %v", e.Err)
	}
}

// slow is a program that takes longer to end than any test waits.
func slow(t *testing.T) process.Program {
	t.Helper()
	program := shell(t, `trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done`)
	program.Grace = time.Hour
	return program
}

// While a program ends, its keeper says which process it is, and a kill puts an end to it.
func TestKillDoesNotWaitForTheGracePeriod(t *testing.T) {
	program := slow(t)
	program.Stopped = func(err error) {
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("it is said to have ended with %v, want SIGKILL", err)
		}
	}
	k := keep(t, program, unexpected(t))
	awaitLog(t, program, "ready", 1)
	pid := k.PID()
	restarted := make(chan error)
	go func() { restarted <- k.Restart() }()
	awaitLog(t, program, "asked", 1)
	if got := k.PID(); got != pid || !alive(pid) {
		t.Errorf("while process %d (alive %v) is asked to end, its keeper names %d", pid, alive(pid), got)
	}
	k.Kill()
	if alive(pid) {
		t.Errorf("process %d survived Kill", pid)
	}
	if err := <-restarted; !errors.Is(err, process.ErrStopped) {
		t.Errorf("the Restart under way returned %v, want ErrStopped", err)
	}
	if got := k.PID(); got != 0 {
		t.Errorf("after Kill its keeper names process %d", got)
	}
}

// A restart reports how the program ended, once it has, and before it is started again.
func TestRestartReportsTheEndBeforeTheStart(t *testing.T) {
	program := shell(t, `trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done`)
	var said []string
	program.Started = func(*process.Supervisor) { said = append(said, "started") }
	program.Stopped = func(err error) { said = append(said, "stopped: "+err.Error()) }
	k := keep(t, program, unexpected(t))
	awaitLog(t, program, "ready", 1)
	if err := k.Restart(); err != nil {
		t.Fatal(err)
	}
	k.Stop()
	if got, want := strings.Join(said, ", "), "started, stopped: exit status 7, started"; got != want {
		t.Errorf("it reports %q, want %q", got, want)
	}
}

// The log of the run before is put aside where the program says so, and no older one is kept.
func TestEachRunHasALogOfItsOwn(t *testing.T) {
	program := shell(t, `read n < count; echo $((n+1)) > count; echo run $n; exec sleep 60`)
	folder := filepath.Dir(program.Log)
	t.Chdir(folder)
	program.Previous = filepath.Join(folder, "previous")
	if err := os.WriteFile("count", []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := keep(t, program, unexpected(t))
	awaitLog(t, program, "run 1", 1)
	for _, run := range []string{"run 2", "run 3"} {
		if err := k.Restart(); err != nil {
			t.Fatal(err)
		}
		awaitLog(t, program, run, 1)
	}
	for file, want := range map[string]string{program.Log: "run 3\n", program.Previous: "run 2\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v; want %q", file, got, err, want)
		}
	}
}

// A start that fails has no log: those of the last two runs stay as they are until there is a run again.
func TestAFailedStartLeavesTheLogs(t *testing.T) {
	program := shell(t, "")
	sh, path := program.Path, filepath.Join(t.TempDir(), "program")
	if err := os.Symlink(sh, path); err != nil {
		t.Fatal(err)
	}
	program.Path, program.Args = path, []string{"-c", "echo the run of now; exec sleep 60"}
	program.Previous = program.Log + ".previous"
	k := keep(t, program, func(process.Exit) {})
	awaitLog(t, program, "the run of now", 1)
	if err := errors.Join(os.WriteFile(program.Previous, []byte("the run before\n"), 0o600), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	if err := k.Restart(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Restart without the program = %v, want that it does not exist", err)
	}
	k.Stop()
	for file, want := range map[string]string{program.Log: "the run of now\n", program.Previous: "the run before\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("after a failed start %s has %q, %v; want %q", file, got, err, want)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(program.Log)); err != nil || len(files) != 2 {
		t.Errorf("a failed start leaves files %v, %v; want the two logs alone", files, err)
	}
}

// A program that dies by itself is reported and started again, later each time.
func TestDeathIsReportedAndRepaired(t *testing.T) {
	program := shell(t, `echo ready; exit 3`)
	exits := make(chan process.Exit, 8)
	k := keep(t, program, func(e process.Exit) { exits <- e })
	first, second := <-exits, <-exits
	k.Stop()
	exit, ok := errors.AsType[*exec.ExitError](first.Err)
	if !ok || exit.ExitCode() != 3 {
		t.Errorf("first exit = %v, want code 3", first.Err)
	}
	if second.Retry <= first.Retry {
		t.Errorf("pauses %v, %v; want the second longer", first.Retry, second.Retry)
	}
	awaitLog(t, program, "ready", 2)
}

func TestKilledProgramComesBack(t *testing.T) {
	program := shell(t, `echo ready; exec sleep 60`)
	exits := make(chan process.Exit, 1)
	k := keep(t, program, func(e process.Exit) { exits <- e })
	awaitLog(t, program, "ready", 1)
	if err := syscall.Kill(k.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-exits
	awaitLog(t, program, "ready", 2)
}

func TestMissingProgramIsAnError(t *testing.T) {
	program := shell(t, "")
	program.Path = filepath.Join(t.TempDir(), "absent")
	if _, err := process.Keep(program, unexpected(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Keep of a missing program = %v, want ErrNotExist", err)
	}
}
