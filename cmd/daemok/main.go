// Command daemok is the user's command: status, view, web, plan, explain, cost, doctor, iam, roll, migrate, adopt,
// handback, snapshot, shadow, simulate, bench, demo, lab, version.
//
// Each subcommand is a small file of its own: the work is done in a package that a test can call.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/cmd/daemok/complete"
	"github.com/daemok/daemok/cmd/daemok/costcmd"
	"github.com/daemok/daemok/cmd/daemok/explaincmd"
	"github.com/daemok/daemok/cmd/daemok/help"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/cmd/daemok/plancmd"
	"github.com/daemok/daemok/cmd/daemok/reference"
	"github.com/daemok/daemok/cmd/daemok/shadow"
	"github.com/daemok/daemok/cmd/daemok/statuscmd"
	"github.com/daemok/daemok/cmd/daemok/viewcmd"
	"github.com/daemok/daemok/cmd/daemok/webcmd"
	"github.com/daemok/daemok/internal/misspelt"
	"github.com/daemok/daemok/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := root()
	help.CalledAs(cmd, os.Args[0])
	cmd.SetArgs(complete.Args(os.Args))
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "daemok:", err)
	var exit interface{ Status() int }
	if errors.As(err, &exit) {
		os.Exit(exit.Status())
	}
	os.Exit(1)
}

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// Status is the exit code.
func (e *exitError) Status() int { return e.code }

// root joins the subcommands.
func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "daemok",
		Short:         "Node autoscaler for Kubernetes on AWS",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version.Get().String(),
	}
	cmd.SetVersionTemplate("daemok {{.Version}}\n")
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"look", "See what Daemok does and would do, and why:", []*cobra.Command{
			statuscmd.Command(inspect.Look, inspect.Follow), viewcmd.Command(inspect.Look, inspect.Follow),
			webcmd.Command(inspect.Follow, inspect.Connect, plancmd.Page),
			plancmd.New(plancmd.Cluster{Read: inspect.Read, Open: inspect.Connect, Version: serverVersion}),
			explaincmd.Command(inspect.Connect, inspect.Account), costcmd.Command(inspect.See),
			snapshotCommand(inspect.Read), shadow.Command(inspect.Connect)}},
		{"install", "Install it, and check the installation:", []*cobra.Command{doctorCommand(surroundings{inspect.Connect, serverVersion, reviewer, inspect.Market}), iamCommand(inspect.Connect)}},
		{"act", "Act on nodes:", []*cobra.Command{rollCommand(inspect.Connect), adoptCommand(inspect.Connect)}},
		{"move", "Migrate from another autoscaler, and back:", []*cobra.Command{migrateCommand(reach, inspect.Market), handbackCommand(inspect.Connect), cleanupCommand()}},
		{"try", "Try it without AWS:", []*cobra.Command{demoCommand(), labCommand(), simulateCommand(), benchCommand()}},
	} {
		cmd.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			cmd.AddCommand(c)
		}
	}
	cmd.AddCommand(versionCommand(), reference.Command(root))
	complete.Add(cmd)
	cmd.SetUsageFunc(help.Usage)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misspelt.Flag(err, cmd.Flags(), cmd.CommandPath()+" --help")
	})
	return cmd
}
