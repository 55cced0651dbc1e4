package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/lab/component"
	"github.com/daemok/daemok/lab/control"
	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/up"
)

// Limits of the verbs that talk to a running lab.
const (
	askWithin     = 30 * time.Second
	restartWithin = 3 * time.Minute
	downWithin    = 2 * time.Minute
)

func downCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "down", Short: "Stop the lab of a folder, if one runs", Args: cobra.NoArgs}
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := directory.At(*folder)
		if err != nil {
			return err
		}
		return down(cmd.Context(), d)
	}
	return cmd
}

// down asks the lab to stop and waits until it is gone. A lab that does not
// stop in time is killed, and its children with it.
func down(ctx context.Context, d directory.Directory) error {
	pid, held, err := d.Holder()
	if err != nil || !held {
		return err
	}
	if err := send(pid, syscall.SIGTERM); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, downWithin)
	defer cancel()
	err = d.WaitReleased(limited)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	say("process %d does not stop, it is killed", pid)
	return errors.Join(send(pid, syscall.SIGKILL), d.WaitReleased(ctx))
}

// send treats a process that is gone already as signalled.
func send(pid int, s syscall.Signal) error {
	if pid <= 0 {
		return errors.New("the lab is only just starting: try again")
	}
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	return nil
}

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the lab of a folder is up: exit code 0 if so, 3 if not",
		Args:  cobra.NoArgs,
	}
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := ask(cmd.Context(), *folder)
		if err != nil {
			return err
		}
		for _, c := range s.Components {
			fmt.Printf("%-20s pid=%d log=%s\n", c.Name, c.PID, c.Log)
		}
		fmt.Printf("lab: %s dir=%s kubeconfig=%s env=%s pid=%d\n", s.Phase, s.Directory, s.Kubeconfig, s.Environment, s.PID)
		if s.Phase != control.Ready {
			return &exitError{fmt.Errorf("the lab is %s", s.Phase), exitNotUp}
		}
		return nil
	}
	return cmd
}

// ask returns the status of the lab in the folder.
func ask(ctx context.Context, folder string) (control.Status, error) {
	d, err := running(folder)
	if err != nil {
		return control.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	s, err := control.Dial(d.ControlSocket()).Status(ctx)
	if err != nil {
		return control.Status{}, &exitError{fmt.Errorf("the lab in %s does not answer: %w", d.Root(), err), exitNotUp}
	}
	return s, nil
}

// running returns the directory of a folder that a lab holds.
func running(folder string) (directory.Directory, error) {
	d, err := directory.At(folder)
	if err != nil {
		return d, err
	}
	_, held, err := d.Holder()
	if err == nil && !held {
		err = &exitError{fmt.Errorf("no lab is up in %s: start one with `daemok lab up --dir %s`", d.Root(), d.Root()), exitNotUp}
	}
	return d, err
}

// restartable are the components that every lab has, and the controller.
var restartable = append(component.Names(), up.ControllerComponent)

func restartCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "restart COMPONENT|POD",
		Short:     "Stop a component of the lab, or a pod that runs as a process, and start it again: " + strings.Join(restartable, ", ") + ", or the pod's name",
		Args:      cobra.ExactArgs(1),
		ValidArgs: restartable,
	}
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := running(*folder)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), restartWithin)
		defer cancel()
		return control.Dial(d.ControlSocket()).Restart(ctx, args[0])
	}
	return cmd
}
