package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/internal/tidy"
)

// Help speaks as the documents do, in the words by which users search.
func TestHelpSpeaksTheWordsOfTheField(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		text := cmd.Short + "\n" + cmd.Long + "\n"
		for _, g := range cmd.Groups() {
			text += g.Title + "\n"
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, is := f.Annotations[inspect.OfKubectl]; !is {
				text += "--" + f.Name + ": " + f.Usage + "\n"
			}
		})
		for _, v := range tidy.CheckHelp(cmd.CommandPath()+" --help", text) {
			t.Error(v)
		}
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(root())
}
