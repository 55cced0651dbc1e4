package complete

import (
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// From has another program complete the arguments of a command that executes it, as programs made with cobra do.
func From(find func() (program string, err error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		program, err := find()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		request := append(append([]string{cobra.ShellCompRequestCmd}, args...), begun)
		answer, err := exec.CommandContext(cmd.Context(), program, request...).Output()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return read(string(answer))
	}
}

// read takes an answer apart: a proposal in each line, and in the last line a colon and what the shell is to do with them.
func read(answer string) ([]string, cobra.ShellCompDirective) {
	lines := strings.Split(strings.TrimSpace(answer), "\n")
	last := lines[len(lines)-1]
	directive, err := strconv.Atoi(strings.TrimPrefix(last, ":"))
	if !strings.HasPrefix(last, ":") || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lines[:len(lines)-1], cobra.ShellCompDirective(directive)
}
