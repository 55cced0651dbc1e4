package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each example of a command names a command that exists, with flags and arguments that it takes.
func TestExamplesAreTaken(t *testing.T) {
	examples := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			line, _, _ = strings.Cut(line, " > ")
			words := unquoted(strings.Fields(line))
			if len(words) == 0 || words[0] != "daemok" {
				continue // a step of another program
			}
			examples++
			if err := taken(words[1:]); err != nil {
				t.Errorf("example of %s: %s: %v", cmd.CommandPath(), line, err)
			}
		}
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(root())
	if examples < 40 {
		t.Errorf("%d examples were found, want 40 or more", examples)
	}
}

// taken reports what is wrong with a command line, without following it.
func taken(words []string) error {
	cmd, rest, err := root().Find(words)
	if err != nil {
		return err
	}
	if cmd.DisableFlagParsing {
		return nil
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// A command that can be run shows how, but for those that take nothing.
func TestCommandsHaveExamples(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Runnable() && !cmd.Hidden && cmd.Example == "" && cmd.Name() != "version" {
			t.Errorf("%s has no examples", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(root())
}

// unquoted are words as a shell hands them over: those of examples have quotes around the whole word, if any.
func unquoted(words []string) []string {
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	return words
}
