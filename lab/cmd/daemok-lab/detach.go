package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/daemok/daemok/lab/directory"
)

// detach starts the same command in a session of its own and returns when that
// says that it is ready. What it says goes to a log from then on.
func detach(ctx context.Context, d directory.Directory) error {
	if pid, held, err := d.Holder(); held || err != nil {
		return errors.Join(err, &directory.HeldError{Root: d.Root(), PID: pid})
	}
	if err := d.Make(); err != nil {
		return err
	}
	log, err := os.OpenFile(d.Log("lab"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open log of the lab: %w", err)
	}
	defer log.Close()
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read log of the lab: %w", err)
	}
	line, err := startDetached(ctx, log)
	if err == nil {
		fmt.Println(line)
		return nil
	}
	said, _ := io.ReadAll(io.NewSectionReader(log, begin, 1<<20)) // else the log itself is named
	_, _ = os.Stderr.Write(said)                                  // the error below names the log
	return fmt.Errorf("not up, see %s: %w", log.Name(), err)
}

// startDetached returns the line by which the lab says that it is ready.
func startDetached(ctx context.Context, log *os.File) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", fmt.Errorf("make pipe: %w", err)
	}
	defer reader.Close()
	command := exec.Command(program, append(os.Args[1:], "--detach=false", "--report-fd=3")...)
	command.Stdout, command.Stderr, command.ExtraFiles = log, log, []*os.File{writer}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = errors.Join(command.Start(), writer.Close())
	if err != nil {
		return "", fmt.Errorf("start lab: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = command.Process.Signal(syscall.SIGTERM) })
	defer stop()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the lab ended before it was ready: %w", errors.Join(command.Wait(), ctx.Err()))
	}
	return line[:len(line)-1], command.Process.Release()
}
