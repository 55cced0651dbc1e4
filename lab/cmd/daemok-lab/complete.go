package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// requests are the words by which shells ask programs made with cobra for completion.
var requests = []string{cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// handedOn turns a request for completion of a line of kubectl or Helm into that line with the request in it, which they
// answer themselves: "__complete kubectl get no" is "kubectl __complete get no".
func handedOn(args []string) []string {
	if len(args) < 3 || !slices.Contains(requests, args[0]) || args[1] != "kubectl" && args[1] != "helm" {
		return args
	}
	folder, rest, err := leadingFolder(args[2:])
	if err != nil || len(rest) == 0 { // the folder itself is being typed
		return args
	}
	return append([]string{args[1], "--dir", folder, args[0]}, rest...)
}
