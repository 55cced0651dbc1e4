package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/daemok/daemok/internal/version"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and Go version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "daemok", version.Get())
			return err
		},
	}
}
