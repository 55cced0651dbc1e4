package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/daemok/daemok/lab/directory"
)

func kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl [--dir DIR] ARGUMENTS",
		Short:              "Run kubectl against the lab",
		DisableFlagParsing: true, // all but a leading --dir are kubectl's
		RunE: func(_ *cobra.Command, args []string) error {
			folder, rest, err := leadingFolder(args)
			if err != nil {
				return err
			}
			return kubectl(folder, rest)
		},
	}
}

// leadingFolder takes --dir from the front of the arguments, and a "--" that says what is
// kubectl's.
func leadingFolder(args []string) (folder string, rest []string, err error) {
	folder, rest = usualFolder(), args
	switch {
	case len(args) > 0 && strings.HasPrefix(args[0], "--dir="):
		folder, rest = strings.TrimPrefix(args[0], "--dir="), args[1:]
	case len(args) > 1 && args[0] == "--dir":
		folder, rest = args[1], args[2:]
	case len(args) == 1 && args[0] == "--dir":
		return "", nil, fmt.Errorf("flag needs an argument: --dir")
	}
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	return folder, rest, nil
}

// asksForHelp reports whether kubectl will only explain itself or complete a word, which needs no
// lab.
func asksForHelp(args []string) bool {
	words := args
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[:i] // what follows belongs to a command in a pod
	}
	return len(words) == 0 || words[0] == "help" || slices.Contains(requests, words[0]) || slices.Contains(words, "--help") || slices.Contains(words, "-h")
}

// kubectl runs the real one in this process. It exits by itself on errors.
func kubectl(folder string, args []string) error {
	d, err := directory.At(folder)
	if err != nil {
		return err
	}
	if err := pointAt(d, "kubectl", !asksForHelp(args)); err != nil {
		return err
	}
	os.Args = append([]string{"kubectl"}, args...) // where kubectl reads plugins and verbosity
	command := cmd.NewDefaultKubectlCommand()
	command.SetArgs(args)
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err) // prints as kubectl does, and exits
	}
	return nil
}

// pointAt has a program that runs in this process use the lab's cluster, which must be there if it is needed.
func pointAt(d directory.Directory, program string, needed bool) error {
	if _, err := os.Stat(d.Kubeconfig()); err != nil && needed {
		return &exitError{fmt.Errorf("no lab in %s: start one with `daemok lab up --dir %s`", d.Root(), d.Root()), exitNotUp}
	}
	if err := os.Setenv("KUBECONFIG", d.Kubeconfig()); err != nil {
		return fmt.Errorf("point %s at the lab: %w", program, err)
	}
	return nil
}
