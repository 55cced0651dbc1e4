package help

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/inspect"
)

// Usage prints how a command is used: what cobra prints, with kubectl's flags, which many
// commands have, in a list of their own.
func Usage(cmd *cobra.Command) error {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&out, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&out, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: "Other commands:"}) {
		listCommands(&out, cmd, g)
	}
	own, kubectls := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, is := f.Annotations[inspect.OfKubectl]; is {
			kubectls.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	for _, part := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags:", own}, {"Flags of kubectl, which say what cluster is meant:", kubectls}} {
		if part.flags.HasAvailableFlags() {
			fmt.Fprintf(&out, "\n%s\n%s", part.title, part.flags.FlagUsages())
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "\nUse \"%s [command] --help\" for more about a command.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), out.String())
	return err
}

// listCommands lists the commands of a group.
func listCommands(out *strings.Builder, cmd *cobra.Command, g *cobra.Group) {
	began := false
	for _, c := range cmd.Commands() {
		if c.GroupID != g.ID || !c.IsAvailableCommand() && c.Name() != "help" {
			continue
		}
		if !began {
			fmt.Fprintf(out, "\n%s\n", g.Title)
			began = true
		}
		fmt.Fprintf(out, "  %-*s %s\n", cmd.NamePadding(), c.Name(), c.Short)
	}
}
