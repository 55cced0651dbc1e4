package help

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/ui/text"
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
	width := 0 // not wrapped
	if p := text.New(cmd.OutOrStdout()); p.Terminal() {
		width = p.Width()
	}
	own, kubectls := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	var others []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch _, is := f.Annotations[inspect.OfKubectl]; {
		case !is:
			own.AddFlag(f)
		case usual[f.Name]:
			kubectls.AddFlag(f)
		case !f.Hidden:
			others = append(others, f.Name)
		}
	})
	for _, part := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags:", own}, {"Flags of kubectl, which say what cluster is meant:", kubectls}} {
		if part.flags.HasAvailableFlags() {
			fmt.Fprintf(&out, "\n%s\n%s", part.title, part.flags.FlagUsagesWrapped(width))
		}
	}
	if len(others) > 0 {
		fmt.Fprintln(&out, wrap("and as kubectl has them: --"+strings.Join(others, ", --"), width))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "\nUse \"%s [command] --help\" for more about a command.\n", cmd.CommandPath())
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), out.String())
	return err
}

// usual are the flags of kubectl that help explains; it names the others.
var usual = map[string]bool{"context": true, "kubeconfig": true, "namespace": true}

// wrap is a list in lines of 78 columns, or of the terminal where that is known.
func wrap(list string, width int) string {
	if width == 0 {
		width = text.Columns
	}
	indent := "      "
	out, column := indent, len(indent)
	for i, word := range strings.Fields(list) {
		if i > 0 && column+1+len(word) > width {
			out, column = out+"\n"+indent, len(indent)
		} else if i > 0 {
			out, column = out+" ", column+1
		}
		out, column = out+word, column+len(word)
	}
	return out
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
