package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	lockTries = 5
	lockEvery = 20 * time.Millisecond
)

// HeldError says that a live process holds the directory.
type HeldError struct {
	Root string
	PID  int // 0 while the holder has not yet written its number
}

// Error names the holder and the way out.
func (e *HeldError) Error() string {
	return fmt.Sprintf("a lab is running in %s, held by process %d: stop it with `daemok lab down --dir %s` or choose another --dir",
		e.Root, e.PID, e.Root)
}

// Lock is the right to use a directory. It ends with the process at the latest.
type Lock struct {
	file *os.File
}

// Lock takes the directory for this process, or returns a *HeldError at once
// when another holds it.
func (d Directory) Lock() (*Lock, error) {
	if err := os.MkdirAll(d.root, 0o700); err != nil {
		return nil, fmt.Errorf("make lab directory: %w", err)
	}
	file, err := os.OpenFile(d.lockFile(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of %s: %w", d.root, err)
	}
	if err := take(file); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &HeldError{Root: d.root, PID: readPID(file)}
		}
		return nil, fmt.Errorf("lock %s: %w", d.root, err)
	}
	if err := writePID(file); err != nil {
		return nil, errors.Join(fmt.Errorf("write holder of %s: %w", d.root, err), file.Close())
	}
	return &Lock{file: file}, nil
}

// take locks the file, and asks a few times: Holder and WaitReleased hold it
// for an instant too.
func take(file *os.File) error {
	var err error
	for range lockTries {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		time.Sleep(lockEvery)
	}
	return err
}

// Release unlocks the directory.
func (l *Lock) Release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// Holder returns the number of the process that holds the directory, and
// whether there is one.
func (d Directory) Holder() (pid int, held bool, err error) {
	file, err := os.Open(d.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("open lock of %s: %w", d.root, err)
	}
	defer file.Close()
	// A shared lock reports whether another process holds the exclusive one, and does not
	// turn away processes that ask at the same moment.
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return readPID(file), true, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("ask for lock of %s: %w", d.root, err)
	}
	return 0, false, nil
}

// WaitReleased returns nil when no process holds the directory any more, or the context's
// error when it ends first.
func (d Directory) WaitReleased(ctx context.Context) error {
	file, err := os.Open(d.lockFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open lock of %s: %w", d.root, err)
	}
	released := make(chan error, 1)
	go func() {
		// Ends when the holder does, or with this process: a command that
		// gives up waiting is about to exit.
		defer file.Close()
		released <- syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
	}()
	select {
	case err := <-released:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d Directory) lockFile() string { return d.in("lock") }

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readPID(file *os.File) int {
	content, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0
	}
	return pid
}
