// Program daemok-lab runs a real Kubernetes and an emulated AWS on this host, with the controller
// between them.
//
// It only reads the command line; package up does the work.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // CronJobs name time zones

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/lab/component"
	"github.com/daemok/daemok/lab/up"
)

// exitNotUp is what "status" and commands answer when no lab is up.
const exitNotUp = 3

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) > 1 && args[0] == componentVerb {
		return runComponent(args[1], args[2:])
	}
	log.SetLogger(logr.Discard()) // else controller-runtime complains on standard error, with a stack
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for an orderly end
	root := rootCommand()
	root.SetArgs(handedOn(args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "lab:", err)
	if coded, ok := errors.AsType[*exitError](err); ok {
		return coded.code
	}
	return 1
}

// componentVerb is how the lab starts its own parts. Their flags are not ours,
// and they take the process over.
const componentVerb = "component"

func runComponent(name string, flags []string) int {
	code, err := component.Run(name, flags)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
	}
	return code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "daemok-lab",
		Short: "A real Kubernetes control plane with an emulated AWS on this host",
		Long: `A real API server, scheduler and controller manager, an emulated AWS whose
instances join them, and the controller, all in one directory of this host.`,
		Example: `  daemok lab up --detach
  daemok lab kubectl get nodes
  daemok lab ice 'c6a.*'
  daemok lab down`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version.Get().String(),
		// Users start it as a verb of the main command.
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "daemok lab"},
	}
	// One of its own, since what the lab links has a flag of that name that is no yes or no.
	root.Flags().Bool("version", false, "print version, commit and Go version")
	pflag.CommandLine.VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // they are of libraries, and do nothing here
	root.SetVersionTemplate("daemok-lab {{.Version}}\n")
	root.AddCommand(upCommand(), downCommand(), statusCommand(), restartCommand(),
		machineCommand(), awsCommand(), kubectlCommand(), helmCommand())
	root.AddCommand(accountCommands()...)
	root.AddCommand(interruptionMessageCommands()...)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
	})
	reportUsage(root)
	return root
}

// reportUsage has a command and all below it say what they take, where they are given something else.
func reportUsage(cmd *cobra.Command) {
	if args := cmd.Args; args != nil && !cmd.HasSubCommands() {
		cmd.Args = func(cmd *cobra.Command, given []string) error {
			if err := args(cmd, given); err != nil {
				return fmt.Errorf("%w: write %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, below := range cmd.Commands() {
		reportUsage(below)
	}
}

// oneVerb refuses a word after the name of a group that is none of its verbs.
func oneVerb(group *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, verb := range group.Commands() {
		verbs = append(verbs, verb.Name())
	}
	return fmt.Errorf("%s has no verb %q%s It has %s", group.CommandPath(), args[0], cmp.Or(nearest.DidYouMean(args[0], verbs), "."), strings.Join(verbs, ", "))
}

// folderFlag adds the flag that every verb has.
func folderFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("dir", usualFolder(), "folder of the lab")
}

// groupFolderFlag adds it to all verbs of a group.
func groupFolderFlag(group *cobra.Command) *string {
	return group.PersistentFlags().String("dir", usualFolder(), "folder of the lab")
}

// usualFolder is the folder of the lab where none is named: that of the lab.env in the environment, else .lab.
func usualFolder() string { return cmp.Or(os.Getenv(up.FolderVariable), ".lab") }
