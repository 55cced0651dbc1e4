// Package process runs other programs as children of this one: it keeps them running, restarts them on
// request, and stops them.
//
// It promises that no child outlives this process: where the operating system can, it kills the
// children when this process ends, however it ends. The package does not inspect what they do.
package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Program is what a child runs and how it is stopped.
type Program struct {
	Name string   // for logs and errors
	Path string   // absolute path of the executable
	Args []string // without the program's own name
	Env  []string // the whole environment; nil means this process's own
	Log  string   // file that takes stdout and stderr; appended to
	// Previous is the file that Log becomes once the program has been started again; empty: all runs share Log.
	Previous string
	// Grace is how long the child may take after SIGTERM, before SIGKILL.
	Grace time.Duration
	// Started receives each start, the first among them, before Keep returns, and Stopped each end that
	// Restart asked for, and how it ended. Neither may start or end the program; both may be nil.
	Started func(*Supervisor)
	Stopped func(err error)
}

// child is one run of a program.
type child struct {
	command *exec.Cmd
	log     *os.File
	exited  chan struct{} // closed when the run is over and err is set
	err     error
}

// start begins a run. The calling goroutine must stay locked to its thread for
// as long as the child lives, since the kernel kills the child with its thread.
func start(p Program) (*child, error) {
	log, err := p.openLog()
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", p.Name, err)
	}
	command := exec.Command(p.Path, p.Args...)
	command.Env, command.Stdout, command.Stderr = p.Env, log, log
	command.SysProcAttr = attributes()
	if err := command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", p.Name, err), log.Close(), p.dropLog())
	}
	c := &child{command: command, log: log, exited: make(chan struct{})}
	go c.wait()
	if err := p.turnLogs(); err != nil {
		c.signal(syscall.SIGKILL)
		<-c.exited
		return nil, fmt.Errorf("put the log of the run before of %s aside: %w", p.Name, err)
	}
	return c, nil
}

// next is the log of a run whose start is not known to succeed: until then Log is that of the run before.
func (p Program) next() string { return p.Log + ".next" }

func (p Program) openLog() (*os.File, error) {
	if p.Previous == "" {
		return os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	return os.OpenFile(p.next(), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
}

// dropLog removes the log of a run that never was.
func (p Program) dropLog() error {
	if p.Previous == "" {
		return nil
	}
	return os.Remove(p.next())
}

// turnLogs makes the log of the run that has begun Log, and what Log was Previous.
func (p Program) turnLogs() error {
	if p.Previous == "" {
		return nil
	}
	if err := os.Rename(p.Log, p.Previous); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(p.next(), p.Log)
}

func (c *child) wait() {
	c.err = errors.Join(c.command.Wait(), c.log.Close())
	close(c.exited)
}

// stop asks the child to end, kills it when it does not within grace or power
// ends, and returns when it is gone.
func (c *child) stop(power context.Context, grace time.Duration) {
	limit := time.NewTimer(grace)
	defer limit.Stop()
	if power.Err() == nil {
		c.signal(syscall.SIGTERM)
	}
	select {
	case <-c.exited:
		return
	case <-limit.C:
	case <-power.Done():
	}
	c.signal(syscall.SIGKILL)
	<-c.exited
}

// signal reaches the child and whatever it started. A child that is gone
// already is no error: the caller waits for exited.
func (c *child) signal(s syscall.Signal) {
	_ = syscall.Kill(-c.command.Process.Pid, s)
}
